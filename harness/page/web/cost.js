/* cost.js - what a stronger profile costs: its time over that of `fast`, case by case and kernel by
 * kernel. */
function geometricMean(values) {
  return Math.exp(values.reduce((sum, v) => sum + Math.log(v), 0) / values.length);
}

/* Cases that were timed under the profile and under fast, on the same backend and threads. */
function costPairs(results, profile) {
  const fast = new Map();
  const key = (r) => `${r.name}@${r.backend},${r.threads}`;
  results.filter((r) => r.timed && r.profile === "fast").forEach((r) => fast.set(key(r), r));
  return results.filter((r) => r.timed && r.profile === profile && fast.has(key(r)))
      .map((r) => ({result: r, fast: fast.get(key(r)), ratio: r.median / fast.get(key(r)).median}));
}

function costKernels(pairs) {
  const kernels = new Map();
  pairs.forEach((p) => {
    if (!kernels.has(p.result.kernel)) kernels.set(p.result.kernel, []);
    kernels.get(p.result.kernel).push(p);
  });
  return [...kernels.entries()]
      .map(([kernel, of]) => ({kernel, pairs: of, mean: geometricMean(of.map((p) => p.ratio))}))
      .sort((a, b) => b.mean - a.mean || compareValues(a.kernel, b.kernel));
}

const COST_ROW = 19;

/* Round ratios while they are close to 1, powers of two beyond. */
function costTicks(low, high, room) {
  return high / low < 4 ? rounds(low, high, room) : powers(low, high, 2, room);
}

const COST_KERNELS = 100;

/* Chooses, of too many, those that cost most and those that cost least. */
function shownKernels(kernels) {
  if (kernels.length <= COST_KERNELS) return kernels;
  return [...kernels.slice(0, COST_KERNELS / 2), ...kernels.slice(-COST_KERNELS / 2)];
}

function costChart(place, pairs, profile, note) {
  const of = costKernels(pairs), kernels = shownKernels(of);
  note.textContent = of.length > kernels.length ?
      `The ${COST_KERNELS / 2} kernels at each end of ${whole(of.length)}; all are in the table.` :
      "";
  const height = kernels.length * COST_ROW + 30;
  drawing(place, (width) => {
    const left = Math.min(190, width * 0.36), right = width - 48;
    const ratios = kernels.flatMap((k) => k.pairs.map((p) => p.ratio));
    const low = Math.min(0.9, ...ratios), high = Math.max(1.25, ...ratios);
    const x = logScale(low, high, left, right);
    const points = [], parts = [];
    for (const ratio of costTicks(low, high, (right - left) / 70))
      parts.push(
          svg("line", {
            class: Math.abs(ratio - 1) < 1e-9 ? "zero" : "grid",
            x1: x(ratio),
            x2: x(ratio),
            y1: 4,
            y2: height - 22
          }),
          svg("text", {x: x(ratio), y: height - 7, "text-anchor": "middle"},
              `${ratio < 1 / 2 ? powerOfTwo(ratio) : String(Number(significant(ratio, 3)))}×`));
    kernels.forEach((k, i) => {
      const y = i * COST_ROW + 14, at = x(k.mean), one = x(1);
      parts.push(
          svg("text", {x: left - 8, y: y + 4, "text-anchor": "end"}, shorten(k.kernel, left / 6.4)),
          svg("rect", {
            class: "bar cost",
            x: Math.min(one, at),
            width: Math.max(1, Math.abs(at - one)),
            y: y - 5,
            height: 10
          }),
          svg("line", {class: "tick", x1: at, x2: at, y1: y - 6, y2: y + 6}),
          svg("text", {x: right + 8, y: y + 4}, k.mean.toFixed(2)));
      k.pairs.forEach((p) => {
        parts.push(svg("circle", {class: "dot", cx: x(p.ratio), cy: y, r: 2.4}));
        points.push({
          x: x(p.ratio),
          y,
          lines: () =>
              [`${p.result.name} @ ${p.result.backend}`,
               `${p.ratio.toFixed(3)} times as long as fast`,
               `${profile} ${time(p.result.median)}, fast ${time(p.fast.median)}`]
        });
      });
    });
    const over = svg("svg", {class: "over", width, height, "aria-hidden": "true"});
    const box =
        el("div", {class: "plot"}, svg("svg", {width, height, "aria-hidden": "true"}, parts), over);
    place.replaceChildren(box);
    answering(
        box, over, points,
        {label: `Time of ${profile} over fast, ${plural(points.length, "case")}`});
  });
}

function shorten(name, room) {
  return name.length <= room ? name : `${name.slice(0, Math.max(3, Math.floor(room) - 1))}…`;
}

function costColumns(profile) {
  return [
    {title: "case", name: true, value: (p) => p.result.name},
    {title: "backend", value: (p) => text(p.result.backend)},
    {title: "threads", number: true, value: (p) => number(p.result.threads)},
    {title: profile, number: true, value: (p) => p.result.median, show: (p, v) => time(v)},
    {title: "fast", number: true, value: (p) => p.fast.median, show: (p, v) => time(v)},
    {title: "ratio", number: true, value: (p) => p.ratio, show: (p, v) => v.toFixed(3)},
  ];
}

section(
    "cost", "Cost of exactness",
    "Time over that of fast. A dot is a case, a bar the geometric mean of a kernel; right of 1 " +
        "the stronger profile takes longer.",
    (body) => {
      const profiles = ["strict", "deterministic"]
                           .map((profile) => ({profile, pairs: costPairs(R.run.results, profile)}))
                           .filter((p) => p.pairs.length);
      if (!profiles.length) {
        body.append(el(
            "p", {class: "note"},
            "The run has no case under fast beside a stronger profile: tsr bench --profile all " +
                "measures them."));
        return;
      }
      const chart = el("div"), table = el("div"), note = el("p", {class: "help"});
      function show(profile) {
        const {pairs} = profiles.find((p) => p.profile === profile);
        chart.replaceChildren();
        costChart(chart, pairs, profile, note);
        const caption = `Time of ${profile} over fast`;
        const build = () => makeTable(caption, costColumns(profile), pairs);
        table.replaceChildren(alternative(`${profile} over fast`, build));
      }
      body.append(
          el("ul", {class: "counts"},
             profiles.map(
                 (p) =>
                     el("li", null,
                        el("b", null, `${geometricMean(p.pairs.map((q) => q.ratio)).toFixed(3)}×`),
                        el("span", null,
                           `${p.profile} over fast, geometric mean of ${
                               plural(p.pairs.length, "case")}`)))),
          profiles.length > 1 ? el("div", {class: "filters"},
                                   select(
                                       "Profile", profiles.map((p) => [p.profile, p.profile]),
                                       profiles[0].profile, show)) :
                                null,
          el("div", {class: "panel"}, chart, note), table);
      show(profiles[0].profile);
    });
