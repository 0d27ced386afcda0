// SPDX-License-Identifier: BSD-3-Clause
// live.js: draw a tree as it grows, and let a person walk in it.
//
//   block   a rectangle: a branch from node id down to the merge where it falls into two
//   focus   the node that is as wide as the picture; null for the root
//   glow    when a node last changed
//
// Only what can be seen travels: the server sends the largest branches below the focus.
// Titles and payloads come from strangers: they enter the page as text only, never as markup.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const canvas = byId("icicle");
  const pen = canvas.getContext("2d");

  const BLOCKS = 500;
  const ROW = { least: 24, most: 44 }; // pixels
  const NARROWEST = 1.5; // pixels
  const GLOW = 60_000; // milliseconds
  const REFRESH = 1200; // milliseconds between two looks at a tree that changes
  const SAMPLES = 150; // of the curves
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
      byId("door").hidden = false;
      byId("token").focus();
      throw new Error("a token is needed");
    }
    const found = await told.json();
    if (!told.ok) throw Object.assign(new Error(found.error), { status: told.status });
    return found;
  }

  const here = (more) => `trees/${encodeURIComponent(name)}${more}`;

  byId("door").addEventListener("submit", (event) => {
    event.preventDefault();
    token = byId("token").value;
    sessionStorage.setItem("ramify-token", token);
    byId("door").hidden = true;
    begin();
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
      const [picture, cut] = await Promise.all([
        ask(here(`/outline?blocks=${BLOCKS}&k=${k}${at}`)),
        ask(here(`/clusters?n_clusters=${k}&limit=60&representatives=1`)),
      ]);
      outline = picture;
      clusters = cut.clusters;
      giveColors();
      giveIds();
      show();
      writeClusters();
      writeCrumbs();
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

  // --- layout and drawing -------------------------------------------------------------------

  function layout() {
    const blocks = outline.blocks;
    const width = canvas.clientWidth;
    const rows = Math.max(3, Math.floor(canvas.clientHeight / ROW.least));
    const perPoint = width / blocks[0].size;
    const below = blocks.map(() => []);
    blocks.forEach((block, i) => {
      if (block.parent >= 0) below[block.parent].push(i);
    });
    const placed = [];
    const todo = [{ i: 0, x: 0, row: 0 }];
    let deepest = 0;
    while (todo.length > 0) {
      const { i, x, row } = todo.pop();
      const block = blocks[i];
      placed.push({ block, x, w: block.size * perPoint, row });
      deepest = Math.max(deepest, row);
      if (row === rows - 1) continue;
      let at = x;
      for (const j of below[i].sort((a, b) => blocks[b].size - blocks[a].size)) {
        const w = blocks[j].size * perPoint;
        if (w >= NARROWEST) todo.push({ i: j, x: at, row: row + 1 });
        at += w;
      }
    }
    rowHeight = Math.min(ROW.most, canvas.clientHeight / (deepest + 1));
    return placed;
  }

  const given = new Map(); // key of a cluster -> its colour, for as long as it is shown
  const stable = new Map(); // node id of a cluster -> its id that stays, while its node may be another
  let mayName = true; // whether the server lets this page have ids given

  const keyOf = (node) => stable.get(node) ?? `node ${node}`;

  /** Have ids that stay given to clusters that are new, so that the next look finds them. */
  async function giveIds() {
    if (!mayName || clusters.every((one) => one.stable_id !== null)) return;
    mayName = false;
    try {
      await ask(here(`/stable_labels?n_clusters=${Math.min(k, outline.leaves)}&brief=true`), "POST");
      mayName = true;
      refreshSoon();
    } catch {
      // a token that may only read: nodes it is
    }
  }

  /** Clusters keep their colours; a new one gets the colour that is used least. */
  function giveColors() {
    const before = new Map(stable);
    stable.clear();
    for (const one of clusters) if (one.stable_id !== null) stable.set(one.node, one.stable_id);
    for (const [node, id] of stable) {
      // what was shown by its node until it had an id keeps its colour
      const old = `node ${node}`;
      if (!before.has(node) && given.has(old) && !given.has(id)) given.set(id, given.get(old));
    }
    const nodes = [...clusters.map((one) => one.node), ...outline.blocks.map((one) => one.cluster)];
    const now = new Set(nodes.filter((node) => node !== null).map(keyOf));
    for (const id of given.keys()) if (!now.has(id)) given.delete(id);
    const used = COLORS.map(() => 0);
    for (const which of given.values()) used[which] += 1;
    for (const id of now) {
      if (given.has(id)) continue;
      const which = used.indexOf(Math.min(...used));
      used[which] += 1;
      given.set(id, which);
    }
  }

  const color = (node) => COLORS[given.get(keyOf(node)) ?? 0];

  function inkOn(background) {
    const value = (at) => parseInt(background.slice(at, at + 2), 16);
    return 0.299 * value(1) + 0.587 * value(3) + 0.114 * value(5) < 150 ? "#ffffff" : "#1d2329";
  }

  function styles() {
    const style = getComputedStyle(document.documentElement);
    const get = (property) => style.getPropertyValue(property).trim();
    return { paper: get("--paper"), trunk: get("--trunk"), faint: get("--faint"), mark: get("--mark"), link: get("--link") };
  }

  function sharpen(paper) {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [paper.clientWidth, paper.clientHeight];
    if (paper.width !== Math.round(width * ratio) || paper.height !== Math.round(height * ratio)) {
      paper.width = Math.round(width * ratio);
      paper.height = Math.round(height * ratio);
    }
    const brush = paper.getContext("2d");
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.clearRect(0, 0, width, height);
    return { brush, width, height };
  }

  function draw() {
    const { width, height } = sharpen(canvas);
    const style = styles();
    pen.fillStyle = style.paper;
    pen.fillRect(0, 0, width, height);
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    if (outline === null) {
      pen.fillStyle = style.faint;
      pen.fillText(name === null ? "There is no tree on this server yet." : "No points yet.", 6, 20);
      return;
    }
    const now = performance.now();
    for (const one of shown) drawBlock(one, style, now);
    for (const one of shown) {
      if (one.block.id === chosen || one === hovered) drawMark(one, style, one.block.id === chosen);
    }
  }

  const place = ({ x, w, row }) => ({
    left: Math.round(x),
    top: Math.round(row * rowHeight),
    wide: Math.max(Math.round(x + w) - Math.round(x) - (w > 3 ? 1 : 0), 1),
    high: Math.round((row + 1) * rowHeight) - Math.round(row * rowHeight) - 1,
  });

  function drawBlock(one, style, now) {
    const { left, top, wide, high } = place(one);
    const paint = one.block.cluster === null ? style.trunk : color(one.block.cluster);
    pen.fillStyle = paint;
    pen.fillRect(left, top, wide, high);
    const fresh = freshness(one.block, now);
    if (fresh > 0) {
      pen.globalAlpha = fresh;
      pen.strokeStyle = "#ffd21f";
      pen.lineWidth = 3;
      pen.strokeRect(left + 1.5, top + 1.5, Math.max(wide - 3, 1), high - 3);
      pen.globalAlpha = 1;
    }
    if (wide > 30) {
      const text = fitting(one.block, wide - 10);
      pen.fillStyle = inkOn(paint);
      if (text !== null) pen.fillText(text, left + 5, top + high / 2);
    }
  }

  /** How much of a block is new: strong where a few points came into a small one just now. */
  function freshness(block, now) {
    const found = glow.get(block.id) ?? glow.get(block.last);
    if (found === undefined) return 0;
    const age = Math.max(0, 1 - (now - found.time) / GLOW);
    return age * Math.min(1, 0.12 + (5 * found.times) / block.size);
  }

  function mark(id, now) {
    const before = glow.get(id);
    const times = before === undefined || now - before.time > GLOW ? 1 : before.times + 1;
    glow.set(id, { time: now, times });
  }

  function drawMark(one, style, strong) {
    const { left, top, wide, high } = place(one);
    pen.strokeStyle = style.mark;
    pen.lineWidth = strong ? 2.5 : 1;
    pen.strokeRect(left + 1, top + 1, Math.max(wide - 2, 1), high - 2);
  }

  /** Title and size, or a part of the title, or the size, whatever fits. */
  function fitting(block, room) {
    const fits = (text) => pen.measureText(text).width <= room;
    const whole = `${block.title} · ${count(block.size)}`;
    if (fits(whole)) return whole;
    if (room > 90 || block.size === 1) {
      let part = block.title;
      while (part.length > 6 && !fits(`${part}…`)) part = part.slice(0, -2);
      if (part.length > 6) return `${part}…`;
    }
    return fits(count(block.size)) ? count(block.size) : null;
  }

  function show() {
    shown = layout();
    hovered = null;
    if (chosen === null) choose(outline.root);
    draw();
    writeNote();
  }

  let moving = false;
  function animate() {
    if (moving) return;
    moving = true;
    const step = () => {
      const now = performance.now();
      for (const [id, found] of glow) if (now - found.time > GLOW) glow.delete(id);
      draw();
      moving = glow.size > 0;
      if (moving) setTimeout(() => requestAnimationFrame(step), 500);
    };
    requestAnimationFrame(step);
  }

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
    const last = samples.at(-1);
    element("span", outline === null ? state : `${state} · version ${count(outline.version)} · ${leaves(last ? last.points : outline.leaves)}`, note);
  }

  function words(point) {
    const { payload } = point;
    if (typeof payload === "string") return payload;
    if (payload && typeof payload === "object") {
      const text = payload.title ?? payload.name ?? payload.text ?? payload.subject;
      return typeof text === "string" ? text : JSON.stringify(payload);
    }
    return point.id === null ? `point ${point.number}` : String(point.id);
  }

  async function choose(id) {
    chosen = id;
    draw();
    const box = byId("details");
    try {
      const node = await ask(here(`/nodes/${id}?members=12`));
      if (chosen !== id) return;
      box.replaceChildren();
      element("h2", node.name ?? (id < 0 ? words(node.members[0]) : leaves(node.size)), box);
      const facts = element("dl", undefined, box);
      const pairs = [["Node", String(id)], ["Height", number(node.height)], ["Depth", String(node.path.length - 1)]];
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
      }
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
      element("span", words(point), item);
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
      const example = cluster.representatives.length > 0 ? words(cluster.representatives[0]) : `node ${cluster.node}`;
      element("span", cluster.name ?? example, button).className = "label";
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
      tip.textContent = `${one.block.title} · ${leaves(one.block.size)}, height ${number(one.block.height)}`;
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
      element("span", words(hit), item);
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
    byId("says").textContent = `${words(hit)}, path ${hit.path.join(" ")}`;
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

  // --- curves ------------------------------------------------------------------------------------

  async function sample() {
    if (name !== null && !document.hidden) {
      try {
        const told = await ask(here(""));
        samples.push({ points: told.points, p50: told.journal.commit_p50 * 1000, p99: told.journal.commit_p99 * 1000 });
        samples = samples.slice(-SAMPLES);
        curve(byId("growth"), [samples.map((one) => one.points)], count);
        curve(byId("latency"), [samples.map((one) => one.p99), samples.map((one) => one.p50)], (x) => x.toFixed(1));
        writeNote();
        if (outline === null && told.points > 0) load();
      } catch (error) {
        // the next one may come
      }
    }
    setTimeout(sample, 2000);
  }

  function curve(paper, lines, words) {
    const { brush, width, height } = sharpen(paper);
    const style = styles();
    const most = Math.max(...lines.flat(), 1e-9);
    const least = lines.length === 1 ? Math.min(...lines[0]) : 0;
    const span = Math.max(most - least, 1e-9);
    lines.forEach((line, which) => {
      brush.strokeStyle = which === 0 ? style.link : style.faint;
      brush.lineWidth = 1.5;
      brush.beginPath();
      line.forEach((value, i) => {
        const x = (i / Math.max(SAMPLES - 1, 1)) * width;
        const y = height - 4 - ((value - least) / span) * (height - 18);
        if (i === 0) brush.moveTo(x, y);
        else brush.lineTo(x, y);
      });
      brush.stroke();
    });
    brush.fillStyle = style.faint;
    brush.font = "11px system-ui, sans-serif";
    brush.textAlign = "right";
    brush.fillText(lines.map((line) => words(line.at(-1))).join(" · "), width - 2, 10);
  }

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
  });

  function keepView() {
    const view = new URLSearchParams({ tree: name, k: String(k) });
    if (focus !== null) view.set("in", String(focus));
    history.replaceState(null, "", `#${view}`);
  }

  // --- begin ----------------------------------------------------------------------------------------

  function open(wantedName) {
    name = wantedName;
    focus = chosen = outline = null;
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
})();
