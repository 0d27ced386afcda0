// SPDX-License-Identifier: BSD-3-Clause
// data.js: the tree of the page to explore, its names, and what is chosen.
//
//   block   a rectangle: node top[i] down to the merge last[i] where it falls into
//           the blocks child[i], the larger, and child[i] + 1
//   focus   the block that is as wide as the picture
//   chosen  the block whose details are shown
//   k       number of clusters; merge v is undone by the cut if v >= 2n - k
//
// The parts of a script are joined in one function (_page.py), so that they share these names.
// Names come from strangers: they enter the page as text only, never as markup.

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const n = data.n;
const N = data.top.length;
const canvas = byId("icicle");
const pen = canvas.getContext("2d");

const NARROWEST = 1; // pixels; a branch that only loses less stays one block
const ROW = { least: 24, most: 46 }; // pixels
const STUB = 5; // pixels of the pale stubs that say: there is more below
const MOVE = 240; // milliseconds
const FOUND = 12; // search results, and clusters in the list
const TURNS = 64; // of a path that are spelled out
const LISTED = 500; // members of a block that are listed; the csv has all
const DIM = 0.22; // how much is seen of blocks without a hit
const RAMP = ["#3b528b", "#21918c", "#5ec962", "#fde725"]; // of numbers, low to high

// --- the tree -----------------------------------------------------------------

const child = new Int32Array(N).fill(-1);
for (let i = N - 1; i > 0; i--) child[data.parent[i]] = i; // the larger comes first

// When a cluster is cut in two, the larger part keeps the colour: moving the slider
// by one changes one colour. The merge that is undone r-th names the new one.
const tint = new Int32Array(N);
for (let i = 0; i < N; i++) {
  if (child[i] < 0) continue;
  tint[child[i]] = tint[i];
  tint[child[i] + 1] = 2 * n - 1 - data.last[i];
}

const count = (x) => x.toLocaleString("en-US");
const points = (x) => (x === 1 ? "1 point" : `${count(x)} points`);
const size = (i) => data.size[i];
const number = (x) => String(Number(x.toPrecision(4)));

// --- names and the index of points -----------------------------------------------

const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const integers = (text, width) =>
  width === 2 ? new Uint16Array(bytes(text).buffer) : new Uint32Array(bytes(text).buffer);
const owner = integers(data.index.owner, data.index.width);
const indexed = data.index.points === null ? null : integers(data.index.points, 4);
const names = data.index.names;
const covered = indexed === null ? n : indexed.length; // points that the index has

/** Where point p is in the index, or -1. */
function place(p) {
  if (indexed === null) return p < n ? p : -1;
  let low = 0;
  let high = indexed.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (indexed[middle] < p) low = middle + 1;
    else high = middle;
  }
  return indexed[low] === p ? low : -1;
}

const pointAt = (at) => (indexed === null ? at : indexed[at]);

function pointName(p) {
  const at = names === null ? -1 : place(p);
  return at < 0 ? `point ${p}` : names[at];
}

const called = new Map(data.called); // names that people gave

/** What a block is called: by people, its point, after one of its points, or by its size. */
function label(i) {
  if (called.has(i)) return called.get(i);
  if (size(i) === 1) return pointName(data.top[i]);
  if (i === 0) return `all ${points(n)}`;
  if (names === null) return points(size(i));
  return `${data.nearest ? "near" : "with"} ${pointName(data.members[i][0])}`;
}

/** The same with its size, where the label does not say it. */
function full(i) {
  const plain = names === null || i === 0;
  return plain && !called.has(i) ? label(i) : `${label(i)} · ${count(size(i))}`;
}

const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
let folded = null; // names as they are compared, made by the first search

/** How well a name fits: the name itself, its beginning, a word's beginning, anywhere. */
function rank(name, wanted) {
  const where = name.indexOf(wanted);
  if (where < 0) return -1;
  if (where === 0) return name.length === wanted.length ? 0 : 1;
  return new RegExp(`[^\\p{L}\\p{N}]${escaped(wanted)}`, "u").test(name) ? 2 : 3;
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");

/** Places in the index of all points that fit a query, the best first. */
function search(query) {
  const wanted = fold(query.trim());
  if (wanted === "") return [];
  const groups = [[], [], [], []];
  const number = /^\d+$/.test(wanted) ? place(Number(wanted)) : -1;
  if (number >= 0) groups[0].push(number);
  if (names !== null) {
    if (folded === null) folded = names.map(fold);
    for (let at = 0; at < folded.length; at++) {
      const group = rank(folded[at], wanted);
      if (group >= 0 && at !== number) groups[group].push(at);
    }
    for (const group of groups.slice(1)) group.sort((a, b) => folded[a].length - folded[b].length || a - b);
  }
  return groups.flat();
}

// --- state ----------------------------------------------------------------------

let picture = "icicle"; // or "map"
let focus = 0;
let chosen = 0;
let hovered = -1;
let found = null; // the point last searched for
let k = data.k;
let by = -1; // column that blocks are coloured by, -1 for clusters
let lit = null; // how many hits of the search each block has
let numbers = new Map(); // of clusters, as a cut numbers them, by the block at their head
let cluster = new Int32Array(N); // block at the head of the block's cluster, -1 above the cut
let shown = []; // what is drawn: {i, last, x, w, row}
let rowHeight = ROW.least;
let motion = null; // an animation that is under way

function cut() {
  const above = 2 * n - k;
  for (let i = 0; i < N; i++) {
    const p = data.parent[i];
    if (child[i] >= 0 && data.last[i] >= above) cluster[i] = -1;
    else cluster[i] = p < 0 || cluster[p] < 0 ? i : cluster[p];
  }
  // In the order of their first points, as every cut numbers them.
  const heads = [];
  for (let i = 0; i < N; i++) if (cluster[i] === i) heads.push(i);
  heads.sort((a, b) => data.first[a] - data.first[b]);
  numbers = new Map(heads.map((head, number) => [head, number]));
}

/** Count the hits of a search in every block. */
function light(places) {
  lit = null;
  if (places.length > 0) {
    lit = new Int32Array(N);
    for (const at of places) lit[owner[at]] += 1;
    for (let i = N - 1; i > 0; i--) lit[data.parent[i]] += lit[i];
  }
  if (motion === null) draw();
}

const color = (head) => data.colors[tint[head] % data.colors.length];

/** Blocks from the root to i. */
function way(i) {
  const blocks = [];
  for (let at = i; at >= 0; at = data.parent[at]) blocks.push(at);
  return blocks.reverse();
}
