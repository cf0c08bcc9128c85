/* base.js - the data, words for numbers, and elements made from text. What comes from the data is
 * only ever set as text, so a name that looks like markup stays a name. */
"use strict";

const R = {
  sections: [],
  redraw: []
};

/* ---- elements ---- */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on"))
      node.addEventListener(name.slice(2), value);
    else
      node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function byId(id) { return document.getElementById(id); }

/* ---- words ---- */
function significant(value, digits) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  if (size >= digits - 1 && size < 6) return String(Math.round(value));
  if (size >= 6 || size < -4) return value.toExponential(digits - 1);
  return value.toFixed(Math.max(0, digits - 1 - size));
}

function time(ns) {
  if (!Number.isFinite(ns)) return "–";
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
    if (Math.abs(ns) >= size) return `${significant(ns / size, 4)} ${unit}`;
  return `${significant(ns, 4)} ns`;
}

function percent(fraction, digits) {
  if (!Number.isFinite(fraction)) return "–";
  const text = (100 * fraction).toFixed(digits === undefined ? 1 : digits);
  return `${text.replace("-", "−")} %`;
}

function change(fraction) {
  return Number.isFinite(fraction) ? (fraction >= 0 ? "+" : "") + percent(fraction, 2) : "–";
}

function bytes(count) {
  if (!Number.isFinite(count)) return "–";
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]])
    if (count >= size) return `${significant(count / size, 3)} ${unit}`;
  return `${count} B`;
}

function whole(count) {
  if (!Number.isFinite(count)) return "–";
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, " ");
}

function plural(count, word) { return `${whole(count)} ${word}${count === 1 ? "" : "s"}`; }

/* Values of a document from elsewhere may be anything; no quantity here is beyond these sizes. */
const SMALLEST = 1e-30, GREATEST = 1e30;

function number(value) {
  if (typeof value !== "number" || !(Math.abs(value) <= GREATEST)) return NaN;
  return Math.abs(value) < SMALLEST ? 0 : value;
}

function text(value) { return typeof value === "string" ? value : ""; }

function list(value) { return Array.isArray(value) ? value : []; }

function object(value) {
  return value && typeof value === "object" && !Array.isArray(value) ? value : {};
}

function distinct(values) { return [...new Set(values)]; }

function quantile(sorted, q) {
  const at = (sorted.length - 1) * q;
  const low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

/* ---- the data ---- */
function decodeSamples() {
  const source = byId("sample-data").textContent;
  if (!source) return new Float32Array(0);
  let raw;
  if (Uint8Array.fromBase64) {
    raw = Uint8Array.fromBase64(source);
  } else {
    const body = atob(source);
    raw = new Uint8Array(body.length);
    for (let i = 0; i < body.length; i++) raw[i] = body.charCodeAt(i);
  }
  return new Float32Array(raw.buffer, 0, raw.length >> 2);
}

const NUMBERS = new Set([
  "threads", "max_ulp", "median", "low", "high", "confidence", "flops", "bytes", "gflops", "gbps",
  "ceiling", "fraction", "digest", "first_sample", "sample_count"
]);
const OBJECTS = new Set(["memory", "launch"]);
const NAMES = new Set(["kernel", "case", "backend", "profile", "status"]);

/* A cell as its column wants it: a number, an object, a name, or words; null where it is none. */
function readCell(title, value) {
  if (NUMBERS.has(title)) return Number.isFinite(number(value)) ? value : null;
  if (OBJECTS.has(title)) return object(value);
  return typeof value === "string" ? value : (NAMES.has(title) ? "?" : null);
}

function readRun(run) {
  const titles = list(run.columns);
  run.results = list(run.rows).map((row, place) => {
    const result = {place};
    titles.forEach((title, i) => {
      result[title] = readCell(title, row[i]);
    });
    result.name = `${result.kernel}/${result.case}`;
    result.side = `${result.backend}, ${result.profile}`;
    result.timed = result.median > 0;
    return result;
  });
  run.rows = null;
  run.ceilings = list(run.ceilings).map(object);
}

function readData() {
  R.data = JSON.parse(byId("report-data").textContent);
  R.runs = list(R.data.runs);
  R.runs.forEach(readRun);
  R.samples = decodeSamples();
  R.run = R.runs[0] || null;
}

/* ---- tables ---- */
const ROWS_SHOWN = 200;

function compareValues(a, b) {
  if (typeof a === "number" && typeof b === "number") {
    if (Number.isNaN(a) || Number.isNaN(b))
      return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
    return a - b;
  }
  const x = String(a), y = String(b);
  return x < y ? -1 : x > y ? 1 : 0;
}

/* columns: {title, value(row), show(row, value) -> text or node, number, name, wide}. */
function makeTable(caption, columns, rows, options) {
  const settings = Object.assign({limit: ROWS_SHOWN, tall: true}, options);
  const body = el("tbody");
  const more = el("p", {class: "more"});
  let order = rows, limit = settings.limit, sorted = -1, down = false;
  const beside = columns.filter((c) => !c.below), below = columns.filter((c) => c.below);
  const classOf = (c) => (c.number ? "number" : c.name ? "name" : c.wide ? "wide" : null);

  function cell(column, row, first) {
    const value = column.value(row);
    const shown = column.show ? column.show(row, value) : value === null ? "–" : value;
    return first ? el("th", {scope: "row", class: classOf(column)}, shown) :
                   el("td", {class: classOf(column)}, shown);
  }

  /* Words that are too long for a column stand in a row of their own, where there are any. */
  function lines(row) {
    const told = below.map((c) => c.value(row)).filter(Boolean);
    const first =
        el("tr", {class: told.length ? "told" : null},
           beside.map((column, i) => cell(column, row, i === 0)));
    const others =
        told.map((words) => el("tr", {class: "below"}, el("td", {colspan: beside.length}, words)));
    return [first, ...others];
  }

  function draw() {
    body.replaceChildren(...order.slice(0, limit).flatMap(lines));
    more.replaceChildren();
    if (order.length > limit)
      more.append(
          `${whole(limit)} of ${whole(order.length)} rows are shown. `,
          el("button", {
            type: "button",
            onclick: () => {
              limit = Infinity;
              draw();
            }
          },
             "Show all"));
  }

  function sortBy(index) {
    down = sorted === index ? !down : Boolean(beside[index].number);
    sorted = index;
    const value = beside[index].value;
    order = rows.map((row, i) => [value(row), i, row])
                .sort((a, b) => (down ? -1 : 1) * compareValues(a[0], b[0]) || a[1] - b[1])
                .map((entry) => entry[2]);
    heads.forEach((head, i) => {
      if (i === index)
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else
        head.removeAttribute("aria-sort");
    });
    draw();
  }

  const heads = beside.map(
      (column, i) =>
          el("th", {scope: "col", class: classOf(column)},
             el("button", {type: "button", onclick: () => sortBy(i)}, column.title)));
  draw();
  return el(
      "div", null,
      el("div", {
        class: settings.tall ? "scroll tall" : "scroll",
        tabindex: "0",
        role: "region",
        "aria-label": caption
      },
         el("table", null, el("caption", null, caption), el("thead", null, el("tr", null, heads)),
            body)),
      more);
}

/* The same facts as a chart, for those who cannot see it; made when it is opened. */
function alternative(caption, build) {
  const place = el("div");
  const details =
      el("details", {
        ontoggle: () => {
          if (details.open && !place.hasChildNodes()) place.append(build());
        }
      },
         el("summary", null, `As a table: ${caption}`), place);
  return details;
}

/* ---- choices ---- */
const OPTIONS_AT_ONCE = 500;

/* A long list has all its options only once somebody comes to choose: to lay out thousands takes
 * longer than the rest of the page. */
function select(label, options, value, onchange) {
  const option = ([key, words]) => el("option", {value: key, selected: key === value}, words);
  const box = el("select", {onchange: () => onchange(box.value)});
  const few = options.length <= OPTIONS_AT_ONCE;
  box.append(...(few ? options : options.filter(([key]) => key === value)).map(option));
  const complete = () => {
    if (box.options.length === options.length) return;
    const now = box.value;
    box.replaceChildren(...options.map(option));
    box.value = now;
  };
  if (!few) box.addEventListener("focus", complete);
  return Object.assign(el("label", null, label, box), {
    choose(key) {
      if (![...box.options].some((o) => o.value === key)) complete();
      box.value = key;
    }
  });
}

/* A choice among things of which each is of a result; show(i) shows one. */
function resultChoice(all, first, show) {
  return select(
      "Result",
      all.map((m, i) => [String(i), `${m.result.name} @ ${m.result.side}, ${m.result.threads}`]),
      String(first), (i) => show(Number(i)));
}

function all(values, words) {
  return [["", words || "all"], ...values.map((value) => [String(value), String(value)])];
}

function say(words) { byId("live").textContent = words; }

/* A section of the page: build(body) fills it, again for every run that is chosen. */
function section(id, title, lead, build, wanted) {
  R.sections.push({id, title, lead, build, wanted: wanted || (() => true)});
}
