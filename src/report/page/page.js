// What a page gains with script: tables that sort, values under the pointer, texts open in print.
// Without it everything is still there.
"use strict";
(() => {
  const valueOf = (cell) => {
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    return cell.textContent.trim() === "-" ? -Infinity : cell.textContent.trim();
  };

  const order = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));

  const sortBy = (table, column, heading) => {
    const down = heading.getAttribute("aria-sort") !== "descending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows];
    rows.sort((a, b) => order(valueOf(a.cells[column]), valueOf(b.cells[column])));
    if (down) rows.reverse();
    body.append(...rows);
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sortBy(table, column, heading));
      heading.append(button);
    });
  }

  // The numbers of a figure by series, from the table below it.
  const numbersOf = (figure) => {
    const series = new Map();
    for (const row of figure.querySelectorAll(".numbers tbody tr")) {
      const [name, x, y] = [...row.cells].map((cell) => cell.textContent);
      if (!series.has(name)) series.set(name, []);
      series.get(name).push({ x: Number(x), shown: `${x}: ${y}` });
    }
    return series;
  };

  const showValues = (figure) => {
    const svg = figure.querySelector("svg");
    const [left, right, , , low, high, scale] = svg.dataset.plot.split(" ");
    const series = numbersOf(figure);
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;
    tip.setAttribute("aria-hidden", "true");
    figure.append(tip);
    const place = (x) => {
      const [a, b, v] = scale === "log" ? [low, high, x].map((n) => Math.log(Math.max(n, low))) : [+low, +high, x];
      return (v - a) / (b - a);
    };
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
      const share = (at - left) / (right - left);
      tip.hidden = share < -0.02 || share > 1.02;
      if (tip.hidden) return;
      const lines = [];
      for (const [name, points] of series) {
        let nearest = points[0];
        for (const point of points) {
          if (Math.abs(place(point.x) - share) < Math.abs(place(nearest.x) - share)) nearest = point;
        }
        lines.push(name ? `${name}  ${nearest.shown}` : nearest.shown);
      }
      tip.textContent = lines.join("\n");
      const frame = figure.getBoundingClientRect();
      const x = event.clientX - frame.left + 12;
      tip.style.left = `${Math.max(4, Math.min(x, frame.width - tip.offsetWidth - 8))}px`;
      tip.style.top = `${event.clientY - frame.top + 14}px`;
    });
    svg.addEventListener("pointerleave", () => { tip.hidden = true; });
  };

  for (const figure of document.querySelectorAll("figure.live")) showValues(figure);

  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details.query")) details.open = true;
  });
})();
