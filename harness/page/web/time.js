/* time.js - a flame graph of a launch: all of it, and below, one beside the other, a kernel's
 * phases or a program's dispatches, each as wide as its time. */
const TIME_ROW = 26, TIME_HEIGHT = 2 * TIME_ROW + 22;

function launchOf(r) {
  const launch = object(r.launch);
  const parts =
      list(launch.phases).map(object).map((part) => ({what: text(part.what), ns: sizeOf(part.ns)}));
  const sum = parts.reduce((all, part) => all + part.ns, 0);
  return {result: r, parts, sum, ns: Math.max(sizeOf(launch.ns), sum)};
}

function partLines(m, part, i) {
  return [
    `${i + 1} of ${m.parts.length}: ${part.what || "without a name"}`,
    `${time(part.ns)}, ${percent(part.ns / m.ns)} of the launch`
  ];
}

/* A box with its name, where there is room for it. */
function timeBox(x, width, row, hue, name) {
  const y = row * TIME_ROW;
  const box =
      svg("rect",
          {class: `layer c${hue}`, x, y, width: Math.max(0.5, width - 1), height: TIME_ROW - 2});
  return name.length * 7 + 8 < width ?
      [box, svg("text", {class: "halo", x: x + 4, y: y + TIME_ROW - 9}, name)] :
      [box];
}

function timePicture(place, m) {
  drawing(place, (width) => {
    const scale = width / m.ns, boxes = timeBox(0, width, 0, 4, `launch ${time(m.ns)}`);
    const points = [];
    let from = 0;
    m.parts.forEach((part, i) => {
      boxes.push(...timeBox(from * scale, part.ns * scale, 1, i % 2 ? 2 : 0, part.what));
      points.push(
          {x: (from + part.ns / 2) * scale, y: 1.5 * TIME_ROW, lines: () => partLines(m, part, i)});
      from += part.ns;
    });
    const over = svg("svg", {class: "over", width, height: TIME_HEIGHT, "aria-hidden": "true"});
    const box =
        el("div", {class: "plot"},
           svg("svg", {width, height: TIME_HEIGHT, "aria-hidden": "true"}, boxes,
               svg("text", {x: width, y: TIME_HEIGHT - 6, "text-anchor": "end"},
                   `${time(m.ns - m.sum)} between them`)),
           over);
    place.replaceChildren(box);
    answering(
        box, over, points,
        {label: `Times of a launch of ${m.result.name}, ${plural(m.parts.length, "part")}`});
  });
}

function timeTable(m) {
  return makeTable(
      `Times of a launch of ${m.result.name}`,
      [
        {title: "part", name: true, value: (row) => row.what},
        {title: "number", number: true, value: (row) => row.number},
        {title: "time", number: true, value: (row) => row.ns, show: (row, v) => time(v)}, {
          title: "of the launch",
          number: true,
          value: (row) => row.ns / m.ns,
          show: (row, v) => percent(v)
        }
      ],
      m.parts.map((part, i) => ({what: part.what, ns: part.ns, number: i + 1})));
}

section(
    "time", "Time of a launch",
    "The median one of a few launches that were timed part by part: a kernel's phases, or a " +
        "program's dispatches, one after the other.",
    (body) => {
      const all = R.run.results.map(launchOf).filter((m) => m.parts.length > 1 && m.ns > 0);
      if (!all.length) {
        body.append(el("p", {class: "note"}, "No launch of this run has several parts."));
        return;
      }
      const picture = el("div"), table = el("div");
      const show = (i) => {
        timePicture(picture, all[i]);
        table.replaceChildren(alternative("times of this launch", () => timeTable(all[i])));
      };
      const first =
          all.reduce((best, m, i) => m.parts.length > all[best].parts.length ? i : best, 0);
      body.append(
          el("div", {class: "filters"}, resultChoice(all, first, show)),
          el("div", {class: "panel"}, picture), table);
      show(first);
    });
