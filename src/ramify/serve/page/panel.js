// SPDX-License-Identifier: BSD-3-Clause
// panel.js: what stands around the picture: path, details, clusters.

// --- words ---------------------------------------------------------------------------------

function element(tag, text, parent) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

function writeNote() {
  const note = byId("note");
  note.replaceChildren();
  const live = note.dataset.live === "yes";
  element("span", "", note).className = live ? "dot on" : "dot";
  const state = live ? "live" : "not connected";
  element("span", outline === null ? state : `${state} · version ${count(outline.version)} · ${leaves(outline.leaves)}`, note);
}

function textOf(point) {
  const { payload } = point;
  if (typeof payload === "string") return payload;
  if (payload && typeof payload === "object") {
    const text = payload.title ?? payload.name ?? payload.text ?? payload.subject;
    return typeof text === "string" ? text : JSON.stringify(payload);
  }
  return point.id === null ? `point ${point.number}` : String(point.id);
}

/** What a cluster is called, alike in the picture, the list and beside it. */
function called(cluster) {
  if (cluster.name !== null) return cluster.name;
  const some = words.get(cluster.node);
  if (some) return some;
  return cluster.representatives.length > 0 ? textOf(cluster.representatives[0]) : `node ${cluster.node}`;
}

/** The cluster that a block is the head of, or undefined. */
function headedBy(block) {
  const above = block.parent < 0 ? null : outline.blocks[block.parent].cluster;
  if (block.cluster === null || above === block.cluster) return undefined;
  return clusters.find((one) => one.node === block.cluster);
}

/** What a block is called; nothing above the cut, where no text stands for all that is below. */
function titleOf(block) {
  if (block.name !== null) return block.name;
  const cluster = headedBy(block);
  if (cluster !== undefined) return called(cluster);
  return block.cluster === null && block.size > 1 ? "" : block.title;
}

async function choose(id) {
  chosen = id;
  draw();
  const box = byId("details");
  try {
    const node = await ask(here(`/nodes/${id}?members=12`));
    if (chosen !== id) return;
    const wasOpen = box.querySelector("details")?.open ?? false;
    box.replaceChildren();
    const block = outline?.blocks.find((one) => one.id === id);
    const cluster = block === undefined ? undefined : headedBy(block);
    const title = node.name ?? (cluster === undefined ? null : called(cluster));
    element("h2", title ?? (id < 0 ? textOf(node.members[0]) : leaves(node.size)), box);
    const facts = element("dl", undefined, box);
    const pairs = [["Points", count(node.size)], ["Node", String(id)], ["Height", number(node.height)], ["Depth", String(node.path.length - 1)]];
    for (const [term, value] of pairs) {
      element("dt", term, facts);
      element("dd", value, facts);
    }
    element("h3", "Examples", box);
    list(node.representatives, box);
    if (node.size > 5) {
      const more = element("details", undefined, box);
      element("summary", node.members.length < node.leaves ? `Members: ${count(node.members.length)} of ${count(node.leaves)}` : "Members", more);
      list(node.members, more);
      more.open = wasOpen && box.dataset.node === String(id);
    }
    box.dataset.node = String(id);
    byId("says").textContent = `${leaves(node.size)}, height ${number(node.height)}`;
  } catch (error) {
    if (chosen === id) {
      box.replaceChildren();
      element("h2", "This node is no more", box);
    }
  }
}

function list(points, box) {
  const all = element("ol", undefined, box);
  all.className = "members";
  for (const point of points) {
    const item = element("li", undefined, all);
    element("span", textOf(point), item);
    const aside = element("span", point.id === null ? `#${point.number}` : String(point.id), item);
    aside.className = "aside";
  }
}

function writeClusters() {
  const box = byId("clusters");
  box.replaceChildren();
  const some = clusters.slice(0, 15);
  const title = some.length < clusters.length ? `${some.length} largest of ${count(clusters.length)} clusters` : `${count(some.length)} clusters`;
  element("h3", title, box);
  const all = element("ol", undefined, box);
  for (const cluster of some) {
    const button = element("button", undefined, element("li", undefined, all));
    button.type = "button";
    const swatch = element("span", "", button);
    swatch.className = "swatch";
    swatch.style.background = color(cluster.node);
    element("span", called(cluster), button).className = "label";
    element("span", count(cluster.size), button).className = "aside";
    button.addEventListener("click", () => zoom(cluster.node));
  }
}

function writeCrumbs() {
  const nav = byId("crumbs");
  nav.replaceChildren();
  const path = outline.path;
  const some = path.length > 7 ? [...path.slice(0, 2), ...path.slice(-5)] : path;
  some.forEach((id, i) => {
    const text = id === path[0] ? `All ${leaves(outline.leaves)}` : id === path.at(-1) ? leaves(outline.blocks[0].size) : `node ${id}`;
    const button = element("button", text, nav);
    button.type = "button";
    if (id === path.at(-1)) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => zoom(id === path[0] ? null : id));
    if (path.length > 7 && i === 1) element("span", "…", nav);
  });
}
