// SPDX-License-Identifier: BSD-3-Clause
// timeline.js: what became of the clusters, as far back as the tree remembers: births, splits, deaths.
//
//   era   a span between two versions; all are even in time
//
// The server puts earlier trees together for it. So it is asked anew when the tree has changed, but
// left alone for many times as long as an answer takes.

const ERAS = 24;
const MOST_EVENTS = 40;
const MOST_LETTERS = 48; // of a name
const MOST_LEAVES = 200_000; // of a tree whose earlier states the server puts together
const PATIENCE = { least: 1000, times: 20 }; // milliseconds, and times what an answer took

let eras = [];
let erasOf = ""; // tree, cut and version that these are of
let chosenEra = null; // version after it; null for all
let askAgain = 0; // when
let waitingToAsk = 0;
const without = new Set(); // trees that remember nothing, or are in shards

const wantedEras = () => `${name} ${k} ${outline?.version}`;

async function loadTimeline() {
  const none = outline === null || outline.leaves > MOST_LEAVES || without.has(name);
  if (none || wantedEras() === erasOf) return;
  const begin = performance.now();
  if (begin < askAgain) {
    clearTimeout(waitingToAsk);
    if (askAgain < Infinity) waitingToAsk = setTimeout(loadTimeline, askAgain - begin);
    return;
  }
  askAgain = Infinity;
  const asked = wantedEras();
  let found = [];
  try {
    found = (await ask(here(`/timeline?n_clusters=${k}&eras=${ERAS}`))).eras;
  } catch (error) {
    if (error.status === 410 || error.status === 422) without.add(name);
  }
  const now = performance.now();
  askAgain = now + Math.max(PATIENCE.least, PATIENCE.times * (now - begin));
  if (asked.startsWith(`${name} ${k} `)) {
    [eras, erasOf] = [found, asked];
    writeTimeline();
  }
  loadTimeline();
}

/** A cluster of now by its words, one of then by a text that was in it. */
function groupName({ node, point }) {
  const cluster = clusters.find((one) => one.node === node);
  const text = cluster !== undefined ? called(cluster) : point !== null ? textOf(point) : `node ${node}`;
  return `“${text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS - 1).trimEnd()}…` : text}”`;
}

function sentence({ kind, then, now }) {
  const [before, after] = [then, now].map((some) => new Intl.ListFormat("en").format(some.map(groupName)));
  if (kind === "born") return `${after} came with ${leaves(now[0].size)}`;
  if (kind === "gone") return `${before} went; it had ${leaves(then[0].size)}`;
  return kind === "split" ? `${before} fell into ${after}` : `${before} became one: ${after}`;
}

function moment(text) {
  const at = new Date(text);
  const today = at.toDateString() === new Date().toDateString();
  return today ? at.toLocaleTimeString() : at.toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" });
}

function writeTimeline() {
  byId("timeline").hidden = eras.length === 0;
  if (!eras.some((one) => one.version === chosenEra)) chosenEra = null;
  const some = eras.filter((one) => chosenEra === null || one.version === chosenEra);
  const all = byId("events");
  all.replaceChildren();
  for (const one of some.toReversed()) {
    for (const event of one.events) {
      if (all.children.length === MOST_EVENTS) break;
      const item = element("li", undefined, all);
      element("span", sentence(event), item);
      element("span", moment(one.time), item).className = "aside";
    }
  }
  if (all.children.length === 0) element("li", "The clusters stayed as they were.", all);
  const [came, left] = ["inserted", "forgotten"].map((what) => some.reduce((sum, one) => sum + one[what], 0));
  const until = some.length > 0 ? ` until ${moment(some.at(-1).time)}` : "";
  byId("eras-say").textContent = `${count(came)} came, ${count(left)} left${until}`;
  drawEras();
}

/** Bars up for points that came, down for those that left; a dot where something became of clusters. */
function drawEras() {
  const { brush, width, height } = sharpen(byId("eras"));
  const style = styles();
  const wide = width / eras.length;
  const most = Math.max(...eras.map((one) => Math.max(one.inserted, one.forgotten)), 1);
  const zero = height - 18;
  eras.forEach((one, i) => {
    brush.globalAlpha = chosenEra === null || chosenEra === one.version ? 1 : 0.35;
    const bar = (value, room) => (value === 0 ? 0 : Math.max((value / most) * room, 1));
    brush.fillStyle = style.link;
    brush.fillRect(i * wide, zero - bar(one.inserted, zero - 10), wide - 1, bar(one.inserted, zero - 10));
    brush.fillStyle = style.faint;
    brush.fillRect(i * wide, zero + 1, wide - 1, bar(one.forgotten, height - zero - 1));
    if (one.events.length === 0) return;
    brush.fillStyle = style.mark;
    brush.beginPath();
    brush.arc((i + 0.5) * wide, 5, Math.min(1.5 + one.events.length / 2, 4), 0, 2 * Math.PI);
    brush.fill();
  });
  brush.globalAlpha = 1;
}

function chooseEra(i) {
  const version = eras[i]?.version ?? null;
  chosenEra = chosenEra === version ? null : version;
  writeTimeline();
}

byId("eras").addEventListener("click", (event) => {
  const box = byId("eras").getBoundingClientRect();
  chooseEra(Math.floor(((event.clientX - box.left) / box.width) * eras.length));
});

byId("eras").addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const at = eras.findIndex((one) => one.version === chosenEra);
  const next = at < 0 ? (step > 0 ? 0 : eras.length - 1) : at + step;
  if (eras[next] !== undefined) chooseEra(next);
});
