/* matrix.js - which backends and profiles gave the same bits, pair by pair. */
function sidesOf(results) {
  const several = distinct(results.map((r) => r.threads)).length > 1;
  const sides = new Map();
  for (const r of results) {
    if (r.digest < 0) continue;
    const name =
        several && r.backend !== "interp" ? `${r.side}, ${plural(r.threads, "thread")}` : r.side;
    if (!sides.has(name)) sides.set(name, new Map());
    sides.get(name).set(r.name, r);
  }
  return [...sides.entries()].map(([name, cases]) => ({name, cases}));
}

function comparePair(a, b) {
  const differing = [];
  let common = 0;
  for (const [name, r] of a.cases) {
    const other = b.cases.get(name);
    if (!other) continue;
    common++;
    if (other.digest !== r.digest) differing.push({name, a: r, b: other});
  }
  return {common, differing};
}

function differenceColumns(a, b) {
  const ulp = (side, of) => ({
    title: `ULP from strict, ${side.name}`,
    number: true,
    value: (d) => number(d[of].max_ulp),
    show: (d, v) => whole(v)
  });
  const link = (d) => el("a", {href: "#results", onclick: () => R.filterResults(d.name)}, d.name);
  return [
    {title: "case", name: true, value: (d) => d.name, show: link},
    {title: "type", value: (d) => text(d.a.type) || "–"},
    ulp(a, "a"),
    ulp(b, "b"),
  ];
}

section(
    "bits", "Same bits",
    "For each pair of backends and profiles of the run: in how many of the cases that both ran " +
        "all outputs are equal bit for bit, by " +
        "their SHA-256. Under strict, every backend has the same bits; weaker profiles may " +
        "differ within their bounds.",
    (body) => {
      const sides = sidesOf(R.run.results);
      if (sides.length < 2) {
        body.append(el(
            "p", {class: "note"},
            "The run has outputs of one backend and profile only: there is nothing to compare."));
        return;
      }
      const detail = el("div");
      let pressed = null;

      function show(a, b, pair, button) {
        if (pressed) pressed.setAttribute("aria-pressed", "false");
        pressed = button;
        button.setAttribute("aria-pressed", "true");
        const rows = pair.differing;
        const caption = `Cases whose outputs differ between ${a.name} and ${b.name}`;
        const same = `${a.name} and ${b.name}: all ${plural(pair.common, "case")} have equal bits.`;
        detail.replaceChildren(
            el("div", {class: "panel"},
               rows.length ? makeTable(caption, differenceColumns(a, b), rows) :
                             el("p", {class: "good"}, same)));
        say(`${plural(rows.length, "case")} of ${whole(pair.common)} differ between ${a.name} and ${
            b.name}.`);
      }

      function cell(i, j) {
        if (j >= i) return el("td", null, j === i ? "·" : "");
        const pair = comparePair(sides[i], sides[j]);
        if (!pair.common) return el("td", {class: "muted"}, "none");
        const same = pair.common - pair.differing.length;
        const button =
            el("button", {
              type: "button",
              "aria-pressed": "false",
              class: pair.differing.length ? "warn" : "good",
              "aria-label":
                  `${sides[i].name} and ${sides[j].name}: ${same} of ${pair.common} equal`,
              onclick: () => show(sides[i], sides[j], pair, button)
            },
               `${whole(same)} / ${whole(pair.common)}`);
        return el("td", null, button);
      }

      body.append(
          el("div", {class: "panel"},
             el("div", {class: "scroll"},
                el("table", {class: "matrix"},
                   el("caption", null,
                      "Cases with equal bits, of those that both sides ran; a cell lists those " +
                          "that differ"),
                   el("thead", null,
                      el("tr", null, el("td"),
                         sides.slice(0, -1).map((s) => el("th", {scope: "col"}, s.name)))),
                   el("tbody", null,
                      sides.slice(1).map(
                          (s, i) =>
                              el("tr", null, el("th", {scope: "row"}, s.name),
                                 sides.slice(0, -1).map((t, j) => cell(i + 1, j)))))))),
          detail);
    });
