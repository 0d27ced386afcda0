// SPDX-License-Identifier: BSD-3-Clause
// map.js: the same blocks as a map (plot/page/map.js), whose borders move as points come.

const treeMap = new TreeMap();

function placeMap() {
  const blocks = outline.blocks.map(({ id, parent, size }) => ({ key: id, parent, size }));
  treeMap.place(blocks, focus === null, canvas.clientWidth, canvas.clientHeight);
}

function drawMap(style) {
  const blocks = outline.blocks;
  const isHead = (i) => headedBy(blocks[i]) !== undefined;
  treeMap.draw(pen, {
    paint: (i) => (blocks[i].cluster === null ? style.trunk : color(blocks[i].cluster)),
    name: (i) => (i === 0 ? null : titleOf(blocks[i]) || null),
    isHead,
    paper: style.paper,
    ink: inkOn,
  });
  blocks.forEach((block, i) => {
    const marked = block.id === chosen || block === hovered?.block;
    if (!marked || i === 0 || treeMap.cells[i] === null) return;
    treeMap.trace(pen, i);
    pen.strokeStyle = style.mark;
    pen.lineWidth = block.id === chosen ? 2.5 : 1;
    pen.stroke();
  });
}
