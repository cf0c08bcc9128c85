/* memory.js - the memory of a launch: its buffers, and phase by phase what of its workspace holds
 * something. */
const MEMORY_HEIGHT = 190, MEMORY_FOOT = 22;
const MEMORY_PARTS = [
  {key: "inputs_bytes", title: "inputs", hue: 4}, {key: "outputs_bytes", title: "outputs", hue: 2},
  {key: "prepared_bytes", title: "prepared", hue: 1}
];

/* Numbers of a document from elsewhere: what is none counts as nothing. */
function sizeOf(value) {
  const size = number(value);
  return size > 0 ? size : 0;
}

function memoryOf(r) {
  const memory = object(r.memory);
  const read = {result: r, device: object(memory.device)};
  for (const key
           of ["inputs_bytes", "outputs_bytes", "prepared_bytes", "workspace_bytes",
               "unplanned_workspace_bytes", "peak_bytes", "unplanned_peak_bytes"])
    read[key] = sizeOf(memory[key]);
  read.phases = list(memory.phases)
                    .map(object)
                    .map((phase) => ({what: text(phase.what), live: sizeOf(phase.live_bytes)}));
  return read;
}

/* Round numbers of KiB, MiB or GiB. */
function sizeTicks(most) {
  const unit = 1024 ** Math.floor(Math.log(most) / Math.log(1024));
  return rounds(0, most / unit, 4).map((size) => size * unit);
}

function around(m) { return MEMORY_PARTS.reduce((sum, part) => sum + m[part.key], 0); }

function phaseLines(m, phase, i) {
  return [
    `phase ${i + 1} of ${m.phases.length}: ${phase.what || "without a name"}`,
    `${bytes(phase.live)} of the workspace's ${bytes(m.workspace_bytes)} are live`,
    `with buffers ${bytes(around(m) + phase.live)}`
  ];
}

/* A column for each phase: buffers below, what is live of the workspace on top. */
function memoryColumns(m, x, y, step) {
  const gap = step > 6 ? 2 : 0, parts = [];
  m.phases.forEach((phase, i) => {
    let below = 0;
    const stack = MEMORY_PARTS.map((part) => [m[part.key], part.hue]).concat([[phase.live, 0]]);
    for (const [size, hue] of stack) {
      parts.push(svg("rect", {
        class: `layer c${hue}`,
        x: x(i) + gap / 2,
        width: Math.max(1, step - gap),
        y: y(below + size),
        height: Math.max(0, y(below) - y(below + size))
      }));
      below += size;
    }
  });
  return parts;
}

function memoryLevel(size, words, kind, width, left, y) {
  return [
    svg("line", {class: `roof ${kind}`, x1: left, x2: width, y1: y(size), y2: y(size)}),
    svg("text", {class: "halo", x: width - 2, y: Math.max(10, y(size) - 4), "text-anchor": "end"},
        `${words} ${bytes(size)}`)
  ];
}

function memoryPicture(place, m) {
  drawing(place, (width) => {
    const left = Math.min(70, width * 0.2), base = MEMORY_HEIGHT - MEMORY_FOOT;
    const most = Math.max(m.peak_bytes, m.unplanned_peak_bytes, 1);
    const y = linearScale(0, most * 1.12, base, 4);
    const step = (width - left) / Math.max(1, m.phases.length), x = (i) => left + i * step;
    const apart = m.unplanned_peak_bytes > m.peak_bytes;
    const parts = [
      sizeTicks(most).map(
          (size) =>
              [svg("line", {class: "grid", x1: left, x2: width, y1: y(size), y2: y(size)}),
               svg("text", {x: left - 6, y: y(size) + 4, "text-anchor": "end"}, bytes(size))]),
      memoryColumns(m, x, y, step), memoryLevel(m.peak_bytes, "held", "", width, left, y),
      apart ? memoryLevel(m.unplanned_peak_bytes, "unplanned", "level", width, left, y) : null,
      svg("line", {class: "axis", x1: left, x2: width, y1: base, y2: base}),
      svg("text", {x: left, y: MEMORY_HEIGHT - 6}, "first phase"),
      svg("text", {x: width, y: MEMORY_HEIGHT - 6, "text-anchor": "end"}, "last phase")
    ];
    const over = svg("svg", {class: "over", width, height: MEMORY_HEIGHT, "aria-hidden": "true"});
    const box =
        el("div", {class: "plot"},
           svg("svg", {width, height: MEMORY_HEIGHT, "aria-hidden": "true"}, parts), over);
    const points = m.phases.map((phase, i) => ({
                                  x: x(i) + step / 2,
                                  y: y(around(m) + phase.live),
                                  lines: () => phaseLines(m, phase, i)
                                }));
    place.replaceChildren(box);
    answering(
        box, over, points,
        {label: `Memory of ${m.result.name}, ${plural(m.phases.length, "phase")}`});
  });
}

function memoryNotes(m) {
  const saved = 1 - m.peak_bytes / (m.unplanned_peak_bytes || 1);
  const apart = bytes(m.unplanned_peak_bytes);
  return facts([
    ["A launch needs", bytes(m.peak_bytes)],
    ["Without sharing", saved > 0 ? `${apart}: sharing saves ${percent(saved)}` : apart],
    ["Inputs", bytes(m.inputs_bytes)], ["Outputs", bytes(m.outputs_bytes)],
    ["Prepared", m.prepared_bytes ? bytes(m.prepared_bytes) : ""],
    ["Workspace", bytes(m.workspace_bytes)],
    [
      "The device held",
      m.device.held_bytes > 0 ? `${bytes(sizeOf(m.device.held_bytes))}, of which ${
                                    bytes(sizeOf(m.device.used_peak_bytes))} were used at most` :
                                ""
    ]
  ]);
}

function memoryLegend() {
  const parts = [...MEMORY_PARTS, {title: "workspace that is live", hue: 0}];
  return el(
      "ul", {class: "keys"},
      parts.map(
          (part) =>
              el("li", null,
                 svg("svg", {viewBox: "0 0 14 14", "aria-hidden": "true"},
                     svg("rect", {class: `layer c${part.hue}`, x: 1, y: 1, width: 12, height: 12})),
                 part.title)));
}

function memoryTable(all) {
  const column = (title, key) =>
      ({title, number: true, value: (m) => m[key], show: (m, v) => bytes(v)});
  return makeTable(
      "Memory of each result",
      [
        {title: "case", name: true, value: (m) => m.result.name},
        {title: "side", value: (m) => `${m.result.side}, ${m.result.threads}`},
        {title: "phases", number: true, value: (m) => m.phases.length},
        column("inputs", "inputs_bytes"), column("outputs", "outputs_bytes"),
        column("prepared", "prepared_bytes"), column("workspace", "workspace_bytes"),
        column("launch", "peak_bytes"), column("unplanned", "unplanned_peak_bytes")
      ],
      all);
}

section(
    "memory", "Memory",
    "What a launch needs of memory, phase by phase: intermediate results that no phase needs at " +
        "the same time share bytes of the workspace. The broken line is what it would be without.",
    (body) => {
      const all = R.run.results.map(memoryOf).filter((m) => m.phases.length && m.peak_bytes);
      if (!all.length) {
        body.append(el("p", {class: "note"}, "No result of this run says what memory it needs."));
        return;
      }
      const picture = el("div"), notes = el("div", {class: "more"});
      const show = (i) => {
        memoryPicture(picture, all[i]);
        notes.replaceChildren(memoryNotes(all[i]));
      };
      /* The one that shares most is what one wants to see first. */
      const first = all.reduce((best, m, i) => {
        const gain = (n) => n.unplanned_peak_bytes - n.peak_bytes;
        return gain(m) > gain(all[best]) ? i : best;
      }, 0);
      body.append(
          el("div", {class: "filters"}, resultChoice(all, first, show)),
          el("div", {class: "panel"}, picture, memoryLegend(), notes),
          alternative("memory of each result", () => memoryTable(all)));
      show(first);
    });
