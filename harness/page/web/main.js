/* main.js - the sections that frame the others, the choices at the top, and the start. */
const STATUS_ORDER =
    ["ok", "mismatch", "error", "crash", "timeout", "unjudged", "unsupported", "skipped"];

function facts(pairs) {
  return el(
      "dl", {class: "facts"},
      pairs.filter(([, value]) => value)
          .map(([name, value]) => el("div", null, el("dt", null, name), el("dd", null, value))));
}

function machineFacts(run) {
  const origin = object(run.origin);
  const host = object(run.host), tsr = object(run.tsr), asked = object(run.arguments);
  const caches = list(host.caches)
                     .map(object)
                     .map((c) => `${text(c.level)} ${bytes(number(c.bytes))}`)
                     .join(", ");
  return [
    ["Started", text(run.started)],
    ["Ended", run.exit === null || run.exit === undefined ? "not finished" : `exit ${run.exit}`],
    ["Command", text(origin.command)],
    [
      "Kernels",
      [
        text(origin.corpus), origin.commit ? `commit ${text(origin.commit).slice(0, 12)}` : "",
        origin.changed === true ? "with changes" : ""
      ].filter(Boolean)
          .join(", ")
    ],
    [
      "Program",
      [
        `tsr ${text(tsr.version)}`, tsr.commit ? `commit ${text(tsr.commit)}` : "",
        tsr.build ? `build ${text(tsr.build).slice(0, 12)}` : "",
        tsr.llvm ? `LLVM ${text(tsr.llvm)}` : ""
      ].filter(Boolean)
          .join(", ")
    ],
    ["Processor", text(host.cpu)],
    ["Code for", text(host.isa)],
    ["Cores", Number.isFinite(number(host.cores)) ? String(host.cores) : ""],
    ["Memory", Number.isFinite(number(host.memory_bytes)) ? bytes(host.memory_bytes) : ""],
    ["Caches", caches],
    [
      "System",
      [text(host.os), text(host.kernel), host.virtualised ? "virtual machine" : ""]
          .filter(Boolean)
          .join(", ")
    ],
    ["Counters", [text(host.counters), text(host.counters_why)].filter(Boolean).join(": ")],
    ["Profiles", list(asked.profiles).map(text).join(", ")],
    ["Seed", Number.isFinite(number(asked.seed)) ? String(asked.seed) : ""],
  ];
}

section("summary", "Summary", "", (body) => {
  const counts = new Map();
  R.run.results.forEach((r) => counts.set(r.status, (counts.get(r.status) || 0) + 1));
  const known = STATUS_ORDER.filter((s) => counts.has(s)).concat([
    ...counts.keys()
  ].filter((s) => !STATUS_ORDER.includes(s)));
  body.append(
      el("ul", {class: "counts"},
         known.map(
             (status) =>
                 el("li", null, el("b", {class: statusClass(status)}, whole(counts.get(status))),
                    el("span", null, String(status)))),
         el("li", null, el("b", null, whole(distinct(R.run.results.map((r) => r.kernel)).length)),
            el("span", null, "kernels"))),
      el("div", {class: "panel"}, facts(machineFacts(R.run))));
});

section("results", "Results", "", (body) => {
  const failed = R.run.results.filter((r) => statusClass(r.status) === "bad");
  const place = el("div", {class: "panel"});
  const chosen = {status: "", name: ""};
  const why = {title: "why", below: true, value: (r) => text(r.why)};
  function draw() {
    const rows = R.run.results.filter(
        (r) => (!chosen.status || r.status === chosen.status) &&
            (!chosen.name || r.name.includes(chosen.name)));
    place.replaceChildren(makeTable(
        `${plural(rows.length, "result")} of ${whole(R.run.results.length)}`,
        [...resultColumns(), why], rows, {limit: 60}));
  }
  const box = el("input", {
    type: "search",
    size: 22,
    placeholder: "part of a name",
    oninput: () => {
      chosen.name = box.value;
      draw();
    }
  });
  const status =
      select("Status", all(distinct(R.run.results.map((r) => r.status))), "", (value) => {
        chosen.status = value;
        draw();
      });
  R.filterResults = (name) => {
    box.value = name;
    chosen.name = name;
    chosen.status = "";
    status.choose("");
    draw();
  };
  if (failed.length) {
    body.append(
        el("div", {class: "panel"},
           makeTable(
               `${plural(failed.length, "result")} that did not hold`,
               [
                 {title: "case", name: true, value: (r) => r.name},
                 {title: "side", value: (r) => `${r.side}, ${r.threads}`}, {
                   title: "status",
                   value: (r) => text(r.status),
                   show: (r, v) => el("span", {class: "chip bad"}, v)
                 },
                 why
               ],
               failed)));
  }
  body.append(
      el("div", {class: "filters more"}, status, el("label", null, "Kernel or case", box)), place);
  draw();
});

/* ---- the page ---- */
const ORDER = [
  "summary", "steps", "gates", "roofline", "results", "samples", "history", "bits", "cost", "time",
  "memory", "levels"
];
const WITHOUT_RUN = ["gates", "steps"];

/* Tells in its place what cannot be drawn; the other parts stand. */
function buildOne(section, place) {
  try {
    section.build(place);
  } catch (error) {
    console.error(error);
    place.append(el("p", {class: "note bad"}, `This part cannot be drawn: ${error.message}`));
  }
}

function buildSections() {
  R.redraw = [];
  const wanted = ORDER.map((id) => R.sections.find((s) => s.id === id))
                     .filter((s) => s.wanted() && (R.run || WITHOUT_RUN.includes(s.id)));
  const places = wanted.map((s) => {
    const place = el("div");
    return {
      s,
      place,
      whole:
          el("section", {id: s.id, "aria-labelledby": `${s.id}-title`},
             el("h2", {id: `${s.id}-title`}, s.title),
             s.lead ? el("p", {class: "lead"}, s.lead) : el("p", {class: "lead"}), place)
    };
  });
  byId("main").replaceChildren(...places.map((p) => p.whole));
  byId("nav").replaceChildren(
      el("ul", null, wanted.map((s) => el("li", null, el("a", {href: `#${s.id}`}, s.title)))));
  for (const {s, place} of places) buildOne(s, place);
  watchSections(places.map((p) => p.whole));
}

/* The section in view is marked in the list. */
function watchSections(sections) {
  if (R.watch) R.watch.disconnect();
  R.watch = new IntersectionObserver((entries) => {
    const seen = entries.filter((e) => e.isIntersecting).map((e) => e.target.id)[0];
    if (!seen) return;
    byId("nav").querySelectorAll("a").forEach((a) => {
      if (a.getAttribute("href") === `#${seen}`)
        a.setAttribute("aria-current", "true");
      else
        a.removeAttribute("aria-current");
    });
  }, {rootMargin: "-15% 0px -75% 0px"});
  sections.forEach((s) => R.watch.observe(s));
}

function nameRun() {
  const run = R.run;
  const title = run ? `Run ${text(run.run)}` : list(R.data.steps).length ? "Steps" : "Gates";
  byId("title").textContent = title;
  byId("subtitle").textContent = run ? text(run.machine) || text(object(run.host).cpu) : "";
  document.title = `${title} – Tessera report`;
}

function startTheme() {
  const box = byId("theme");
  try {
    box.value = localStorage.getItem("tsr-theme") || "auto";
  } catch (error) {
    box.value = "auto";
  }
  function apply() {
    if (box.value === "auto")
      document.documentElement.removeAttribute("data-theme");
    else
      document.documentElement.setAttribute("data-theme", box.value);
    redrawAll();
  }
  box.addEventListener("change", () => {
    try {
      localStorage.setItem("tsr-theme", box.value);
    } catch (error) { /* a page from a file may have no storage */
    }
    apply();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  matchMedia("print").addEventListener("change", redrawAll);
  apply();
}

function startRuns() {
  const box = byId("run");
  byId("run-label").hidden = R.runs.length < 2;
  box.append(...R.runs.map(
      (run, i) => el("option", {value: i}, `${text(run.run)} (${text(run.started)})`)));
  box.addEventListener("change", () => {
    R.run = R.runs[Number(box.value)];
    nameRun();
    buildSections();
    say(`Run ${text(R.run.run)} is shown.`);
  });
}

function start() {
  const began = performance.now();
  readData();
  startRuns();
  nameRun();
  buildSections();
  startTheme();
  const tsr = object(R.data.tsr);
  byId("foot").textContent = `Made by tsr ${
      text(tsr.version)}. Everything on this page is inside it; it asks nothing of any network.`;
  document.documentElement.setAttribute("data-ready", Math.round(performance.now() - began));
}

start();
