/* inspect.js - a kernel's source beside each level of its way down; a line of the source lights up
 * what became of it. */
const LEVEL_NAMES = {
  graph: "Graph IR",
  schedule: "Schedule IR",
  tile: "Tile IR",
  asm: "Assembly"
};

function codeLines(content) {
  const lines = content.split("\n");
  if (lines.length && lines[lines.length - 1] === "") lines.pop();
  return lines;
}

function levelPane(place, level, onhover) {
  const origins = list(level.lines);
  const nodes = codeLines(text(level.text))
                    .map(
                        (line, i) =>
                            el("span", {
                              class: "line",
                              "data-number": i + 1,
                              onpointerenter: origins[i] ? () => onhover(origins[i]) : null
                            },
                               `${line}\n`));
  const hidden = number(level.lines_left_out);
  place.replaceChildren(
      el("pre", {
        class: "code",
        tabindex: "0",
        role: "region",
        "aria-label": LEVEL_NAMES[level.name] || text(level.name)
      },
         nodes),
      el("p", {class: "help"},
         hidden > 0 ? `${plural(hidden, "further line")} left out for their size.` : ""));
  return (line) => {
    let first = null, count = 0;
    nodes.forEach((node, i) => {
      const lit = line > 0 && origins[i] === line;
      node.classList.toggle("lit", lit);
      if (lit) {
        count++;
        first = first || node;
      }
    });
    return {first, count};
  };
}

/* The source as a list of lines, of which those that have something below can be chosen. */
function sourcePane(kernel, from, choose) {
  const lines = codeLines(text(kernel.source));
  const nodes = lines.map(
      (line, i) =>
          el("span",
             from.has(i + 1) ? {
               class: "line from",
               role: "option",
               "aria-selected": "false",
               tabindex: "-1",
               "data-number": i + 1,
               "data-line": i + 1,
               onclick: () => choose(i + 1, true),
               onpointerenter: () => choose(i + 1, false)
             } :
                               {class: "line", role: "presentation", "data-number": i + 1},
             `${line}\n`));
  const stops = nodes.filter((node) => node.classList.contains("from"));
  if (stops.length) stops[0].setAttribute("tabindex", "0");
  const box =
      el("pre", {class: "code", role: "listbox", "aria-label": `Source of ${text(kernel.kernel)}`},
         nodes);
  box.addEventListener("keydown", (event) => {
    const at = stops.indexOf(document.activeElement);
    const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: stops.length - 1}[event.key];
    if (to === undefined || !stops[to]) return;
    event.preventDefault();
    stops[to].focus();
    choose(Number(stops[to].dataset.line), true);
  });
  return {box, nodes, stops};
}

/* The line of the source that most of a level comes from: what one wants to see first. */
function busiest(level) {
  const counts = new Map();
  list(level.lines).forEach((line) => counts.set(line, (counts.get(line) || 0) + 1));
  counts.delete(0);
  return [...counts.entries()].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map((e) => e[0])[0] || 0;
}

function showKernel(place, kernel) {
  const levels = list(kernel.levels).map(object);
  const from = new Set(levels.flatMap((level) => list(level.lines)).filter((line) => line > 0));
  const pane = el("div"), count = el("p", {class: "help"}, "Choose a line of the source.");
  let light = null, level = levels.find((l) => l.name === "tile") || levels[0], line = 0;

  function choose(next, spoken) {
    line = next;
    source.nodes.forEach((node, i) => {
      const on = i + 1 === line;
      if (node.classList.contains("from")) {
        node.setAttribute("aria-selected", String(on));
        if (spoken) node.setAttribute("tabindex", on ? "0" : "-1");
      }
    });
    const lit = light(line);
    count.textContent = list(level.lines).length ?
        `Line ${line}: ${plural(lit.count, "line")} of ${
            LEVEL_NAMES[level.name] || text(level.name)}.` :
        "Assembly keeps no places of the source.";
    if (lit.first && spoken) {
      const code = pane.querySelector(".code");
      code.scrollTop = lit.first.offsetTop - code.offsetTop - 60;
      say(count.textContent);
    }
  }

  function open(next) {
    level = next;
    buttons.forEach((button, i) => {
      button.setAttribute("aria-selected", String(levels[i] === level));
      button.setAttribute("tabindex", levels[i] === level ? "0" : "-1");
    });
    light = levelPane(pane, level, (origin) => choose(origin, false));
    if (line) choose(line, false);
  }

  const source = sourcePane(kernel, from, choose);
  const buttons = levels.map(
      (l) => el(
          "button", {type: "button", role: "tab", "aria-selected": "false", onclick: () => open(l)},
          LEVEL_NAMES[l.name] || text(l.name)));
  const tabs = el("div", {class: "levels", role: "tablist", "aria-label": "Level"}, buttons);
  tabs.addEventListener("keydown", (event) => {
    const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!by) return;
    const next = (buttons.indexOf(document.activeElement) + by + buttons.length) % buttons.length;
    event.preventDefault();
    buttons[next].focus();
    open(levels[next]);
  });
  place.replaceChildren(
      el("div", {class: "panel"},
         kernel.same === false ?
             el("p", {class: "note warn"},
                "The source has changed since the run: these levels are today's, not those that " +
                    "were measured.") :
             null,
         el("div", {class: "beside"},
            el("div", null, el("h3", {class: "mono"}, text(kernel.path)), source.box, count),
            el("div", null, tabs, pane))));
  line = busiest(level);
  open(level);
  const first = source.nodes[Math.max(0, number(kernel.line) - 2)];
  if (first) source.box.scrollTop = first.offsetTop - source.box.offsetTop - 8;
}

section(
    "levels", "Levels",
    "Kernels of the run on their way down: what the source says, and what became of it. A blue " +
        "number is a line that some operation comes from.",
    (body) => {
      const lowering = object(R.data.lowering), kernels = list(lowering.kernels).map(object),
            left = list(lowering.left_out).map(object);
      if (kernels.length) {
        const place = el("div");
        body.append(
            el("div", {class: "filters"},
               select(
                   "Kernel",
                   kernels.map(
                       (k, i) =>
                           [String(i),
                            `${text(k.kernel)}/${text(k.case)}, ${text(k.profile)}, ${
                                plural(k.threads, "thread")}`]),
                   "0", (i) => showKernel(place, kernels[Number(i)]))),
            place);
        showKernel(place, kernels[0]);
      } else {
        body.append(el(
            "p", {class: "note"},
            "No kernel of this run is shown: its sources are not here, or nothing was compiled."));
      }
      if (left.length)
        body.append(alternative(
            `${plural(left.length, "kernel")} left out (tsr report --inspect chooses)`,
            () => makeTable(
                "Kernels that are not shown",
                [
                  {title: "case", name: true, value: (k) => text(k.name)},
                  {title: "why", wide: true, value: (k) => text(k.why)}
                ],
                left)));
    });
