// SPDX-License-Identifier: BSD-3-Clause
// icicle.js: draw the tree as an icicle.

// --- layout and drawing -------------------------------------------------------------------

function layout() {
  const blocks = outline.blocks;
  const width = canvas.clientWidth;
  const rows = Math.max(3, Math.floor(canvas.clientHeight / ROW.least));
  const perPoint = width / blocks[0].size;
  const below = blocks.map(() => []);
  blocks.forEach((block, i) => {
    if (block.parent >= 0) below[block.parent].push(i);
  });
  const placed = [];
  const todo = [{ i: 0, x: 0, row: 0 }];
  let deepest = 0;
  while (todo.length > 0) {
    const { i, x, row } = todo.pop();
    const block = blocks[i];
    placed.push({ block, x, w: block.size * perPoint, row });
    deepest = Math.max(deepest, row);
    if (row === rows - 1) continue;
    let at = x;
    for (const j of below[i].sort((a, b) => blocks[b].size - blocks[a].size)) {
      const w = blocks[j].size * perPoint;
      if (w >= NARROWEST) todo.push({ i: j, x: at, row: row + 1 });
      at += w;
    }
  }
  rowHeight = Math.min(ROW.most, canvas.clientHeight / (deepest + 1));
  return placed;
}

const given = new Map(); // key of a cluster -> its colour, for as long as it is shown
const stable = new Map(); // node id of a cluster -> its id that stays, while its node may be another
let mayName = true; // whether the server lets this page have ids given

const keyOf = (node) => stable.get(node) ?? `node ${node}`;

/** Have ids that stay given to clusters that are new, so that the next look finds them. */
async function giveIds() {
  if (!mayName || clusters.every((one) => one.stable_id !== null)) return;
  mayName = false;
  try {
    await ask(here(`/stable_labels?n_clusters=${Math.min(k, outline.leaves)}&brief=true`), "POST");
    mayName = true;
    refreshSoon();
  } catch {
    // a token that may only read: nodes it is
  }
}

/** Clusters keep their colours; a new one gets the colour that is used least. */
function giveColors() {
  const before = new Map(stable);
  stable.clear();
  for (const one of clusters) if (one.stable_id !== null) stable.set(one.node, one.stable_id);
  for (const [node, id] of stable) {
    // what was shown by its node until it had an id keeps its colour
    const old = `node ${node}`;
    if (!before.has(node) && given.has(old) && !given.has(id)) given.set(id, given.get(old));
  }
  const nodes = [...clusters.map((one) => one.node), ...outline.blocks.map((one) => one.cluster)];
  const now = new Set(nodes.filter((node) => node !== null).map(keyOf));
  for (const id of given.keys()) if (!now.has(id)) given.delete(id);
  const used = COLORS.map(() => 0);
  for (const which of given.values()) used[which] += 1;
  for (const id of now) {
    if (given.has(id)) continue;
    const which = used.indexOf(Math.min(...used));
    used[which] += 1;
    given.set(id, which);
  }
}

const color = (node) => COLORS[given.get(keyOf(node)) ?? 0];

function inkOn(background) {
  const value = (at) => parseInt(background.slice(at, at + 2), 16);
  return 0.299 * value(1) + 0.587 * value(3) + 0.114 * value(5) < 150 ? "#ffffff" : "#1d2329";
}

function styles() {
  const style = getComputedStyle(document.documentElement);
  const get = (property) => style.getPropertyValue(property).trim();
  return { paper: get("--paper"), trunk: get("--trunk"), faint: get("--faint"), mark: get("--mark"), link: get("--link") };
}

function sharpen(paper) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [paper.clientWidth, paper.clientHeight];
  if (paper.width !== Math.round(width * ratio) || paper.height !== Math.round(height * ratio)) {
    paper.width = Math.round(width * ratio);
    paper.height = Math.round(height * ratio);
  }
  const brush = paper.getContext("2d");
  brush.setTransform(ratio, 0, 0, ratio, 0, 0);
  brush.clearRect(0, 0, width, height);
  return { brush, width, height };
}

function draw() {
  const { width, height } = sharpen(canvas);
  const style = styles();
  pen.fillStyle = style.paper;
  pen.fillRect(0, 0, width, height);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  if (outline === null) {
    pen.fillStyle = style.faint;
    pen.fillText(name === null ? "There is no tree on this server yet." : "No points yet.", 6, 20);
    return;
  }
  if (picture === "map") {
    drawMap(style);
    return;
  }
  const now = performance.now();
  for (const one of shown) drawBlock(one, style, now);
  for (const one of shown) {
    if (one.block.id === chosen || one === hovered) drawMark(one, style, one.block.id === chosen);
  }
}

const place = ({ x, w, row }) => ({
  left: Math.round(x),
  top: Math.round(row * rowHeight),
  wide: Math.max(Math.round(x + w) - Math.round(x) - (w > 3 ? 1 : 0), 1),
  high: Math.round((row + 1) * rowHeight) - Math.round(row * rowHeight) - 1,
});

function drawBlock(one, style, now) {
  const { left, top, wide, high } = place(one);
  const paint = one.block.cluster === null ? style.trunk : color(one.block.cluster);
  pen.fillStyle = paint;
  pen.fillRect(left, top, wide, high);
  const fresh = freshness(one.block, now);
  if (fresh > 0) {
    pen.globalAlpha = fresh;
    pen.strokeStyle = "#ffd21f";
    pen.lineWidth = 3;
    pen.strokeRect(left + 1.5, top + 1.5, Math.max(wide - 3, 1), high - 3);
    pen.globalAlpha = 1;
  }
  if (wide > 30) {
    const text = fitting(one.block, wide - 10);
    pen.fillStyle = inkOn(paint);
    if (text !== null) pen.fillText(text, left + 5, top + high / 2);
  }
}

/** How much of a block is new: nothing where a few points came into a large one. */
function freshness(block, now) {
  const found = glow.get(block.id) ?? glow.get(block.last);
  if (found === undefined) return 0;
  const age = Math.max(0, 1 - (now - found.time) / GLOW);
  const share = found.times / block.size;
  return share < MUCH ? 0 : age * Math.min(1, 0.12 + 5 * share);
}

function mark(id, now) {
  const before = glow.get(id);
  const times = before === undefined || now - before.time > GLOW ? 1 : before.times + 1;
  glow.set(id, { time: now, times });
}

function drawMark(one, style, strong) {
  const { left, top, wide, high } = place(one);
  pen.strokeStyle = style.mark;
  pen.lineWidth = strong ? 2.5 : 1;
  pen.strokeRect(left + 1, top + 1, Math.max(wide - 2, 1), high - 2);
}

/** Title and size, or a part of the title, or the size, whatever fits. */
function fitting(block, room) {
  const fits = (text) => pen.measureText(text).width <= room;
  const title = titleOf(block);
  const whole = title === "" ? leaves(block.size) : `${title} · ${count(block.size)}`;
  if (fits(whole)) return whole;
  if ((title !== "" && room > 90) || block.size === 1) {
    let part = title;
    while (part.length > 6 && !fits(`${part}…`)) part = part.slice(0, -2);
    if (part.length > 6) return `${part}…`;
  }
  return fits(count(block.size)) ? count(block.size) : null;
}

function show() {
  shown = layout();
  placeMap();
  hovered = null;
  if (chosen === null) choose(outline.root);
  draw();
  writeNote();
}

let moving = false;
function animate() {
  if (moving) return;
  moving = true;
  const step = () => {
    const now = performance.now();
    for (const [id, found] of glow) if (now - found.time > GLOW) glow.delete(id);
    draw();
    moving = glow.size > 0;
    if (moving) setTimeout(() => requestAnimationFrame(step), 500);
  };
  requestAnimationFrame(step);
}
