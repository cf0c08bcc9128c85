/* history.js - the past of each result on this machine, and where it changed. */
function historyChart(place, series, runs) {
  const points = list(series.points).filter((p) => number(p[1]) > 0);
  const changes = list(series.changes), best = number(series.sustained);
  const height = 124;
  drawing(place, (width) => {
    const inside = {left: 58, right: width - 4, top: 16, bottom: height - 18};
    const medians = points.map((p) => p[1]), low = Math.min(...medians),
          high = Math.max(...medians);
    const pad = Math.max((high - low) * 0.35, low * 0.03);
    const x = linearScale(0, Math.max(1, points.length - 1), inside.left + 4, inside.right - 4);
    const scale = linearScale(low - pad, high + pad, inside.bottom, inside.top);
    const y = (value) => Math.min(inside.bottom, Math.max(inside.top, scale(value)));
    const at = points.map((p, i) => ({
                            x: points.length > 1 ? x(i) : width / 2,
                            y: y(p[1]),
                            p,
                            i,
                            lines: () => historyLines(series, runs, changes, p, i)
                          }));
    const bound = (k) =>
        at.map((a) => `${a.x.toFixed(1)} ${y(a.p[k] > 0 ? a.p[k] : a.p[1]).toFixed(1)}`);
    const over = svg("svg", {class: "over", width, height, "aria-hidden": "true"});
    const picture = svg(
        "svg", {width, height, "aria-hidden": "true"},
        valueLines(inside, y, rounds(low - pad, high + pad, 3), time),
        svg("path", {class: "band", d: `M${bound(2).join("L")}L${bound(3).reverse().join("L")}Z`}),
        best > 0 ?
            svg("line",
                {class: "sustained", x1: inside.left, x2: inside.right, y1: y(best), y2: y(best)}) :
            null,
        svg("path", {class: "series", d: lineThrough(at)}),
        at.map(
            (a) =>
                svg("circle", {class: "dot", cx: a.x, cy: a.y, r: points.length > 40 ? 1.6 : 2.4})),
        changes.map((c) => changeMark(c, at, inside, width)),
        svg("text", {x: inside.left, y: height - 4},
            text(object(runs[points[0][0]]).started).slice(0, 10)),
        svg("text", {x: inside.right, y: height - 4, "text-anchor": "end"},
            text(object(runs[points[points.length - 1][0]]).started).slice(0, 10)));
    const box = el("div", {class: "plot"}, picture, over);
    place.replaceChildren(box);
    answering(box, over, at, {
      label: `${series.key}: ${plural(points.length, "run")}, ${plural(changes.length, "change")}`
    });
  });
}

function changeMark(c, at, inside, width) {
  const point = at[c.at];
  if (!point) return null;
  const x = c.at > 0 ? (at[c.at - 1].x + point.x) / 2 : point.x;
  const late = x > width - 70;
  return [
    svg("line", {class: "change", x1: x, x2: x, y1: inside.top - 4, y2: inside.bottom}),
    svg("text", {
      class: "changed halo",
      x: late ? x - 4 : x + 4,
      y: inside.top + 4,
      "text-anchor": late ? "end" : "start"
    },
        change(number(c.after) / number(c.before) - 1))
  ];
}

function historyLines(series, runs, changes, p, i) {
  const run = object(runs[p[0]]);
  const lines = [
    series.key, `${time(p[1])} [${time(p[2])}, ${time(p[3])}]`, `run ${text(run.run)}`,
    `${text(run.started)}${run.commit ? `, commit ${text(run.commit)}` : ""}`
  ];
  changes.filter((c) => c.at === i)
      .forEach(
          (c) => lines.push(`changed here: ${time(number(c.before))} to ${
              time(number(c.after))}, p = ${significant(number(c.p), 2)}`));
  return lines;
}

function kernelOf(series) { return text(object(R.runs[0].results[series.row]).kernel); }

/* Kernels whose times changed most come first. */
function historyKernels(series) {
  const most = new Map();
  for (const s of series) {
    const size = Math.max(
        0, ...list(s.changes).map((c) => Math.abs(Math.log(number(c.after) / number(c.before)))));
    most.set(kernelOf(s), Math.max(most.get(kernelOf(s)) || 0, size));
  }
  return [...most.entries()].sort((a, b) => b[1] - a[1] || compareValues(a[0], b[0]));
}

const CHARTS_SHOWN = 12;

section(
    "history", "History",
    "The median of each case in past runs on this machine; the band is its interval, the " +
        "thin line the best level that was sustained. A broken " +
        "upright line is a change " +
        "that chance does not explain, with how much slower (+) or faster (−) what " +
        "follows it is.",
    (body) => {
      const history = object(R.data.history);
      const series = list(history.series).filter((s) => list(s.points).length > 0);
      const runs = list(history.runs);
      if (!series.length || runs.length < 2) {
        body.append(
            el("p", {class: "note"},
               series.length ?
                   "This is the first run of this machine in the database." :
                   "There is no past: the first run named has no timed results in a database."));
        return;
      }
      const kernels = historyKernels(series), charts = el("div", {class: "small-charts"}),
            table = el("div"), note = el("p", {class: "help more"});
      function show(kernel) {
        const mine = series.filter((s) => kernelOf(s) === kernel);
        const shown =
            mine.slice()
                .sort((a, b) => list(b.changes).length - list(a.changes).length || a.row - b.row)
                .slice(0, CHARTS_SHOWN);
        const places = shown.map(() => el("div"));
        charts.replaceChildren(...shown.map(
            (s, i) =>
                el("div", {class: "panel"}, el("h3", null, s.key.slice(kernel.length + 1)),
                   places[i])));
        shown.forEach((s, i) => historyChart(places[i], s, runs));
        note.textContent =
            (mine.length > shown.length ?
                 `${whole(shown.length)} of ${
                     plural(mine.length, "case")} are drawn; all are in the table. ` :
                 "") +
            `${plural(runs.length, "run")} of ${text(history.machine)}.` +
            (history.left_out ? ` ${plural(history.left_out, "older run")} left out.` : "");
        table.replaceChildren(alternative(
            `history of ${kernel}`,
            () => makeTable(
                `Past medians ` +
                    `of ${kernel}`,
                [
                  {title: "case", name: true, value: (s) => s.key},
                  {title: "runs", number: true, value: (s) => s.points.length},
                  {
                    title: "first",
                    number: true,
                    value: (s) => s.points[0][1],
                    show: (s, v) => time(v)
                  },
                  {
                    title: "last",
                    number: true,
                    value: (s) => s.points[s.points.length - 1][1],
                    show: (s, v) => time(v)
                  },
                  {
                    title: "best sustained",
                    number: true,
                    value: (s) => number(s.sustained),
                    show: (s, v) => time(v)
                  },
                  {
                    title: "last over that",
                    number: true,
                    value: (s) => s.points[s.points.length - 1][1] / number(s.sustained) - 1,
                    show: (s, v) => change(v)
                  },
                  {
                    title: "changes",
                    wide: true,
                    value: (s) => list(s.changes).length,
                    show: (s) =>
                        list(s.changes)
                            .map(
                                (c) => `${change(number(c.after) / number(c.before) - 1)} at ` +
                                    `${
                                           text(object(runs[object(s.points[c.at])[0]]).started)
                                               .slice(0, 10)}`)
                            .join("; ") ||
                        "none"
                  },
                ],
                mine)));
      }
      body.append(
          el("div", {class: "filters"},
             select(
                 "Kernel",
                 kernels.map(
                     ([kernel, size]) => [kernel, size > 0 ? `${kernel} (changed)` : kernel]),
                 kernels[0][0], show)),
          charts, note, table);
      show(kernels[0][0]);
    });
