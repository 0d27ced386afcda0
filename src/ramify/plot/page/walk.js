// SPDX-License-Identifier: BSD-3-Clause
// walk.js: look inside a block, and go back: by mouse, by keys.

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
  if (picture === "map") {
    const at = treeMap.at(x, event.clientY - frame.top);
    return at < 0 ? undefined : { i: mapped[at] };
  }
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
