// SPDX-License-Identifier: BSD-3-Clause
// icicle.js: draw the tree as an icicle.

// --- layout and drawing -----------------------------------------------------------

/** Where blocks are. If all of them look like one, as in a chain, the narrow ones come too. */
function layout() {
  const blocks = placeBlocks(NARROWEST);
  return blocks.length === 1 && child[focus] >= 0 ? placeBlocks(0) : blocks;
}

function placeBlocks(narrowest) {
  const width = canvas.clientWidth;
  const rows = Math.max(3, Math.floor((canvas.clientHeight - STUB) / ROW.least));
  const perPoint = width / size(focus);
  const blocks = [];
  const todo = [{ i: focus, x: 0, row: 0 }];
  let deepest = 0;
  while (todo.length > 0) {
    const { i, x, row } = todo.pop();
    let last = i;
    while (child[last] >= 0 && size(child[last] + 1) * perPoint < narrowest) last = child[last];
    const more = child[last] >= 0;
    blocks.push({ i, last, x, w: size(i) * perPoint, row, more: more && row === rows - 1 });
    deepest = Math.max(deepest, row);
    if (!more || row === rows - 1) continue;
    const first = child[last];
    todo.push({ i: first + 1, x: x + size(first) * perPoint, row: row + 1 });
    todo.push({ i: first, x, row: row + 1 });
  }
  rowHeight = Math.min(ROW.most, (canvas.clientHeight - STUB) / (deepest + 1));
  return blocks;
}

function fill(block, styles) {
  if (by >= 0) return columnColor(data.columns[by], block.i, styles);
  const head = cluster[block.last];
  return head < 0 ? styles.trunk : color(head);
}

/** Numbers by a ramp; words by their colour, the paler the fewer points of the block have them. */
function columnColor(column, i, styles) {
  const value = column.values[i];
  if (value === null) return styles.trunk;
  if (column.kind === "number") {
    const share = column.high > column.low ? (value - column.low) / (column.high - column.low) : 0.5;
    return ramp(Math.min(Math.max(share, 0), 1));
  }
  return mix(styles.trunk, wordColor(column, value), 0.15 + 0.85 * column.share[i]);
}

const wordColor = (column, value) => data.colors[value % data.colors.length];

function ramp(share) {
  const at = Math.min(share * (RAMP.length - 1), RAMP.length - 1.001);
  const low = Math.floor(at);
  return mix(RAMP[low], RAMP[low + 1], at - low);
}

function mix(from, to, share) {
  const part = (color, at) => parseInt(color.slice(at, at + 2), 16);
  const one = (at) => Math.round((1 - share) * part(from, at) + share * part(to, at));
  return `#${[1, 3, 5].map((at) => one(at).toString(16).padStart(2, "0")).join("")}`;
}

function inkOn(background) {
  const value = (at) => parseInt(background.slice(at, at + 2), 16);
  const light = 0.299 * value(1) + 0.587 * value(3) + 0.114 * value(5);
  return light < 150 ? "#ffffff" : "#1d2329";
}

function readStyles() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  return { paper: get("--paper"), trunk: get("--trunk"), faint: get("--faint"), mark: get("--mark") };
}

function draw() {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const styles = readStyles();
  pen.fillStyle = styles.paper;
  pen.fillRect(0, 0, width, height);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  if (picture === "map") {
    drawMap(styles);
    return;
  }
  for (const block of shown) drawBlock(block, styles);
  if (child[focus] < 0 && size(focus) > 1) {
    pen.fillStyle = styles.faint;
    pen.fillText("What is inside is too small for this page.", 4, rowHeight * 1.5);
  }
  for (const block of shown) {
    if (block.i === chosen || block.i === hovered) drawMark(block, styles, block.i === chosen);
  }
}

function drawBlock(block, styles) {
  const { x, y, w, h } = position(block);
  const paint = fill(block, styles);
  const dim = lit !== null && lit[block.i] === 0;
  pen.globalAlpha = (block.alpha ?? 1) * (dim ? DIM : 1);
  pen.fillStyle = paint;
  pen.fillRect(x, y, w, h);
  if (w > 26 && !dim) drawText(block, x, y + h / 2, w, inkOn(paint));
  if (block.more) {
    pen.globalAlpha *= 0.35;
    pen.fillStyle = paint;
    pen.fillRect(x, y + h + 1, w, STUB);
  }
  pen.globalAlpha = 1;
}

function drawMark(block, styles, strong) {
  const { x, y, w, h } = position(block);
  pen.strokeStyle = styles.mark;
  pen.lineWidth = strong ? 2.5 : 1;
  const inset = pen.lineWidth / 2;
  pen.strokeRect(x + inset, y + inset, Math.max(w - 2 * inset, 1), h - 2 * inset);
}

/** A name and a size if there is room for both, else the size; of a point's name a part. */
function drawText(block, x, middle, w, ink) {
  const room = w - 8;
  const i = block.i;
  const fits = (text) => pen.measureText(text).width <= room;
  let text;
  if (size(i) === 1) text = shortened(pen, label(i), room);
  else text = [full(i), count(size(i))].find(fits);
  if (text === undefined) return;
  pen.fillStyle = ink;
  pen.fillText(text, x + 4, middle);
}

/** Where a block is now, on its way if it is moving: whole pixels, and a gap to the next. */
function position(block) {
  const to = { left: block.x, right: block.x + block.w, top: block.row * rowHeight };
  const from = motion === null || block.from === undefined ? to : block.from;
  const t = motion === null ? 1 : motion.eased;
  const at = (name) => Math.round(from[name] + (to[name] - from[name]) * t);
  const [x, y] = [at("left"), at("top")];
  const w = at("right") - x;
  return { x, y, w: Math.max(w > 3 ? w - 1 : w, 1), h: Math.round(y + rowHeight) - y - 1 };
}

function show(animate) {
  const before = new Map();
  for (const block of shown) {
    const { x, y, w } = position(block);
    before.set(block.i, { left: x, right: x + w, top: y });
  }
  shown = layout();
  placeMap();
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  motion = null;
  if (!animate || still || picture === "map" || before.size === 0) {
    draw();
    return;
  }
  motion = { start: performance.now(), eased: 0 };
  const mine = motion;
  for (const block of shown) block.from = before.get(block.i);
  const step = (now) => {
    if (motion !== mine) return; // something newer has begun
    const t = Math.min(Math.max((now - mine.start) / MOVE, 0), 1);
    mine.eased = 1 - (1 - t) ** 3;
    for (const block of shown) block.alpha = block.from === undefined ? mine.eased : 1;
    if (t >= 1) motion = null;
    draw();
    if (t < 1) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
