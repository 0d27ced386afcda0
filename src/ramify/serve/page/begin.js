// SPDX-License-Identifier: BSD-3-Clause
// begin.js: colours of the page, the view in the address, and the beginning.

// --- colours of the page, and the view in the address --------------------------------------------

const themes = ["auto", "light", "dark"];
let theme = 0;
function setTheme() {
  const now = themes[theme];
  if (now === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = now;
  byId("theme").textContent = `Colours: ${now}`;
  draw();
}
byId("theme").addEventListener("click", () => {
  theme = (theme + 1) % themes.length;
  setTheme();
  drawEras();
});

function setPicture(wantedPicture) {
  picture = wantedPicture === "map" ? "map" : "icicle";
  byId("picture").textContent = `Picture: ${picture}`;
  if (outline !== null) show();
}
byId("picture").addEventListener("click", () => {
  setPicture(picture === "map" ? "icicle" : "map");
  keepView();
});

function keepView() {
  const view = new URLSearchParams({ tree: name, k: String(k) });
  if (focus !== null) view.set("in", String(focus));
  if (picture === "map") view.set("picture", "map");
  history.replaceState(null, "", `#${view}`);
}

// --- begin ----------------------------------------------------------------------------------------

function open(wantedName) {
  name = wantedName;
  focus = chosen = outline = null;
  [eras, erasOf, chosenEra] = [[], "", null];
  byId("timeline").hidden = true;
  samples = [];
  glow.clear();
  load();
  follow();
}

byId("tree").addEventListener("change", () => {
  open(byId("tree").value);
  keepView();
});

async function begin() {
  const found = (await ask("trees")).trees.map((tree) => tree.name);
  const select = byId("tree");
  select.replaceChildren();
  for (const one of found) element("option", one, select).value = one;
  const view = new URLSearchParams(location.hash.slice(1));
  const asked = Number(view.get("k"));
  if (Number.isInteger(asked) && asked >= 1 && asked <= 60) {
    k = asked;
    byId("k").value = String(k);
    byId("k-says").textContent = String(k);
  }
  setPicture(view.get("picture"));
  if (found.length === 0) {
    draw();
    setTimeout(begin, 3000);
    return;
  }
  open(found.includes(view.get("tree")) ? view.get("tree") : found[0]);
  select.value = name;
  if (view.has("in") && Number.isInteger(Number(view.get("in")))) zoom(Number(view.get("in")));
}

setTheme();
new ResizeObserver(() => {
  if (outline !== null) show();
  else draw();
}).observe(canvas);
begin().catch(() => draw());
sample();
