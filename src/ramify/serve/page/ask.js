// SPDX-License-Identifier: BSD-3-Clause
// ask.js: what the page knows of a tree that grows, and how it asks the server for it.
//
//   block   a rectangle: a branch from node id down to the merge where it falls into two
//   focus   the node that is as wide as the picture; null for the root
//   glow    when a node last changed
//
// Only what can be seen travels: the server sends the largest branches below the focus.
// Titles and payloads come from strangers: they enter the page as text only, never as markup.

const byId = (id) => document.getElementById(id);
const canvas = byId("icicle");
const pen = canvas.getContext("2d");

const BLOCKS = 500;
const ROW = { least: 24, most: 44 }; // pixels
const NARROWEST = 1.5; // pixels
const GLOW = 60_000; // milliseconds
const REFRESH = 1200; // milliseconds between two looks at a tree that changes
const SAMPLES = 150; // of the curves
const MOST_TEXTS = 50_000; // of which words are counted for this page
const MUCH = 0.01; // a block glows when this share of it is new
const COLORS = ["#4878cf", "#d65f5f", "#6acc65", "#b47cc7", "#c4ad66", "#77bedb", "#ee854a", "#8c613c",
  "#dc7ec0", "#797979", "#82c6e2", "#d5bb67", "#55a868", "#c44e52", "#8172b2", "#937860"];

// --- state ------------------------------------------------------------------------

let name = null;
let token = sessionStorage.getItem("ramify-token");
let outline = null; // what the server last sent
let focus = null;
let chosen = null; // node whose details are shown
let hovered = null;
let k = 8;
let clusters = [];
let words = new Map(); // node of a cluster -> the words that tell it from the others
let picture = "icicle"; // or "map"
let shown = []; // {block, x, w, row, head}
let rowHeight = ROW.least;
const glow = new Map(); // node id -> {time, times}: when it last changed, and how often
let samples = []; // {time, points, p50, p99}
let following = 0; // grows when another tree is followed

const count = (x) => x.toLocaleString("en-US");
const number = (x) => String(Number(x.toPrecision(4)));
const leaves = (x) => (x === 1 ? "1 point" : `${count(x)} points`);

// --- the server ---------------------------------------------------------------------

const headers = () => (token ? { authorization: `Bearer ${token}` } : {});

async function ask(path, method = "GET") {
  const told = await fetch(path, { headers: headers(), method });
  if (told.status === 401) {
    shut(true);
    throw new Error("a token is needed");
  }
  const found = await told.json();
  if (!told.ok) throw Object.assign(new Error(found.error), { status: told.status });
  return found;
}

/** Ask for a token instead of showing a page that is empty. */
function shut(yes) {
  document.body.classList.toggle("shut", yes);
  byId("door").hidden = !yes;
  if (yes) byId("token").focus();
}

const here = (more) => `trees/${encodeURIComponent(name)}${more}`;

byId("door").addEventListener("submit", (event) => {
  event.preventDefault();
  token = byId("token").value;
  sessionStorage.setItem("ramify-token", token);
  shut(false);
  begin().catch(() => draw());
});

// --- loading --------------------------------------------------------------------------

let loading = false;
let wanted = false; // a newer look, after the one under way

async function load() {
  if (name === null) return;
  if (loading) {
    wanted = true;
    return;
  }
  loading = true;
  try {
    const at = focus === null ? "" : `&node=${focus}`;
    const [seen, cut] = await Promise.all([
      ask(here(`/outline?blocks=${BLOCKS}&k=${k}${at}`)),
      ask(here(`/clusters?n_clusters=${k}&limit=60&representatives=1`)),
    ]);
    const news = outline === null || outline.version !== seen.version;
    if (chosen === outline?.root) chosen = seen.root; // another node may be the root now
    outline = seen;
    clusters = cut.clusters;
    words = await askWords();
    if (marked !== name) markLayers().catch(() => undefined); // then there are no marks
    giveColors();
    giveIds();
    show();
    writeClusters();
    writeCrumbs();
    loadTimeline();
    if (news && chosen !== null) choose(chosen);
  } catch (error) {
    if (error.status === 404 && focus !== null) {
      focus = null; // the node is no more
      wanted = true;
    } else if (error.status === 409) {
      outline = null;
      draw();
    }
  } finally {
    loading = false;
  }
  if (wanted) {
    wanted = false;
    load();
  }
}

/** Words of clusters, by their nodes; none if payloads are no texts, or too many to look at so often. */
async function askWords() {
  if (outline.leaves > MOST_TEXTS) return new Map();
  try {
    const told = await ask(here(`/keywords?n_clusters=${Math.min(k, outline.leaves)}&words=3&stop_words=english`));
    return new Map(clusters.map((one) => [one.node, (told.keywords[one.label] ?? []).join(", ")]));
  } catch {
    return new Map();
  }
}

let refreshing = 0;
function refreshSoon() {
  if (refreshing !== 0) return;
  refreshing = setTimeout(() => {
    refreshing = 0;
    load();
  }, REFRESH);
}

// --- changes as they come ---------------------------------------------------------------

async function follow() {
  const mine = ++following;
  while (mine === following) {
    try {
      const told = await fetch(here("/changes/stream?brief=true&heartbeat=10"), { headers: headers() });
      if (!told.ok) throw new Error(told.statusText);
      say(true);
      await read(told.body.getReader(), mine);
    } catch (error) {
      // the server was restarted, say
    }
    say(false);
    await new Promise((done) => setTimeout(done, 2000));
    if (mine === following) load();
  }
}

async function read(reader, mine) {
  const decoder = new TextDecoder();
  let text = "";
  while (mine === following) {
    const { value, done } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const events = text.split("\n\n");
    text = events.pop();
    for (const event of events) hear(event);
  }
  reader.cancel();
}

function hear(event) {
  const data = JSON.parse(/^data: (.*)$/m.exec(event)[1]);
  if (!/^event: change$/m.test(event)) return;
  const now = performance.now();
  for (const id of [...data.grown, ...data.born]) mark(id, now);
  for (const point of data.inserted) mark(-1 - point, now);
  refreshSoon();
  animate();
}

function say(on) {
  byId("note").dataset.live = on ? "yes" : "no";
  writeNote();
}
