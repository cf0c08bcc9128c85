/* samples.js - all timed samples at once, each over the median of its result; and those of one
 * result in the order in which they were taken. */
function samplesOf(r) {
  return R.samples.subarray(r.first_sample, r.first_sample + r.sample_count);
}

const RATIO_LOW = 0.8, RATIO_HIGH = 2, STRIP_HEIGHT = 190;

/* Counts of samples in each pixel: x by place among all, y by the ratio, beyond the range at its
 * edge. */
function binSamples(results, total, columns, rows) {
  const bins = new Uint32Array(columns * rows);
  const low = Math.log(RATIO_LOW), scale = (rows - 1) / (Math.log(RATIO_HIGH) - low);
  let place = 0, outside = 0, most = 0;
  for (const r of results) {
    const values = samplesOf(r), center = Math.log(r.median);
    for (let i = 0; i < values.length; i++, place++) {
      let row = Math.round((Math.log(values[i]) - center - low) * scale);
      if (!(row >= 0 && row < rows)) {
        outside++;
        row = row < 0 ? 0 : rows - 1;
      }
      const bin = (rows - 1 - row) * columns + Math.floor((place / total) * columns);
      const count = ++bins[bin];
      if (count > most) most = count;
    }
  }
  return {bins, outside, most};
}

/* A sample in a sparse picture is as large as a dot, in a dense one as a pixel. */
function paintBins(context, binned, columns, rows, cell) {
  const [red, green, blue] = colour("--density").split(",").map(Number);
  const image = context.createImageData(columns * cell, rows * cell);
  const scale = 1 / Math.log(1 + binned.most);
  for (let i = 0; i < binned.bins.length; i++) {
    const count = binned.bins[i];
    if (!count) continue;
    const alpha = 70 + Math.round(185 * Math.log(1 + count) * scale);
    const x = (i % columns) * cell, y = Math.floor(i / columns) * cell;
    for (let dy = 0; dy < cell; dy++)
      for (let dx = 0; dx < cell; dx++) {
        const at = ((y + dy) * columns * cell + x + dx) * 4;
        image.data[at] = red;
        image.data[at + 1] = green;
        image.data[at + 2] = blue;
        image.data[at + 3] = alpha;
      }
  }
  context.putImageData(image, 0, 0);
}

function stripAxis(width, height) {
  const y = logScale(RATIO_LOW, RATIO_HIGH, height, 0);
  return [0.8, 1, 1.2, 1.5, 2].map(
      (ratio) =>
          [svg("line", {
             class: ratio === 1 ? "axis" : "grid",
             x1: 0,
             x2: width,
             y1: y(ratio),
             y2: y(ratio)
           }),
           svg("text", {class: "halo", x: 2, y: Math.max(10, Math.min(height - 2, y(ratio) - 3))},
               `${ratio}×`)]);
}

const QUANTILES = [
  ["least", 0], ["5 %", 0.05], ["25 %", 0.25], ["median", 0.5], ["75 %", 0.75], ["95 %", 0.95],
  ["99 %", 0.99], ["most", 1]
];

function histogram(sorted, width, height) {
  const low = sorted[0], high = quantile(sorted, 0.99),
        bins = new Uint32Array(Math.max(8, Math.min(60, Math.floor(Math.sqrt(sorted.length) * 2))));
  let beyond = 0;
  for (const value of sorted) {
    const i = Math.floor(((value - low) / (high - low || 1)) * (bins.length - 1));
    if (i < bins.length)
      bins[i]++;
    else
      beyond++;
  }
  const most = Math.max(...bins), step = width / bins.length, base = height - 18;
  const bars = [...bins].map((count, i) => svg("rect", {
                               class: "dot",
                               x: i * step + 0.5,
                               width: Math.max(1, step - 1),
                               y: base - (count / most) * (base - 4),
                               height: (count / most) * (base - 4)
                             }));
  return {
    beyond,
    picture:
        svg("svg", {width, height, "aria-hidden": "true"}, bars,
            svg("line", {class: "axis", x1: 0, x2: width, y1: base, y2: base}),
            svg("text", {x: 0, y: height - 4}, time(low)),
            svg("text", {x: width, y: height - 4, "text-anchor": "end"}, time(high)))
  };
}

function orderStrip(values, sorted, width, height) {
  const {canvas, context} = canvasOf(width, height);
  const low = sorted[0], high = Math.max(quantile(sorted, 0.99), low * 1.02);
  const y = linearScale(low, high, height - 6, 6),
        size = values.length > 5000 ? 1 : (values.length > 500 ? 2 : 3);
  context.fillStyle = colour("--c0");
  context.globalAlpha = values.length > 500 ? 0.45 : 0.85;
  for (let i = 0; i < values.length; i++) {
    const x = values.length > 1 ? (i / (values.length - 1)) * (width - size) : width / 2;
    context.fillRect(x, Math.max(2, y(values[i])) - size / 2, size, size);
  }
  const label = (value, at) =>
      svg("text", {class: "halo", x: width, y: at, "text-anchor": "end"}, time(value));
  const box =
      el("div", {class: "plot"}, canvas,
         svg("svg", {class: "over", width, height, "aria-hidden": "true"}, label(high, 12),
             label(low, height - 10)));
  box.style.height = `${height}px`;
  return box;
}

function showOne(place, r) {
  const values = samplesOf(r), sorted = Float64Array.from(values).sort();
  const strip = el("div"), bars = el("div"), note = el("p", {class: "help"});
  const table = makeTable(
      `Quantiles of ${plural(values.length, "sample")}`,
      [
        {title: "quantile", value: (q) => q[0]},
        {
          title: "time",
          number: true,
          value: (q) => quantile(sorted, q[1]),
          show: (q, v) => time(v)
        },
        {
          title: "over the median",
          number: true,
          value: (q) => quantile(sorted, q[1]) / quantile(sorted, 0.5) - 1,
          show: (q, v) => change(v)
        },
      ],
      QUANTILES, {tall: false});
  place.replaceChildren(
      el("div", {class: "panel"}, el("h3", null, describe(r)[0]),
         el("div", {class: "split"},
            el("div", null, el("p", {class: "help"}, "In the order taken"), strip,
               el("p", {class: "help"}, "How they are distributed"), bars, note),
            table)));
  drawing(strip, (width) => strip.replaceChildren(orderStrip(values, sorted, width, 110)));
  drawing(bars, (width) => {
    const made = histogram(sorted, width, 110);
    bars.replaceChildren(made.picture);
    note.textContent = made.beyond ? `${plural(made.beyond, "sample")} beyond the 99 % quantile ${
                                         made.beyond === 1 ? "is" : "are"} left out of the bars.` :
                                     "";
  });
}

function sampleTable(results) {
  const over = (q) => (r) => quantile(Float64Array.from(samplesOf(r)).sort(), q) / r.median - 1;
  const column = (title, q) => ({title, number: true, value: over(q), show: (r, v) => change(v)});
  return makeTable(
      "Samples of each result, over its median",
      [
        {title: "case", name: true, value: (r) => r.name},
        {title: "side", value: (r) => `${r.side}, ${r.threads}`},
        {title: "samples", number: true, value: (r) => r.sample_count, show: (r, v) => whole(v)},
        {title: "median", number: true, value: (r) => r.median, show: (r, v) => time(v)},
        column("least", 0),
        column("5 %", 0.05),
        column("95 %", 0.95),
        column("most", 1),
      ],
      results);
}

section(
    "samples", "Samples",
    "Every timed sample, over the median of its own result: a narrow line is a quiet machine, a " +
        "cloud a noisy one.",
    (body) => {
      const results = R.run.results.filter((r) => r.sample_count > 0 && r.timed);
      const total = results.reduce((n, r) => n + r.sample_count, 0);
      if (!total) {
        body.append(
            el("p", {class: "note"},
               "No samples are stored for this run (a file of results has none)."));
        return;
      }
      const plot = el("div", {class: "plot"}), note = el("p", {class: "help"}), one = el("div");
      const starts = [];
      results.reduce((n, r) => {
        starts.push(n);
        return n + r.sample_count;
      }, 0);

      function draw(width) {
        const cell = total < 50000 ? 2 : 1;
        const {canvas, context, scale} = canvasOf(width, STRIP_HEIGHT);
        const columns = Math.floor(canvas.width / cell), rows = Math.floor(canvas.height / cell);
        const binned = binSamples(results, total, columns, rows);
        paintBins(context, binned, columns, rows, cell);
        const over =
            svg("svg", {class: "over", width, height: STRIP_HEIGHT, "aria-hidden": "true"},
                stripAxis(width, STRIP_HEIGHT));
        const box = el("div", {class: "plot"}, canvas, over);
        box.style.height = `${STRIP_HEIGHT}px`;
        plot.replaceChildren(box);
        const y = logScale(RATIO_LOW, RATIO_HIGH, STRIP_HEIGHT, 0)(1);
        const points = results.map(
            (r, i) => ({
              result: r,
              x: ((starts[i] + r.sample_count / 2) / total) * width,
              y,
              lines: () => [...describe(r).slice(0, 2), plural(r.sample_count, "sample")]
            }));
        answering(box, over, points, {
          label: `All ${plural(total, "sample")} of ${plural(results.length, "result")}`,
          choose: (p) => R.showSamples(p.result)
        });
        note.textContent = `${plural(total, "sample")} of ${
                               plural(results.length, "result")} in the order of the run. ` +
            (binned.outside ?
                 `${plural(binned.outside, "sample")} outside ${RATIO_LOW}× to ${RATIO_HIGH}× ${
                     binned.outside === 1 ? "is" : "are"} drawn at the edge.` :
                 "");
      }

      const choice = select(
          "Result", results.map((r, i) => [String(i), `${r.name} @ ${r.side}, ${r.threads}`]), "0",
          (value) => showOne(one, results[Number(value)]));
      R.showSamples = (r) => {
        const i = results.indexOf(r);
        if (i < 0) return;
        choice.choose(String(i));
        showOne(one, r);
        one.scrollIntoView({block: "nearest"});
        say(`Samples of ${describe(r)[0]} are shown.`);
      };
      body.append(
          el("div", {class: "panel"}, plot, note),
          alternative("samples of each result", () => sampleTable(results)),
          el("div", {class: "filters more"}, choice), one);
      drawing(plot, draw);
      showOne(one, results[0]);
    });
