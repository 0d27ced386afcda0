// SPDX-License-Identifier: BSD-3-Clause
// news.js: which clusters came, fell into two or went while the page was open.
//
// Clusters are told apart by their stable ids. A cut into another number of clusters begins anew:
// it is no news of the tree.

const MOST_NEWS = 40;
let news = []; // {time, text}, the latest first
let known = new Map(); // stable id -> {name, size, color} at the last look
let knownCut = ""; // tree and number of clusters that these are of

function noteNews() {
  const cut = `${name} ${k}`;
  const now = new Map();
  for (const one of clusters) {
    if (one.stable_id !== null) now.set(one.stable_id, { name: called(one), size: one.size });
  }
  if (cut !== knownCut) [news, known] = [[], now];
  knownCut = cut;
  if (now.size === 0 || now.size < clusters.length) return; // ids are about to be given
  const lost = [...known].filter(([id]) => !now.has(id)).map(([, one]) => one);
  for (const [id, one] of now) {
    if (known.size === 0 || known.has(id)) continue;
    const shrunk = [...known].filter(([old, was]) => now.has(old) && was.size - now.get(old).size >= one.size / 2);
    const from = shrunk.length > 0 ? `, out of “${shrunk[0][1].name}”` : "";
    tell(`“${one.name}” came with ${leaves(one.size)}${from}`);
  }
  for (const one of lost) tell(`“${one.name}” went; it had ${leaves(one.size)}`);
  known = now;
  writeNews();
}

function tell(text) {
  news.unshift({ time: new Date(), text });
  news = news.slice(0, MOST_NEWS);
}

function writeNews() {
  const box = byId("news");
  box.hidden = news.length === 0;
  box.replaceChildren();
  element("h3", "While you looked", box);
  const all = element("ol", undefined, box);
  all.className = "members";
  for (const one of news) {
    const item = element("li", undefined, all);
    element("span", one.text, item);
    element("span", one.time.toLocaleTimeString(), item).className = "aside";
  }
}
