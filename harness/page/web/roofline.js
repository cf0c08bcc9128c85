/* roofline.js - rate over intensity, both logarithmic, under a roof for each type of element and
 * each level of the memory. */
const LEVELS = ["L1", "L2", "L3", "DRAM"];

function readCeilings(run) {
  const compute = [], memory = new Map();
  for (const ceiling of run.ceilings) {
    const value = number(ceiling.value);
    const found = /^(compute|memory)\.([^.]+)(?:\.[^.]+)?\.t(\d+)$/.exec(text(ceiling.resource));
    if (!found || !(value > 0)) continue;
    const [, kind, name, threads] = found;
    if (kind === "compute") {
      compute.push({
        name,
        threads: Number(threads),
        value,
        unit: text(ceiling.unit),
        profile: ceiling.profile
      });
    } else if (LEVELS.includes(name)) {
      const key = `${name}.${threads}`;
      const best = memory.get(key);
      if (!best || best.value < value)
        memory.set(key, {name, threads: Number(threads), value, unit: "GB/s"});
    }
  }
  return {compute, memory: [...memory.values()]};
}

function describe(r) {
  const lines = [`${r.name} @ ${r.side}, ${plural(r.threads, "thread")}`];
  if (r.timed) lines.push(`${time(r.median)} [${time(number(r.low))}, ${time(number(r.high))}]`);
  const rates = [];
  if (number(r.gflops) > 0) rates.push(`${significant(r.gflops, 3)} GFLOP/s`);
  if (number(r.gbps) > 0) rates.push(`${significant(r.gbps, 3)} GB/s`);
  if (rates.length) lines.push(rates.join(", "));
  if (number(r.flops) > 0 && number(r.bytes) > 0)
    lines.push(`${significant(r.flops / r.bytes, 3)} FLOP a byte`);
  if (Number.isFinite(number(r.fraction)))
    lines.push(
        `${percent(r.fraction)} of its ${text(r.bound)} ceiling of ${
            significant(number(r.ceiling), 3)}` +
        ` ${r.bound === "memory" ? "GB/s" : "GFLOP/s"}`);
  if (r.status !== "ok") lines.push(`${text(r.status)}: ${text(r.why)}`);
  return lines;
}

/* Labels of lines that end close to each other are moved apart. */
function spread(labels, least) {
  labels.sort((a, b) => a.y - b.y);
  for (let i = 1; i < labels.length; i++)
    if (labels[i].y - labels[i - 1].y < least) labels[i].y = labels[i - 1].y + least;
  return labels;
}

function rooflineScales(points, roofs, width, height) {
  const inside = {left: 52, right: width - 10, top: 14, bottom: height - 38};
  const x = points.map((p) => p.intensity), y = points.map((p) => p.rate);
  const peak = Math.max(...roofs.compute.map((c) => c.value), ...y, 1);
  const slow = Math.min(...roofs.memory.map((m) => m.value), 100);
  const low = 2 ** Math.floor(Math.log2(Math.min(1 / 32, ...x)));
  const high = 2 ** Math.ceil(Math.log2(Math.max(256, ...x)));
  const floor = 10 ** Math.floor(Math.log10(Math.min(slow * low, ...y)));
  return {
    inside,
    low,
    high,
    floor,
    peak: peak * 2,
    x: logScale(low, high, inside.left, inside.right),
    y: logScale(floor, peak * 2, inside.bottom, inside.top),
  };
}

function rooflineAxes(s, width) {
  const {inside} = s;
  const parts = [];
  for (const value of powers(s.low, s.high, 2, (width - 60) / 44))
    parts.push(
        svg("line",
            {class: "grid", x1: s.x(value), x2: s.x(value), y1: inside.top, y2: inside.bottom}),
        svg("text", {x: s.x(value), y: inside.bottom + 16, "text-anchor": "middle"},
            powerOfTwo(value)));
  for (const value of powers(s.floor, s.peak, 10, 9))
    parts.push(
        svg("line",
            {class: "grid", x1: inside.left, x2: inside.right, y1: s.y(value), y2: s.y(value)}),
        svg("text", {x: inside.left - 6, y: s.y(value) + 4, "text-anchor": "end"},
            significant(value, 1)));
  parts.push(
      svg("text", {x: inside.right, y: inside.bottom + 33, "text-anchor": "end"}, "FLOP a byte"),
      svg("text", {x: inside.left + 4, y: inside.top + 2}, "GFLOP/s"));
  return parts;
}

function rooflineRoofs(s, roofs, width) {
  const {inside} = s;
  const parts = [], right = [], left = [];
  const top = Math.max(...roofs.compute.map((c) => c.value), 0);
  for (const c of roofs.compute) {
    const reach = Math.max(s.low, c.value / Math.max(...roofs.memory.map((m) => m.value), 1));
    parts.push(
        svg("line",
            {class: "roof", x1: s.x(reach), x2: inside.right, y1: s.y(c.value), y2: s.y(c.value)}));
    right.push({
      y: s.y(c.value) - 4,
      words: `${c.name} ${significant(c.value, 3)}${c.profile ? " (not strict)" : ""}`
    });
  }
  for (const m of roofs.memory) {
    const from = Math.max(s.low, s.floor / m.value),
          to = Math.min(s.high, (top || s.peak) / m.value);
    parts.push(svg("line", {
      class: "roof level",
      x1: s.x(from),
      y1: s.y(from * m.value),
      x2: s.x(to),
      y2: s.y(to * m.value)
    }));
    left.push({
      x: s.x(from) + 5,
      y: s.y(from * m.value) - 7,
      words: width < 520 ? m.name : `${m.name} ${significant(m.value, 3)} GB/s`
    });
  }
  for (const label of spread(right, 12))
    parts.push(
        svg("text", {class: "halo", x: inside.right - 2, y: label.y, "text-anchor": "end"},
            label.words));
  for (const label of spread(left, 13))
    parts.push(svg("text", {class: "halo", x: label.x, y: label.y}, label.words));
  return parts;
}

function drawPoints(context, points, shapes, hues) {
  const colours = [0, 1, 2, 3, 4].map((i) => colour(`--c${i}`));
  const radius = points.length > 2000 ? 2 : points.length > 400 ? 3 : 4;
  context.globalAlpha = points.length > 400 ? 0.6 : 0.8;
  for (const p of points) {
    context.fillStyle = colours[hues.indexOf(p.result.profile) % 5];
    context.beginPath();
    SHAPES[shapes.indexOf(p.result.backend) % SHAPES.length](context, p.x, p.y, radius);
    context.fill();
  }
}

function rooflinePoints(results) {
  return results.filter((r) => r.timed && r.flops > 0 && r.bytes > 0)
      .map((r) => ({
             result: r,
             intensity: r.flops / r.bytes,
             rate: r.flops / r.median,
             lines: () => describe(r)
           }));
}

function resultColumns() {
  return [
    {title: "case", name: true, value: (r) => r.name},
    {title: "backend", value: (r) => text(r.backend)},
    {title: "profile", value: (r) => text(r.profile)},
    {title: "threads", number: true, value: (r) => number(r.threads)},
    {
      title: "status",
      value: (r) => text(r.status),
      show: (r, v) => el("span", {class: v === "ok" ? null : statusClass(v)}, v)
    },
    {
      title: "median",
      number: true,
      value: (r) => (r.timed ? r.median : NaN),
      show: (r, v) => time(v)
    },
    {
      title: "interval",
      number: true,
      value: (r) => (number(r.high) - number(r.low)) / number(r.median),
      show: (r) =>
          (r.timed ? `${change(r.low / r.median - 1)}, ${change(r.high / r.median - 1)}` : "–")
    },
    {
      title: "GFLOP/s",
      number: true,
      value: (r) => number(r.gflops),
      show: (r, v) => significant(v, 3)
    },
    {title: "GB/s", number: true, value: (r) => number(r.gbps), show: (r, v) => significant(v, 3)},
    {title: "bound", value: (r) => text(r.bound) || "–"},
    {
      title: "of the roof",
      number: true,
      value: (r) => number(r.fraction),
      show: (r, v) => percent(v)
    },
  ];
}

function statusClass(status) {
  return status === "ok"                               ? "good" :
      status === "unsupported" || status === "skipped" ? "muted" :
                                                         "bad";
}

/* Selects for the values that the results have, and a box for names. */
function resultFilters(results, onchange, threads) {
  const chosen = {backend: "", profile: "", type: "", threads: String(threads), name: ""};
  const pick = (key) => (value) => {
    chosen[key] = value;
    onchange();
  };
  const values = (key) => distinct(results.map((r) => r[key])).filter((v) => v !== null);
  const box =
      el("fieldset", {class: "filters"}, el("legend", {class: "unseen"}, "Show results of"),
         select("Backend", all(values("backend")), "", pick("backend")),
         select("Profile", all(values("profile")), "", pick("profile")),
         select("Type", all(values("type")), "", pick("type")),
         select(
             "Threads", values("threads").sort((a, b) => a - b).map((v) => [String(v), String(v)]),
             String(threads), pick("threads")),
         el("label", null, "Kernel or case", el("input", {
              type: "search",
              size: 18,
              placeholder: "part of a name",
              oninput: (event) => pick("name")(event.target.value)
            })));
  const fits = (r) => (!chosen.backend || r.backend === chosen.backend) &&
      (!chosen.profile || r.profile === chosen.profile) &&
      (!chosen.type || r.type === chosen.type) &&
      (!chosen.threads || String(r.threads) === chosen.threads) &&
      (!chosen.name || r.name.includes(chosen.name));
  return {box, fits, chosen};
}

function usualThreads(results) {
  const counts = new Map();
  results.forEach((r) => counts.set(r.threads, (counts.get(r.threads) || 0) + 1));
  return [...counts.entries()].sort((a, b) => b[1] - a[1] || b[0] - a[0]).map((e) => e[0])[0];
}

section(
    "roofline", "Roofline",
    "How fast each case runs, over how much arithmetic it has for each byte that must move. " +
        "Full lines are what this machine computes at best, broken ones what each level of its " +
        "memory delivers; a case can be " +
        "no higher than the lowest roof above it.",
    (body) => {
      const timed = R.run.results.filter((r) => r.timed);
      if (!timed.length) {
        body.append(el("p", {class: "note"}, "No result of this run was timed."));
        return;
      }
      const ceilings = readCeilings(R.run);
      const plot = el("div", {class: "plot"}), keys = el("ul", {class: "keys"}), table = el("div"),
            note = el("p", {class: "help"});
      const shapes = distinct(timed.map((r) => r.backend)),
            hues = distinct(timed.map((r) => r.profile));
      const filters = resultFilters(timed, () => {
        again();
        list();
      }, usualThreads(timed));

      function draw(width) {
        const height = Math.round(Math.min(560, Math.max(340, width * 0.52)));
        const of = (items) => items.filter((c) => String(c.threads) === filters.chosen.threads);
        const roofs = {compute: of(ceilings.compute), memory: of(ceilings.memory)};
        const points = rooflinePoints(timed.filter(filters.fits));
        const s = rooflineScales(points, roofs, width, height);
        points.forEach((p) => {
          p.x = s.x(p.intensity);
          p.y = s.y(p.rate);
        });
        const over = svg("svg", {class: "over", height, width, "aria-hidden": "true"});
        const {canvas, context} = canvasOf(width, height);
        drawPoints(context, points, shapes, hues);
        const box =
            el("div", {class: "plot"},
               svg("svg", {height, width, "aria-hidden": "true"}, rooflineAxes(s, width),
                   rooflineRoofs(s, roofs, width)),
               canvas, over);
        plot.replaceChildren(box);
        answering(box, over, points, {
          label: `Roofline with ${plural(points.length, "result")}`,
          choose: (p) => R.showSamples && R.showSamples(p.result)
        });
      }

      function list() {
        const fitting = timed.filter(filters.fits);
        const without = fitting.filter((r) => !(r.flops > 0 && r.bytes > 0)).length;
        note.textContent = `${plural(fitting.length, "result")}. ` +
            (without ? `${plural(without, "result")} without arithmetic ${
                           without === 1 ? "has" : "have"} no place here: see the table. ` :
                       "") +
            "Point at a mark, or go to it with the arrow keys; Enter shows its samples.";
        table.replaceChildren(
            alternative(
                "results on the roofline",
                () => makeTable(
                    "Timed results and their place under the roof", resultColumns(), fitting)),
            alternative(
                "ceilings",
                () => makeTable(
                    "Ceilings that were measured in this run",
                    [
                      {title: "resource", value: (c) => text(c.resource)}, {
                        title: "value",
                        number: true,
                        value: (c) => number(c.value),
                        show: (c, v) => significant(v, 4)
                      },
                      {title: "unit", value: (c) => text(c.unit)},
                      {title: "only for", value: (c) => text(c.profile) || "–"}
                    ],
                    R.run.ceilings)));
      }

      keys.append(
          ...hues.map((hue, i) => el("li", null, shapeMark(0, i), hue)),
          ...(shapes.length > 1 ? shapes.map((shape, i) => el("li", null, shapeMark(i, 4), shape)) :
                                  []));
      body.append(filters.box, el("div", {class: "panel"}, plot, keys, note), table);
      const again = drawing(plot, draw);
      list();
    });
