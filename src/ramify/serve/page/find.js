// SPDX-License-Identifier: BSD-3-Clause
// find.js: the slider of clusters, and the search.

// --- the slider and the search --------------------------------------------------------------

let sliding = 0;
byId("k").addEventListener("input", () => {
  k = Number(byId("k").value);
  byId("k-says").textContent = String(k);
  clearTimeout(sliding);
  sliding = setTimeout(() => {
    keepView();
    load();
  }, 80);
});

let marked = null; // the tree whose layers are marked

/** Marks on the slider: numbers of clusters that last, whatever least size of them one asks for. */
async function markLayers() {
  marked = name;
  const marks = byId("layers");
  marks.replaceChildren();
  if (outline.leaves < 3 || outline.leaves > MOST_TEXTS) return;
  const told = await ask(here("/layers"));
  for (const level of told.levels) element("option", undefined, marks).value = level.length;
}

const box = byId("search");
const results = byId("results");
let hits = [];
let found = 0; // of which some are shown
let picked = -1;
let waiting = 0;

function close() {
  results.hidden = true;
  box.setAttribute("aria-expanded", "false");
}

async function look() {
  const query = box.value.trim();
  if (query === "") return close();
  const told = await ask(here(`/search?q=${encodeURIComponent(query)}&limit=12`));
  hits = told.hits;
  found = told.total;
  picked = hits.length > 0 ? 0 : -1;
  writeResults();
}

function writeResults() {
  results.replaceChildren();
  if (hits.length === 0) element("li", "nothing found", results).className = "nothing";
  hits.forEach((hit, i) => {
    const item = element("li", undefined, results);
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", String(i === picked));
    element("span", textOf(hit), item);
    element("span", `depth ${hit.path.length - 1}`, item).className = "aside";
    item.addEventListener("mousedown", (event) => {
      event.preventDefault();
      take(i);
    });
  });
  if (hits.length < found) element("li", `the best ${hits.length} of ${count(found)}`, results).className = "nothing";
  results.hidden = false;
  box.setAttribute("aria-expanded", "true");
}

/** Go to a point: some steps above it, so that its neighbours are seen, too. */
async function take(i) {
  const hit = hits[i];
  if (hit === undefined) return;
  close();
  const above = hit.path[Math.max(hit.path.length - 6, 0)];
  await zoom(above === hit.path[0] ? null : above);
  choose(hit.path.at(-1) ?? -1 - hit.number);
  byId("says").textContent = `${textOf(hit)}, path ${hit.path.join(" ")}`;
}

box.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(look, 120);
});
box.addEventListener("blur", close);
box.addEventListener("keydown", async (event) => {
  if (event.key === "Enter") {
    clearTimeout(waiting);
    if (results.hidden) await look();
    take(picked);
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    picked = Math.min(Math.max(picked + (event.key === "ArrowDown" ? 1 : -1), 0), hits.length - 1);
    writeResults();
  } else if (event.key === "Escape") close();
});
