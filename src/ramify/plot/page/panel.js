// SPDX-License-Identifier: BSD-3-Clause
// panel.js: what stands around the picture: path, details, clusters, legend, tables.

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
