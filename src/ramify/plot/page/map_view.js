// SPDX-License-Identifier: BSD-3-Clause
// map_view.js: the blocks below the focus as a map.

const MOST_CELLS = 1500;
const treeMap = new TreeMap();
let mapped = []; // the block of each cell

/** The largest blocks below the focus, each after the one above it. */
function placeMap() {
  if (picture !== "map") return;
  const least = (LEAST_CELL * size(focus)) / Math.max(canvas.clientWidth * canvas.clientHeight, 1);
  mapped = [focus];
  const blocks = [{ key: focus, parent: -1, size: size(focus) }];
  for (let at = 0; at < mapped.length && mapped.length < MOST_CELLS; at++) {
    const first = child[mapped[at]];
    if (first < 0) continue;
    for (const i of [first, first + 1]) {
      if (size(i) < least) continue;
      mapped.push(i);
      blocks.push({ key: i, parent: at, size: size(i) });
    }
  }
  treeMap.place(blocks, focus === 0, canvas.clientWidth, canvas.clientHeight);
}

function drawMap(styles) {
  const paintOf = (i) => fill({ i, last: i }, styles);
  treeMap.draw(pen, {
    paint: (at) => paintOf(mapped[at]),
    name: (at) => (at === 0 || cluster[mapped[at]] < 0 ? null : label(mapped[at])),
    isHead: (at) => cluster[mapped[at]] === mapped[at],
    paper: styles.paper,
    ink: inkOn,
  });
  mapped.forEach((i, at) => {
    if (at === 0 || (i !== chosen && i !== hovered) || treeMap.cells[at] === null) return;
    treeMap.trace(pen, at);
    pen.strokeStyle = styles.mark;
    pen.lineWidth = i === chosen ? 2.5 : 1;
    pen.stroke();
  });
}

function setPicture(wanted) {
  picture = wanted === "map" ? "map" : "icicle";
  byId("picture").textContent = `Picture: ${picture}`;
  show(false);
}

byId("picture").addEventListener("click", () => {
  setPicture(picture === "map" ? "icicle" : "map");
  keepView();
});
