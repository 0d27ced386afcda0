// SPDX-License-Identifier: BSD-3-Clause
// walk.js: look inside a block, and go back: by mouse, by keys.

// --- walking -------------------------------------------------------------------------------

function zoom(id) {
  focus = id;
  byId("tip").hidden = true;
  choose(id ?? outline?.path[0]);
  keepView();
  return load();
}

function zoomOut() {
  if (outline === null || outline.path.length < 2) return;
  const above = outline.path.at(-2);
  zoom(outline.path.length === 2 ? null : above);
}

function at(event) {
  const box = canvas.getBoundingClientRect();
  if (picture === "map") {
    const i = treeMap.at(event.clientX - box.left, event.clientY - box.top);
    return i < 0 ? null : { block: outline.blocks[i], row: i === 0 ? 0 : 1 };
  }
  const x = event.clientX - box.left;
  const row = Math.floor((event.clientY - box.top) / rowHeight);
  return shown.find((one) => one.row === row && x >= one.x && x < one.x + one.w) ?? null;
}

canvas.addEventListener("click", (event) => {
  const one = at(event);
  if (one === null) return;
  if (one.row === 0) zoomOut();
  else zoom(one.block.id);
});

canvas.addEventListener("mousemove", (event) => {
  const one = at(event);
  const tip = byId("tip");
  tip.hidden = one === null;
  if (one !== null) {
    tip.textContent = `${titleOf(one.block)}${titleOf(one.block) === "" ? "" : " · "}${leaves(one.block.size)}, height ${number(one.block.height)}`;
    const box = canvas.getBoundingClientRect();
    tip.style.left = `${Math.min(event.clientX - box.left + 12, box.width - 220)}px`;
    tip.style.top = `${event.clientY - box.top + 16}px`;
  }
  if (one !== hovered) {
    hovered = one;
    draw();
  }
});
canvas.addEventListener("mouseleave", () => {
  hovered = null;
  byId("tip").hidden = true;
  draw();
});

canvas.addEventListener("keydown", (event) => {
  const now = shown.findIndex((one) => one.block.id === chosen);
  const one = shown[now] ?? shown[0];
  if (one === undefined) return;
  const same = shown.filter((other) => other.row === one.row).sort((a, b) => a.x - b.x);
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  let next = null;
  if (step !== undefined) next = same[same.indexOf(one) + step] ?? null;
  else if (event.key === "ArrowDown") next = shown.find((other) => other.row === one.row + 1 && other.x + other.w > one.x && other.x < one.x + one.w) ?? null;
  else if (event.key === "ArrowUp") next = shown.find((other) => other.row === one.row - 1 && other.x <= one.x + 0.01 && other.x + other.w > one.x) ?? null;
  else if (event.key === "Enter") zoom(one.block.id);
  else if (event.key === "Escape") zoomOut();
  else if (event.key === "Home") zoom(null);
  else return;
  event.preventDefault();
  if (next !== null) choose(next.block.id);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !["INPUT", "SELECT"].includes(document.activeElement.tagName)) {
    event.preventDefault();
    byId("search").focus();
  }
});
