// SPDX-License-Identifier: BSD-3-Clause
// explore.js: draw a tree as an icicle, and let a person walk in it.
//
//   block   a rectangle: node top[i] down to the merge last[i] where it falls into
//           the blocks child[i], the larger, and child[i] + 1
//   focus   the block that is as wide as the picture
//   chosen  the block whose details are shown
//   k       number of clusters; merge v is undone by the cut if v >= 2n - k
//
// Names come from strangers: they enter the page as text only, never as markup.
"use strict";
(() => {
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
    if (size(i) === 1) text = clip(label(i), room);
    else text = [full(i), count(size(i))].find(fits);
    if (text === undefined) return;
    pen.fillStyle = ink;
    pen.fillText(text, x + 4, middle);
  }

  function clip(text, room) {
    if (pen.measureText(text).width <= room) return text;
    let low = 0;
    let high = text.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (pen.measureText(text.slice(0, middle) + "…").width <= room) low = middle;
      else high = middle - 1;
    }
    return low < 4 ? "" : text.slice(0, low) + "…";
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
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    motion = null;
    if (!animate || still || before.size === 0) {
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

  // --- walking ------------------------------------------------------------------------

  function zoom(i) {
    focus = i;
    hovered = -1;
    choose(i, null);
    writeCrumbs();
    show(true);
    keepView();
  }

  function choose(i, point) {
    byId("tip").hidden = true;
    chosen = i;
    found = point;
    writeDetails();
    const height = child[i] < 0 && size(i) === 1 ? "" : `, height ${number(data.height[i])}`;
    byId("says").textContent = `${label(i)}: ${points(size(i))}${height}`;
    keepView();
  }

  function zoomOut() {
    if (data.parent[focus] >= 0) zoom(data.parent[focus]);
  }

  /** Show the block that holds a point. */
  function visit(at) {
    const i = owner[at];
    focus = child[i] < 0 && data.parent[i] >= 0 ? data.parent[i] : i;
    choose(i, pointAt(at));
    writeCrumbs();
    show(true);
  }

  function neighbour(step) {
    const here = shown.find((block) => block.i === chosen);
    if (here === undefined) return;
    const row = shown.filter((block) => block.row === here.row).sort((a, b) => a.x - b.x);
    const next = row[row.indexOf(here) + step];
    if (next !== undefined) choose(next.i, null);
  }

  function down() {
    const here = shown.find((block) => block.i === chosen);
    const last = here === undefined ? chosen : here.last;
    if (child[last] < 0) return;
    if (here === undefined || here.more) zoom(chosen);
    choose(child[last], null);
  }

  function up() {
    const here = shown.find((block) => block.i === chosen);
    if (chosen === focus || here === undefined) {
      zoomOut();
      return;
    }
    // The block above may stand for several that look like one.
    let above = data.parent[chosen];
    while (above !== focus && !shown.some((block) => block.i === above)) above = data.parent[above];
    choose(above, null);
  }

  const keys = {
    ArrowLeft: () => neighbour(-1),
    ArrowRight: () => neighbour(1),
    ArrowDown: down,
    ArrowUp: up,
    Enter: () => zoom(chosen),
    " ": () => zoom(chosen),
    Escape: zoomOut,
    Backspace: zoomOut,
    Home: () => zoom(0),
  };

  canvas.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
    if (motion === null) draw();
  });

  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target === byId("search")) return;
    event.preventDefault();
    byId("search").focus();
  });

  function blockAt(event) {
    const frame = canvas.getBoundingClientRect();
    const x = event.clientX - frame.left;
    const row = Math.floor((event.clientY - frame.top) / rowHeight);
    return shown.find((block) => block.row === row && block.x <= x && x < block.x + block.w);
  }

  canvas.addEventListener("click", (event) => {
    const block = blockAt(event);
    if (block === undefined) return;
    if (block.i === focus) zoomOut();
    else if (size(block.i) === 1) {
      choose(block.i, null);
      draw();
    } else zoom(block.i);
  });

  canvas.addEventListener("mousemove", (event) => {
    const block = blockAt(event);
    const i = block === undefined ? -1 : block.i;
    const tip = byId("tip");
    tip.hidden = i < 0;
    if (i >= 0) {
      if (i !== hovered) {
        const hit = lit === null || size(i) === 1 ? "" : ` · ${count(lit[i])} found`;
        tip.textContent = (size(i) === 1 ? label(i) : full(i)) + hit;
      }
      const frame = canvas.getBoundingClientRect();
      const x = event.clientX - frame.left;
      const left = Math.min(x + 14, canvas.clientWidth - tip.offsetWidth - 2);
      tip.style.left = `${Math.max(left, 0)}px`;
      tip.style.top = `${event.clientY - frame.top + 18}px`;
    }
    if (i !== hovered) {
      hovered = i;
      if (motion === null) draw();
    }
  });

  canvas.addEventListener("mouseleave", () => {
    byId("tip").hidden = true;
    hovered = -1;
    if (motion === null) draw();
  });

  // --- the page around the picture --------------------------------------------------------

  function make(tag, text, className) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className !== undefined) element.className = className;
    return element;
  }

  function writeCrumbs() {
    const crumbs = byId("crumbs");
    const keep = crumbs.contains(document.activeElement);
    const blocks = way(focus);
    const long = blocks.length > 6;
    const some = long ? [blocks[0], ...blocks.slice(-4)] : blocks;
    crumbs.replaceChildren();
    some.forEach((i, at) => {
      if (at > 0) crumbs.append(make("span", long && at === 1 ? "› … ›" : "›", "aside"));
      const button = make("button", label(i));
      button.type = "button";
      button.addEventListener("click", () => zoom(i));
      if (i === focus) button.setAttribute("aria-current", "true");
      crumbs.append(button);
      if (i === focus && keep) button.focus();
    });
  }

  /** The turns from the root to a block's node: 0 to the first child, 1 to the second. */
  function path(i) {
    let turns = "";
    for (const at of way(i)) {
      turns += data.turn[at];
      if (at !== i) turns += data.run[at];
      if (turns.length > TURNS) break;
    }
    const all = data.depth[i];
    return all <= TURNS ? turns : `${turns.slice(0, TURNS)}… (${count(all)} turns)`;
  }

  function writeDetails() {
    const i = chosen;
    const box = byId("details");
    box.replaceChildren(make("h2", label(i)));
    if (found !== null && size(i) > 1) {
      box.append(make("p", `${pointName(found)} (point ${found}) is in here`, "found"));
    }
    const facts = make("dl");
    const fact = (name, value, className) => {
      facts.append(make("dt", name), make("dd", value, className));
    };
    if (size(i) === 1) fact("point", String(data.top[i]));
    else {
      const share = (100 * size(i)) / n;
      fact("points", `${count(size(i))} (${share < 0.1 ? "< 0.1" : share.toFixed(1)} %)`);
      fact("height", number(data.height[i]));
      fact("node", String(data.top[i]));
    }
    const head = cluster[i];
    const which = head < 0 ? "" : String(numbers.get(head));
    fact("cluster", head < 0 ? "above the cut" : head === i ? `${which}, is one` : `${which}, of ${points(size(head))}`);
    for (const column of data.columns) fact(column.name, said(column, i));
    fact("depth", count(data.depth[i]));
    if (data.depth[i] > 0) fact("path", path(i), "code");
    const lost = child[i] < 0 ? 0 : size(i) - size(child[i]) - size(child[i] + 1);
    if (lost > 0) fact("sheds", `${points(lost)}, a few at a time`);
    box.append(facts);
    if (size(i) > 1) writeMembers(box, i);
  }

  function writeMembers(box, i) {
    const all = size(i) <= data.candidates;
    const heading = data.nearest ? (all ? "Nearest to its mean" : "Near its mean") : "Some of its points";
    const list = make("ol", undefined, "members");
    for (const p of data.members[i]) {
      const item = make("li");
      const name = pointName(p);
      item.append(make("span", name));
      if (names !== null && name !== `point ${p}`) item.append(make("span", String(p), "aside"));
      list.append(item);
    }
    box.append(make("h3", heading), list);
    writeAllMembers(box, i);
  }

  /** What a column says of a block. */
  function said(column, i) {
    const value = column.values[i];
    if (value === null) return "none";
    if (column.kind === "number") return (size(i) > 1 ? "mean " : "") + number(value);
    const share = size(i) > 1 ? ` (${Math.round(100 * column.share[i])} %)` : "";
    return column.words[value] + share;
  }

  /** Places in the index of all points of a block, in order of arrival. */
  function inside(i) {
    const within = new Uint8Array(N);
    within[i] = 1;
    for (let j = i + 1; j < N; j++) if (within[data.parent[j]]) within[j] = 1;
    const places = [];
    for (let at = 0; at < owner.length; at++) if (within[owner[at]]) places.push(at);
    return places;
  }

  function writeAllMembers(box, i) {
    const more = make("details");
    more.append(make("summary", `All ${points(size(i))}`));
    more.addEventListener("toggle", () => {
      if (!more.open || more.children.length > 1) return;
      const places = inside(i);
      const list = make("ol", undefined, "members");
      for (const at of places.slice(0, LISTED)) {
        const item = make("li");
        item.append(make("span", pointName(pointAt(at))));
        if (names !== null) item.append(make("span", String(pointAt(at)), "aside"));
        list.append(item);
      }
      more.append(list);
      if (size(i) > LISTED) more.append(make("p", "and more, in the csv", "aside"));
    });
    const buttons = make("div", undefined, "row");
    buttons.append(saver("Download these as csv", () => inside(i), `points-of-node-${data.top[i]}.csv`));
    box.append(more, buttons);
  }

  const cell = (text) => (/[",\r\n]|^ |^$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  /** A table of points with the numbers of their clusters, as `ramify cut` writes it. */
  function table(places) {
    const lines = [names === null ? "point,label" : "point,name,label"];
    for (const at of places) {
      const head = cluster[owner[at]];
      const name = names === null ? [] : [cell(names[at])];
      lines.push([pointAt(at), ...name, head < 0 ? "" : numbers.get(head)].join(","));
    }
    return lines.join("\n") + "\n";
  }

  /** A button that saves a table. */
  function saver(text, places, name) {
    const button = make("button", text);
    button.type = "button";
    if (covered < n) button.title = `of the ${count(covered)} points that this page knows`;
    button.addEventListener("click", () => {
      const link = make("a");
      link.href = URL.createObjectURL(new Blob([table(places())], { type: "text/csv" }));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    return button;
  }

  function writeClusters() {
    const heads = [];
    for (let i = 0; i < N; i++) if (cluster[i] === i) heads.push(i);
    heads.sort((a, b) => size(b) - size(a) || a - b);
    const box = byId("clusters");
    box.replaceChildren(make("h2", heads.length === 1 ? "1 cluster" : `${count(heads.length)} clusters`));
    const list = make("ul");
    for (const i of heads.slice(0, FOUND)) {
      const button = make("button");
      button.type = "button";
      const swatch = make("span", undefined, "swatch");
      swatch.style.background = color(i);
      button.append(swatch);
      button.append(make("span", String(numbers.get(i)), "number"));
      button.append(make("span", label(i), "label"));
      if (full(i) !== label(i)) button.append(make("span", count(size(i)), "aside"));
      button.addEventListener("click", () => zoom(i));
      const item = make("li");
      item.append(button);
      list.append(item);
    }
    box.append(list);
    const others = heads.slice(FOUND);
    if (others.length > 0) {
      const rest = others.reduce((sum, i) => sum + size(i), 0);
      box.append(make("p", `and ${count(others.length)} more with ${points(rest)}`, "aside"));
    }
    const all = () => Array.from(owner, (_, at) => at);
    const buttons = make("div", undefined, "row");
    buttons.append(saver("Download all labels as csv", all, `labels-${k}.csv`));
    box.append(buttons);
  }

  function setK(value) {
    k = value;
    byId("k-says").textContent = String(k);
    slider.value = String(k);
    cut();
    writeClusters();
    writeDetails();
    if (motion === null) draw();
    keepView();
  }

  function setBy(value) {
    by = value;
    byId("by").value = String(by);
    writeLegend();
    if (motion === null) draw();
    keepView();
  }

  /** What the colours of a column mean. */
  function writeLegend() {
    const box = byId("legend");
    box.hidden = by < 0;
    if (by < 0) return;
    const column = data.columns[by];
    box.replaceChildren(make("h2", column.name));
    if (column.kind === "number") {
      const bar = make("div", undefined, "ramp");
      bar.style.background = `linear-gradient(to right, ${RAMP.join(", ")})`;
      const ends = make("div", undefined, "ends aside");
      ends.append(make("span", number(column.low)), make("span", number(column.high)));
      box.append(bar, ends, make("p", "Means of blocks.", "aside"));
      return;
    }
    const list = make("ul");
    column.words.forEach((word, value) => {
      const item = make("li");
      const swatch = make("span", undefined, "swatch");
      swatch.style.background = wordColor(column, value);
      item.append(swatch, make("span", word));
      list.append(item);
    });
    box.append(list, make("p", "What most points of a block have; the paler, the fewer.", "aside"));
  }

  const slider = byId("k");
  slider.max = String(data.max_k);
  slider.value = String(k);
  slider.addEventListener("input", () => setK(Number(slider.value)));

  const chooser = byId("by");
  chooser.append(new Option("cluster", "-1"));
  data.columns.forEach((column, at) => chooser.append(new Option(column.name, String(at))));
  chooser.addEventListener("change", () => setBy(Number(chooser.value)));
  chooser.parentElement.hidden = data.columns.length === 0;

  // --- search ------------------------------------------------------------------------------

  const box = byId("search");
  const list = byId("results");
  let hits = [];
  let picked = -1;
  let waiting = 0;
  let query = ""; // what is lit

  function writeResults() {
    list.replaceChildren();
    const typed = box.value.trim();
    if (hits.length > 0) {
      const some = hits.length > FOUND ? `; the best ${FOUND}` : "";
      const head = make("li", `${points(hits.length)} found${some}`, "count aside");
      head.setAttribute("role", "presentation");
      list.append(head);
    }
    hits.slice(0, FOUND).forEach((at, order) => {
      const p = pointAt(at);
      const item = make("li");
      item.id = `hit-${order}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", String(order === picked));
      item.append(make("span", pointName(p)));
      if (names !== null) item.append(make("span", String(p), "aside"));
      item.addEventListener("mousedown", (event) => event.preventDefault()); // keep the focus
      item.addEventListener("click", () => take(order));
      list.append(item);
    });
    if (hits.length === 0 && typed !== "") list.append(make("li", "nothing found", "nothing aside"));
    list.hidden = typed === "";
    box.setAttribute("aria-expanded", String(!list.hidden));
    if (picked >= 0) box.setAttribute("aria-activedescendant", `hit-${picked}`);
    else box.removeAttribute("aria-activedescendant");
  }

  function look() {
    clearTimeout(waiting);
    waiting = 0;
    hits = search(box.value);
    picked = hits.length > 0 ? 0 : -1;
    query = box.value.trim();
    writeResults();
    light(hits);
    keepView();
  }

  function take(order) {
    const at = hits[order];
    if (at === undefined) return;
    close();
    box.value = pointName(pointAt(at));
    visit(at);
  }

  function close() {
    list.hidden = true;
    box.setAttribute("aria-expanded", "false");
  }

  box.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, 80);
  });
  box.addEventListener("blur", close);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      if (list.hidden || waiting !== 0) look();
      take(picked);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      picked = Math.min(Math.max(picked + step, 0), Math.min(hits.length, FOUND) - 1);
      writeResults();
    } else if (event.key === "Escape") close();
  });

  // --- colours of the page ---------------------------------------------------------------------

  const themes = ["auto", "light", "dark"];
  let theme = 0;
  function setTheme() {
    const name = themes[theme];
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    byId("theme").textContent = `Colours: ${name}`;
    if (motion === null) draw();
  }
  byId("theme").addEventListener("click", () => {
    theme = (theme + 1) % themes.length;
    setTheme();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());

  // --- the view in the address, to be kept or sent -------------------------------------------

  const blockOf = new Map(data.top.map((node, i) => [node, i]));
  let ready = false; // not before the address has been read

  function keepView() {
    if (!ready) return;
    const view = new URLSearchParams();
    view.set("k", String(k));
    if (focus !== 0) view.set("in", String(data.top[focus]));
    if (chosen !== focus) view.set("at", String(data.top[chosen]));
    if (by >= 0) view.set("by", data.columns[by].name);
    if (query !== "") view.set("find", query);
    try {
      history.replaceState(null, "", `#${view}`);
    } catch (error) {
      ready = false; // a frame of a notebook has no address
    }
  }

  function readView() {
    ready = false;
    const view = new URLSearchParams(location.hash.slice(1));
    const asked = Number(view.get("k"));
    if (Number.isInteger(asked) && asked >= 1 && asked <= data.max_k) setK(asked);
    setBy(data.columns.findIndex((column) => column.name === view.get("by")));
    const block = (name, other) => blockOf.get(Number(view.get(name) ?? NaN)) ?? other;
    focus = block("in", 0);
    choose(block("at", focus), null);
    writeCrumbs();
    box.value = view.get("find") ?? "";
    query = box.value.trim();
    hits = search(query);
    light(hits);
    ready = true;
  }

  window.addEventListener("hashchange", () => {
    readView();
    show(true);
  });

  // --- begin ---------------------------------------------------------------------------------------

  box.placeholder = names === null ? "point number" : "name or point number";
  byId("note").textContent = [
    N < 2 * n - 1 ? `${count(N)} of the tree's ${count(2 * n - 1)} nodes are here; smaller ones are left out.` : "",
    covered < n ? `Search covers ${count(covered)} of ${count(n)} points.` : "",
  ].join(" ");
  setK(k);
  readView();
  setTheme();
  new ResizeObserver(() => show(false)).observe(canvas);
  show(false);
})();
