// SPDX-License-Identifier: BSD-3-Clause
// curves.js: how the tree grows, and how long commits take.

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
