/* plot.js - what the drawings share: logarithmic scales, canvases as fine as the screen, and points
 * that answer to the pointer and to the keys. */
function logScale(low, high, from, to) {
  const a = Math.log(low), b = Math.log(high);
  return (value) => from + ((Math.log(value) - a) / (b - a)) * (to - from);
}

function linearScale(low, high, from, to) {
  return (value) => from + ((value - low) / (high - low || 1)) * (to - from);
}

/* Powers of `base` within [low, high], few enough for `room` of them. */
function powers(low, high, base, room) {
  const ticks = [];
  const first = Math.ceil(Math.log(low) / Math.log(base) - 1e-9);
  const last = Math.floor(Math.log(high) / Math.log(base) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, room)));
  for (let i = first; i <= last; i++)
    if (i % step === 0) ticks.push(base ** i);
  return ticks;
}

/* Round numbers within [low, high]. */
function rounds(low, high, room) {
  const raw = high / Math.max(1, room) - low / Math.max(1, room);
  if (!(raw > Math.max(Math.abs(low), Math.abs(high)) * 1e-12)) return [];
  const size = 10 ** Math.floor(Math.log10(raw || 1));
  const step = [1, 2, 5, 10].map((n) => n * size).find((n) => n >= raw) || 10 * size;
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-12); i++)
    ticks.push(i * step);
  return ticks;
}

function powerOfTwo(value) { return value >= 1 ? String(value) : `1/${Math.round(1 / value)}`; }

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/* A canvas over a box of so many CSS pixels. */
function canvasOf(width, height) {
  const scale = Math.min(2, window.devicePixelRatio || 1);
  const canvas = el("canvas", {"aria-hidden": "true"});
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  return {canvas, context, scale};
}

/* Marks that differ in shape, so that colour is never alone. */
const SHAPES = [
  (c, x, y, r) => c.arc(x, y, r, 0, 2 * Math.PI),
  (c, x, y, r) => c.rect(x - r * 0.9, y - r * 0.9, 1.8 * r, 1.8 * r),
  (c, x, y, r) => {
    c.moveTo(x, y - 1.2 * r);
    c.lineTo(x + 1.1 * r, y + 0.8 * r);
    c.lineTo(x - 1.1 * r, y + 0.8 * r);
    c.closePath();
  },
  (c, x, y, r) => {
    c.moveTo(x, y - 1.3 * r);
    c.lineTo(x + 1.3 * r, y);
    c.lineTo(x, y + 1.3 * r);
    c.lineTo(x - 1.3 * r, y);
    c.closePath();
  },
];

const SHAPE_PATHS = [
  "M7 2.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9z",
  "M3 3h8v8h-8z",
  "M7 2l5 9h-10z",
  "M7 1.5l5.5 5.5l-5.5 5.5l-5.5-5.5z",
];

function shapeMark(shape, hue) {
  return svg(
      "svg", {viewBox: "0 0 14 14", "aria-hidden": "true"},
      svg("path", {d: SHAPE_PATHS[shape % SHAPE_PATHS.length], fill: `var(--c${hue % 5})`}));
}

/* Level lines at these values, with their words at the left. */
function valueLines(inside, y, values, words) {
  return values.map(
      (v) =>
          [svg("line", {class: "grid", x1: inside.left, x2: inside.right, y1: y(v), y2: y(v)}),
           svg("text", {x: inside.left - 6, y: y(v) + 4, "text-anchor": "end"}, words(v))]);
}

function lineThrough(points) {
  return points.map((p, i) => `${i ? "L" : "M"}${p.x.toFixed(1)} ${p.y.toFixed(1)}`).join("");
}

/* ---- the card beside a point ---- */
function showTip(lines, x, y) {
  const tip = byId("tip");
  tip.replaceChildren(
      el("b", null, lines[0]), ...lines.slice(1).map((line) => el("span", null, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 14 + box.width > innerWidth ? x - 14 - box.width : x + 14;
  const top = y + 14 + box.height > innerHeight ? y - 14 - box.height : y + 14;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}

function hideTip() { byId("tip").hidden = true; }

/* ---- points that answer ---- */
const REACH = 18;

function nearest(points, x, y, reach) {
  let best = -1, least = reach * reach;
  for (let i = 0; i < points.length; i++) {
    const dx = points[i].x - x, dy = points[i].y - y, d = dx * dx + dy * dy;
    if (d < least) {
      least = d;
      best = i;
    }
  }
  return best;
}

/* Makes `box` one stop of the tab key, in which the arrow keys go from point to point: left and
 * right by x, up and down by y. points: {x, y, lines()}, in the box's pixels. */
function answering(box, over, points, options) {
  const settings = Object.assign({label: "points", choose: null}, options);
  const byX = points.map((p, i) => i)
                  .sort((a, b) => points[a].x - points[b].x || points[b].y - points[a].y);
  const byY = points.map((p, i) => i)
                  .sort((a, b) => points[b].y - points[a].y || points[a].x - points[b].x);
  const ring = svg("circle", {class: "cursor", r: 7, visibility: "hidden"});
  let at = -1;
  over.append(ring);

  function show(index, spoken) {
    at = index;
    const p = points[index];
    ring.setAttribute("cx", p.x);
    ring.setAttribute("cy", p.y);
    ring.setAttribute("visibility", "visible");
    const place = box.getBoundingClientRect();
    const lines = p.lines();
    showTip(lines, place.left + p.x, place.top + p.y);
    if (spoken) say(lines.join(", "));
  }

  function hide() {
    at = -1;
    ring.setAttribute("visibility", "hidden");
    hideTip();
  }

  function step(order, by) {
    const place = at < 0 ? (by > 0 ? -1 : order.length) : order.indexOf(at);
    show(order[Math.min(order.length - 1, Math.max(0, place + by))], true);
  }

  const keys = {
    ArrowRight: () => step(byX, 1),
    ArrowLeft: () => step(byX, -1),
    ArrowUp: () => step(byY, 1),
    ArrowDown: () => step(byY, -1),
    Home: () => show(byX[0], true),
    End: () => show(byX[byX.length - 1], true),
    Escape: hide,
    Enter: () => {
      if (at >= 0 && settings.choose) settings.choose(points[at]);
    },
  };
  box.setAttribute("tabindex", "0");
  box.setAttribute("role", "application");
  box.setAttribute("aria-roledescription", "plot");
  box.setAttribute("aria-label", `${settings.label}. Arrow keys go from point to point.`);
  if (!points.length) return;
  box.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  box.addEventListener("pointermove", (event) => {
    const place = box.getBoundingClientRect();
    const found = nearest(points, event.clientX - place.left, event.clientY - place.top, REACH);
    if (found < 0)
      hide();
    else if (found !== at)
      show(found, false);
  });
  box.addEventListener("pointerleave", hide);
  box.addEventListener("blur", hide);
  box.addEventListener("click", () => {
    if (at >= 0 && settings.choose) settings.choose(points[at]);
  });
}

/* A drawing that is made again when its box has another width, or the theme changes. */
function drawing(box, draw) {
  let width = 0;
  function again() {
    const now = Math.floor(box.clientWidth);
    if (now < 1) return;
    width = now;
    draw(width);
  }
  R.redraw.push({box, again});
  new ResizeObserver(() => {
    if (Math.floor(box.clientWidth) !== width) again();
  }).observe(box);
  again();
  return again;
}

function redrawAll() {
  R.redraw = R.redraw.filter((entry) => entry.box.isConnected);
  R.redraw.forEach((entry) => entry.again());
}
