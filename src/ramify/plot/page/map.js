// SPDX-License-Identifier: BSD-3-Clause
// map.js: a tree as a map. Every block has a convex cell inside the cell of the block above it.
//
//   A cell is cut in two across its longest way, by a straight line. Each part is as large as its
//   share of the points. So new points move a border by their own share, and no more.
//
//   memory  block -> the direction of its cut, and which part lies first: a map that is laid out
//           anew keeps both, also where another direction has become a little longer
//
// A cell that is laid out alone has the same cuts as inside the whole: only the scale differs.

const TURNS_OF_CUTS = 8; // directions of a cut
const KEEPS = 0.6; // a direction is kept while it is this share of the longest
const HALVINGS = 40; // of the interval in which a border lies
const LEAST_CELL = 60; // square pixels
const DOTS = 60; // points that are drawn in one cell, at most
const ROOM_OF_DOT = 80; // square pixels: in a small cell, more of them would be one spot

/** The part of a polygon on one side of a line: where (x, y) · (dx, dy) <= t. */
function clipped(polygon, dx, dy, t) {
  const kept = [];
  polygon.forEach(([x, y], i) => {
    const [u, v] = polygon[(i + 1) % polygon.length];
    const here = x * dx + y * dy - t;
    const next = u * dx + v * dy - t;
    if (here <= 0) kept.push([x, y]);
    if ((here < 0 && next > 0) || (here > 0 && next < 0)) {
      const part = here / (here - next);
      kept.push([x + part * (u - x), y + part * (v - y)]);
    }
  });
  return kept;
}

function areaOf(polygon) {
  let twice = 0;
  polygon.forEach(([x, y], i) => {
    const [u, v] = polygon[(i + 1) % polygon.length];
    twice += x * v - u * y;
  });
  return Math.abs(twice) / 2;
}

/** The middle of a polygon's vertices, each weighed by the sides beside it. */
function middleOf(polygon) {
  let [all, sumX, sumY] = [0, 0, 0];
  polygon.forEach(([x, y], i) => {
    const [u, v] = polygon[(i + 1) % polygon.length];
    const side = Math.hypot(u - x, v - y);
    all += side;
    sumX += (side * (x + u)) / 2;
    sumY += (side * (y + v)) / 2;
  });
  return all > 0 ? [sumX / all, sumY / all] : polygon[0];
}

function directionOf(turn) {
  const angle = (Math.PI * turn) / TURNS_OF_CUTS;
  return [Math.cos(angle), Math.sin(angle)];
}

function extentOf(polygon, [dx, dy]) {
  const along = polygon.map(([x, y]) => x * dx + y * dy);
  return [Math.min(...along), Math.max(...along)];
}

/** The longest way across a polygon, or the one of before if it is nearly as long. */
function turnOf(polygon, before) {
  let [best, longest] = [0, -1];
  for (let turn = 0; turn < TURNS_OF_CUTS; turn++) {
    const [low, high] = extentOf(polygon, directionOf(turn));
    if (high - low > longest * (1 + 1e-9)) [best, longest] = [turn, high - low];
  }
  if (before === undefined) return best;
  const [low, high] = extentOf(polygon, directionOf(before));
  return high - low >= KEEPS * longest ? before : best;
}

/** Two parts of a polygon, of which the first has this share of its area. */
function split(polygon, share, turn) {
  const [dx, dy] = directionOf(turn);
  let [low, high] = extentOf(polygon, [dx, dy]);
  const wanted = share * areaOf(polygon);
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    if (areaOf(clipped(polygon, dx, dy, middle)) < wanted) low = middle;
    else high = middle;
  }
  const border = (low + high) / 2;
  return [clipped(polygon, dx, dy, border), clipped(polygon, -dx, -dy, -border)];
}

/**
 * The cell of each block, or null where there is no room.
 *
 * blocks: {key, parent, size}, each after its parent, whose place in the list it has; -1 of the first.
 */
function cellsOf(blocks, frame, memory) {
  const below = blocks.map(() => []);
  blocks.forEach((block, i) => {
    if (block.parent >= 0) below[block.parent].push(i);
  });
  const cells = blocks.map(() => null);
  cells[0] = frame;
  for (let i = 0; i < blocks.length; i++) {
    if (cells[i] === null || below[i].length === 0 || areaOf(cells[i]) < LEAST_CELL) continue;
    const before = memory.get(blocks[i].key);
    const some = below[i].sort((a, b) => blocks[a].key - blocks[b].key);
    const first = some.findIndex((j) => blocks[j].key === before?.first);
    if (first > 0) some.unshift(...some.splice(first, 1));
    else if (first < 0 && blocks[some[0]].key === before?.last) some.reverse();
    const turn = turnOf(cells[i], before?.turn);
    memory.set(blocks[i].key, { turn, first: blocks[some[0]].key, last: blocks[some.at(-1)].key });
    let [rest, left] = [cells[i], blocks[i].size];
    for (const j of some) {
      if (blocks[j].size >= left) cells[j] = rest;
      else [cells[j], rest] = split(rest, blocks[j].size / left, turn);
      left -= blocks[j].size;
      if (cells[j].length < 3 || rest.length < 3) break;
    }
  }
  return cells.map((cell) => (cell !== null && cell.length >= 3 ? cell : null));
}

/** From where to where a convex polygon is at a height. */
function chordOf(polygon, y) {
  const found = [];
  polygon.forEach(([u, v], i) => {
    const [s, t] = polygon[(i + 1) % polygon.length];
    if (v > y !== t > y) found.push(u + ((s - u) * (y - v)) / (t - v));
  });
  return found.length === 0 ? [0, 0] : [Math.min(...found), Math.max(...found)];
}

/** A polygon in the middle of a picture, as large as fits. */
function fitted(polygon, width, height) {
  const [left, right] = extentOf(polygon, [1, 0]);
  const [top, bottom] = extentOf(polygon, [0, 1]);
  const scale = Math.min(width / (right - left), height / (bottom - top));
  const [x, y] = [(width - scale * (right - left)) / 2, (height - scale * (bottom - top)) / 2];
  return polygon.map(([u, v]) => [x + scale * (u - left), y + scale * (v - top)]);
}

function isInside(polygon, x, y) {
  let inside = false;
  polygon.forEach(([u, v], i) => {
    const [s, t] = polygon[(i + 1) % polygon.length];
    if (v > y !== t > y && x < u + ((s - u) * (y - v)) / (t - v)) inside = !inside;
  });
  return inside;
}

/** A map that is drawn again and again, on a canvas, and keeps its shape. */
class TreeMap {
  constructor() {
    this.memory = new Map();
    this.shapes = new Map(); // block -> its cell when it was last seen
    this.blocks = [];
    this.cells = [];
    this.named = []; // blocks with a name on the map, the largest first
  }

  /** Lay out blocks, of which the first fills the picture. */
  place(blocks, whole, width, height) {
    const shape = whole ? undefined : this.shapes.get(blocks[0].key);
    const rectangle = [[0, 0], [width, 0], [width, height], [0, height]];
    this.blocks = blocks;
    this.cells = cellsOf(blocks, shape === undefined ? rectangle : fitted(shape, width, height), this.memory);
    if (this.shapes.size > 50_000) this.shapes.clear();
    blocks.forEach((block, i) => {
      if (this.cells[i] !== null) this.shapes.set(block.key, this.cells[i]);
    });
  }

  /** The innermost block at a place that has a name there; else the innermost one. -1 outside. */
  at(x, y) {
    let [found, named] = [-1, -1];
    this.cells.forEach((cell, i) => {
      if (cell === null || !isInside(cell, x, y)) return;
      found = i;
      if (this.named.includes(i)) named = i;
    });
    return named > 0 ? named : found;
  }

  trace(pen, i) {
    pen.beginPath();
    for (const [x, y] of this.cells[i]) pen.lineTo(x, y);
    pen.closePath();
  }

  /** paint(i), name(i) and isHead(i) say how block i looks, what it is called, if it is a cluster. */
  draw(pen, { paint, name, isHead, paper, ink }) {
    const depth = [];
    const hasParts = new Set();
    this.blocks.forEach((block, i) => {
      depth[i] = block.parent < 0 ? 0 : depth[block.parent] + 1;
      if (this.cells[i] !== null && block.parent >= 0) hasParts.add(block.parent);
    });
    this.blocks.forEach((block, i) => {
      if (this.cells[i] === null) return;
      this.trace(pen, i);
      pen.fillStyle = paint(i);
      pen.fill();
      pen.strokeStyle = paper;
      pen.lineWidth = isHead(i) ? 3 : Math.max(0.4, 2 / (1 + depth[i] / 2));
      pen.stroke();
    });
    this.blocks.forEach((block, i) => {
      if (this.cells[i] !== null && !hasParts.has(i)) this.drawPoints(pen, i, ink(paint(i)));
    });
    this.drawNames(pen, name, isHead, (i) => ink(paint(i)));
  }

  /** Points of a cell that has no parts, in a spiral: a picture of how many, not of where. */
  drawPoints(pen, i, color) {
    const cell = this.cells[i];
    const [x, y] = middleOf(cell);
    const many = Math.min(this.blocks[i].size, DOTS, Math.floor(areaOf(cell) / ROOM_OF_DOT));
    const room = 0.4 * Math.sqrt(areaOf(cell));
    pen.fillStyle = color;
    pen.globalAlpha = 0.35;
    for (let j = 0; j < many; j++) {
      const [far, angle] = [room * Math.sqrt((j + 0.5) / many), j * 2.399963];
      const [u, v] = [x + far * Math.cos(angle), y + far * Math.sin(angle)];
      if (many > 1 && !isInside(cell, u, v)) continue;
      pen.beginPath();
      pen.arc(u, v, 1.3, 0, 2 * Math.PI);
      pen.fill();
    }
    pen.globalAlpha = 1;
  }

  /** Names of large cells first, and of others where there is room. */
  drawNames(pen, name, isHead, ink) {
    const taken = [];
    this.named = [];
    const order = this.blocks.map((_, i) => i).filter((i) => this.cells[i] !== null && name(i) !== null);
    order.sort((a, b) => isHead(b) - isHead(a) || this.blocks[b].size - this.blocks[a].size || a - b);
    for (const i of order) {
      const cell = this.cells[i];
      const area = areaOf(cell);
      if (area < (isHead(i) ? 1500 : 5000)) continue;
      const height = isHead(i) ? Math.min(22, 9 + Math.sqrt(area) / 30) : 11;
      pen.font = `${isHead(i) ? "600 " : ""}${height}px system-ui, sans-serif`;
      const y = middleOf(cell)[1];
      for (const down of [0, height + 4, -height - 4]) {
        const [low, high] = chordOf(cell, y + down);
        const text = shortened(pen, name(i), high - low - 12);
        if (text === "" || (!isHead(i) && text.length < 8)) continue;
        const half = pen.measureText(text).width / 2;
        const x = (low + high) / 2;
        const box = [x - half, y + down - height / 2, x + half, y + down + height / 2];
        if (taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
        taken.push(box);
        this.named.push(i);
        pen.fillStyle = ink(i);
        pen.textBaseline = "middle";
        pen.fillText(text, box[0], y + down);
        break;
      }
    }
    pen.font = "12px system-ui, sans-serif";
  }
}

/** As much of a text as there is room for; nothing if that is less than four letters. */
function shortened(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return low < 4 ? "" : `${text.slice(0, low)}…`;
}
