// SPDX-License-Identifier: BSD-3-Clause
// begin.js: colours of the page, the view in the address, and the beginning.

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
  if (picture === "map") view.set("picture", "map");
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
  setPicture(view.get("picture"));
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
