/* steps.js - numbers of training steps, one drawing for each quantity, a line for each file. */
const STEP_FILES_SHOWN = 5; /* as many colours */

function stepPoints(series, name) {
  const values = list(object(series.values)[name]);
  return list(series.steps)
      .map((step, i) => ({step: number(step), value: number(values[i])}))
      .filter((p) => Number.isFinite(p.step) && Math.abs(p.value) < 1e300);
}

function stepValue(name, value, digits) {
  return name === "seconds" ? time(value * 1e9) : significant(value, digits || 6);
}

function stepsChart(place, name, lines) {
  const all = lines.flatMap((l) => l.points), height = 220;
  drawing(place, (width) => {
    const inside = {left: 64, right: width - 8, top: 10, bottom: height - 20};
    const values = all.map((p) => p.value), low = Math.min(...values), high = Math.max(...values);
    const pad = (high - low) * 0.06 || Math.abs(high) * 0.06 || 1;
    const last = Math.max(...all.map((p) => p.step)), first = Math.min(...all.map((p) => p.step));
    const x = linearScale(first, Math.max(last, first + 1), inside.left + 4, inside.right - 4);
    const y = linearScale(low - pad, high + pad, inside.bottom, inside.top);
    const over = svg("svg", {class: "over", width, height, "aria-hidden": "true"});
    const picture =
        svg("svg", {width, height, "aria-hidden": "true"},
            valueLines(inside, y, rounds(low - pad, high + pad, 4), (v) => stepValue(name, v, 3)),
            rounds(first, last, width / 120)
                .filter(Number.isInteger)
                .map(
                    (step) => svg(
                        "text", {x: x(step), y: height - 4, "text-anchor": "middle"}, whole(step))),
            lines.map((l, i) => svg("path", {
                        class: `series c${i}`,
                        d: lineThrough(l.points.map((p) => ({x: x(p.step), y: y(p.value)})))
                      })));
    const box = el("div", {class: "plot"}, picture, over);
    place.replaceChildren(box);
    answering(
        box, over,
        lines.flatMap(
            (l) => l.points.map(
                (p) => ({
                  x: x(p.step),
                  y: y(p.value),
                  lines:
                      () => [l.name, `step ${whole(p.step)}`, `${name} ${stepValue(name, p.value)}`]
                }))),
        {label: `${name}: ${plural(all.length, "step")}`});
  });
}

function stepsTable(name, lines) {
  const end = (l) => l.points[l.points.length - 1];
  return alternative(
      `${name} by file`,
      () => makeTable(
          `First, least, greatest and last ${name}`,
          [
            {title: "file", name: true, value: (l) => l.name},
            {title: "steps", number: true, value: (l) => l.points.length},
            ...[["first", (l) => l.points[0].value],
                ["least", (l) => Math.min(...l.points.map((p) => p.value))],
                ["greatest", (l) => Math.max(...l.points.map((p) => p.value))],
                ["last", (l) => end(l).value]]
                .map(
                    ([title, value]) =>
                        ({title, number: true, value, show: (l, v) => stepValue(name, v)}))
          ],
          lines));
}

section(
    "steps", "Steps",
    "What a program gave at each step, as tsr run --export jsonl= wrote it; a line for each file.",
    (body) => {
      const files = list(R.data.steps).map(object), shown = files.slice(0, STEP_FILES_SHOWN);
      const names = distinct(shown.flatMap((s) => Object.keys(object(s.values))));
      body.append(
          el("ul", {class: "keys"},
             shown.map(
                 (s, i) => el("li", null, shapeMark(0, i), `${text(s.from)}: ${text(s.kernel)}`))),
          el("p", {class: "help"}, [
            files.length > shown.length ?
                `${whole(shown.length)} of ${plural(files.length, "file")} are drawn.` :
                "",
            ...shown.filter((s) => number(s.left_out) > 0)
                .map((s) => `${plural(s.left_out, "step")} of ${text(s.from)} left out.`)
          ].filter(Boolean).join(" ")));
      const charts = el("div", {class: "small-charts"});
      body.append(charts);
      for (const name of names) {
        const lines = shown.map((s) => ({name: text(s.from), points: stepPoints(s, name)}));
        const place = el("div"), drawn = lines.some((l) => l.points.length);
        charts.append(
            el("div", {class: "panel"}, el("h3", null, name), place,
               drawn ? stepsTable(name, lines.filter((l) => l.points.length)) : null));
        if (drawn)
          stepsChart(place, name, lines);
        else
          place.append(el("p", {class: "note"}, "No step has a number of this name."));
      }
    },
    () => list(R.data.steps).length > 0);
