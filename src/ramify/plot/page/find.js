// SPDX-License-Identifier: BSD-3-Clause
// find.js: search for points by name and number.

// --- search ------------------------------------------------------------------------------

const box = byId("search");
const list = byId("results");
let hits = [];
let picked = -1;
let waiting = 0;
let query = ""; // what is lit

function writeResults() {
  list.replaceChildren();
  const typed = box.value.trim();
  if (hits.length > 0) {
    const some = hits.length > FOUND ? `; the best ${FOUND}` : "";
    const head = make("li", `${points(hits.length)} found${some}`, "count aside");
    head.setAttribute("role", "presentation");
    list.append(head);
  }
  hits.slice(0, FOUND).forEach((at, order) => {
    const p = pointAt(at);
    const item = make("li");
    item.id = `hit-${order}`;
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", String(order === picked));
    item.append(make("span", pointName(p)));
    if (names !== null) item.append(make("span", String(p), "aside"));
    item.addEventListener("mousedown", (event) => event.preventDefault()); // keep the focus
    item.addEventListener("click", () => take(order));
    list.append(item);
  });
  if (hits.length === 0 && typed !== "") list.append(make("li", "nothing found", "nothing aside"));
  list.hidden = typed === "";
  box.setAttribute("aria-expanded", String(!list.hidden));
  if (picked >= 0) box.setAttribute("aria-activedescendant", `hit-${picked}`);
  else box.removeAttribute("aria-activedescendant");
}

function look() {
  clearTimeout(waiting);
  waiting = 0;
  hits = search(box.value);
  picked = hits.length > 0 ? 0 : -1;
  query = box.value.trim();
  writeResults();
  light(hits);
  keepView();
}

function take(order) {
  const at = hits[order];
  if (at === undefined) return;
  close();
  box.value = pointName(pointAt(at));
  visit(at);
}

function close() {
  list.hidden = true;
  box.setAttribute("aria-expanded", "false");
}

box.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(look, 80);
});
box.addEventListener("blur", close);
box.addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    if (list.hidden || waiting !== 0) look();
    take(picked);
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const step = event.key === "ArrowDown" ? 1 : -1;
    picked = Math.min(Math.max(picked + step, 0), Math.min(hits.length, FOUND) - 1);
    writeResults();
  } else if (event.key === "Escape") close();
});
