/* gates.js - verdicts of gates, each with its interval beside the margin and the smallest effect
 * that could have been seen. */
const VERDICTS = ["FAILED", "REGRESSED", "INCONCLUSIVE", "IMPROVED", "EQUIVALENT"];
const VERDICT_CLASS = {
  FAILED: "bad",
  REGRESSED: "bad",
  INCONCLUSIVE: "warn",
  IMPROVED: "good",
  EQUIVALENT: "muted"
};

function verdictOf(result) { return text(result.verdict) || "FAILED"; }

/* One scale for a whole gate, so that its bars can be compared: linear within the margin,
 * logarithmic beyond it. */
function gateReach(gate) {
  const margin = number(object(gate.settings).margin) || 0,
        mde = number(object(gate.settings).mde) || 0;
  const ends =
      list(gate.results)
          .flatMap((r) => {
            const c = object(r.change);
            return [Math.abs(number(c.low)), Math.abs(number(c.high))].filter(Number.isFinite);
          })
          .sort((a, b) => a - b);
  return Math.max(
      2.5 * Math.min(margin, 10), 1.25 * Math.min(mde, 10),
      ends.length ? Math.min(quantile(ends, 1) * 1.3, 10) : 0, 0.01);
}

const BAR_LEAST = 6;

function intervalBar(result, gate, reach) {
  const c = object(result.change), low = number(c.low), high = number(c.high),
        middle = number(c.estimate);
  if (!Number.isFinite(low) || !Number.isFinite(high)) return "–";
  const width = 180, height = 20, margin = number(object(gate.settings).margin),
        mde = number(result.mde);
  const unit = margin > 0 ? margin : 0.005,
        bent = linearScale(-Math.asinh(reach / unit), Math.asinh(reach / unit), 2, width - 2);
  const x = (v) => bent(Math.asinh(v / unit));
  const inside = (v) => Math.min(width - 1, Math.max(1, x(v)));
  const verdict = verdictOf(result);
  const tone = verdict === "REGRESSED" ? "bad" : verdict === "IMPROVED" ? "good" : "";
  return svg(
      "svg",
      {width, height, role: "img", "aria-label": `between ${change(low)} and ${change(high)}`},
      margin > 0 ? svg("rect", {
        class: "margin",
        x: inside(-margin),
        width: inside(margin) - inside(-margin),
        y: 0,
        height
      }) :
                   null,
      mde > 0 ?
          [-mde, mde]
              .filter((v) => Math.abs(v) < reach)
              .map((v) => svg("line", {class: "mde", x1: x(v), x2: x(v), y1: 2, y2: height - 2})) :
          null,
      svg("line", {class: "zero", x1: x(0), x2: x(0), y1: 0, y2: height}), svg("rect", {
        class: `bar ${tone}`,
        x: Math.min(inside(low), width - BAR_LEAST),
        width: Math.max(BAR_LEAST, inside(high) - inside(low)),
        y: 6,
        height: 8,
        rx: 1.5
      }),
      Number.isFinite(middle) ?
          svg("line", {class: "tick", x1: inside(middle), x2: inside(middle), y1: 3, y2: 17}) :
          null);
}

/* Differences that the deterministic tier found: "spills 0 → 4". */
function staticChanges(result) {
  return Object.entries(object(result.static))
      .filter(([, pair]) => Array.isArray(pair) && pair[0] !== pair[1])
      .map(([name, [a, b]]) => `${name.replace("_", " ")} ${a ?? "–"} → ${b ?? "–"}`)
      .join(", ");
}

function reasonsOf(result) {
  return [text(result.reason), text(result.why), staticChanges(result)].filter(Boolean).join("; ");
}

function gateColumns(gate) {
  const reach = gateReach(gate);
  return [
    {
      title: "case",
      name: true,
      value: (r) => `${text(r.kernel)}/${text(r.case)} @ ${text(r.backend)}, ${text(r.profile)}`
    },
    {
      title: "verdict",
      value: (r) => VERDICTS.indexOf(verdictOf(r)),
      show: (r) => el("span", {class: `chip ${VERDICT_CLASS[verdictOf(r)] || ""}`}, verdictOf(r))
    },
    {
      title: "interval",
      value: (r) => number(object(r.change).estimate),
      show: (r) => intervalBar(r, gate, reach)
    },
    {
      title: "change",
      number: true,
      value: (r) => number(object(r.change).estimate),
      show: (r, v) => change(v)
    },
    {
      title: "between",
      number: true,
      value: (r) => number(object(r.change).low),
      show: (r, v) =>
          Number.isFinite(v) ? `${change(v)}, ${change(number(object(r.change).high))}` : "–"
    },
    {title: "baseline", number: true, value: (r) => number(r.baseline_ns), show: (r, v) => time(v)},
    {title: "against", number: true, value: (r) => number(r.against_ns), show: (r, v) => time(v)},
    {title: "could see", number: true, value: (r) => number(r.mde), show: (r, v) => percent(v, 2)},
    {title: "pairs", number: true, value: (r) => number(r.pairs), show: (r, v) => whole(v)},
    {title: "why", below: true, value: (r) => reasonsOf(r)},
  ];
}

function sideName(side) {
  const s = object(side);
  return text(s.name) || text(s.kind) || "?";
}

function gateCounts(gate) {
  const counts = new Map();
  list(gate.results).forEach((r) => counts.set(verdictOf(r), (counts.get(verdictOf(r)) || 0) + 1));
  return VERDICTS.filter((v) => counts.has(v))
      .map(
          (v) =>
              el("li", null, el("b", {class: VERDICT_CLASS[v]}, whole(counts.get(v))),
                 el("span", null, v.toLowerCase())));
}

function showGate(place, gate) {
  const settings = object(gate.settings), fit = number(gate.exit);
  const rows = list(gate.results)
                   .map(object)
                   .sort(
                       (a, b) => VERDICTS.indexOf(verdictOf(a)) - VERDICTS.indexOf(verdictOf(b)) ||
                           compareValues(text(a.kernel), text(b.kernel)));
  const verdict = {
    0: ["holds", "good"],
    1: ["does not hold", "bad"],
    5: ["no verdict", "warn"]
  }[fit] ||
      ["failed", "bad"];
  place.replaceChildren(el(
      "div", {class: "panel"},
      el("p", null, el("b", {class: verdict[1]}, verdict[0]),
         ` — ${sideName(gate.against)} against ${sideName(gate.baseline)}, `,
         `margin ${percent(number(settings.margin), 2)}, changes of at least ${
             percent(number(settings.mde), 2)} asked for`,
         Number.isFinite(number(gate.mde)) ?
             `; would have shown: of at least ${percent(number(gate.mde), 2)}` :
             "",
         `; ${time(number(gate.seconds) * 1e9)}.`),
      el("ul", {class: "counts more"}, gateCounts(gate)),
      makeTable(`Cases of the gate ${text(gate.gate)}`, gateColumns(gate), rows),
      el("p", {class: "help"},
         "The bar is the interval of the change (right: slower) with its estimate; the shaded " +
             "field is the margin, ",
         "the broken lines the smallest change that this many pairs can see. Beyond the margin " +
             "the scale is logarithmic.")));
}

section(
    "gates", "Gates",
    "Comparisons of two builds, each with its verdict: a regression needs its whole interval " +
        "beyond the margin.",
    (body) => {
      const gates =
          list(R.data.gates).map(object).map((g) => ({...g, results: list(g.results).map(object)}));
      if (!gates.length) {
        body.append(el("p", {class: "note"}, "No gate was run yet: tsr gate makes one."));
        return;
      }
      const place = el("div");
      const name = (g) => `${text(g.started) || "undated"}: ${sideName(g.against)} against ${
          sideName(g.baseline)}, exit ${Number.isFinite(number(g.exit)) ? g.exit : "?"}`;
      body.append(
          el("div", {class: "filters"},
             select(
                 "Gate", gates.map((g, i) => [String(i), name(g)]), "0",
                 (i) => showGate(place, gates[Number(i)]))),
          place);
      if (R.data.gates_left_out)
        body.append(
            el("p", {class: "help"}, `${plural(R.data.gates_left_out, "older gate")} left out.`));
      showGate(place, gates[0]);
    },
    () => R.run || list(R.data.gates).length > 0 || !list(R.data.steps).length);
