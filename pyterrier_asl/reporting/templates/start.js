// Starts the parts of the page, and saves files from its download buttons.
function fileName(part, ending) {
  return `${document.title}-${part}.${ending}`.toLowerCase().replace(/[^\w.-]+/g, "-");
}

const TABLES = { board: boardCsv, "pair-table": comparisonCsv, moved: movedCsv, documents: documentsCsv };

function saveFrom(button) {
  const figure = button.closest("figure");
  const section = button.closest("section");
  if (button.dataset.save === "values") return save(fileName("values", "csv"), "text/csv", valuesCsv());
  if (!figure) {
    const before = (table) => table.compareDocumentPosition(button) & Node.DOCUMENT_POSITION_FOLLOWING;
    const table = [...section.querySelectorAll("table")].filter(before).pop();
    const text = table.id in TABLES ? TABLES[table.id]() : csvOfTable(table);
    return save(fileName(table.id || section.id, "csv"), "text/csv", text);
  }
  const one = charts.get(figure.dataset.chart);
  if (button.dataset.save === "csv") return save(fileName(one.name, "csv"), "text/csv", csvOfObjects(one.rows()));
  return one.view?.toSVG().then((svg) => save(fileName(one.name, "svg"), "image/svg+xml", svg));
}

for (const button of document.querySelectorAll("[data-save]")) {
  button.addEventListener("click", () => saveFrom(button));
}

// The rows that a figure needs for the selection, and the effect of a click on a mark. Other figures have their own rows.
const ROWS = { differences: differenceRows, queries: queryRows, strip: stripRows, ranks: foundRows, matrix: matrixRows };
const CLICKS = { differences: openQueryOf, queries: openQueryOf, matrix: openPairOf };

function startCharts() {
  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    const name = figure.dataset.chart;
    const title = figure.querySelector("h3")?.textContent ?? "All systems on this query";
    const canvas = figure.querySelector(".canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Figure: ${title}. Its data can be saved below.`);
    // Reserves room for the figure, so that the page does not move when it is drawn.
    canvas.style.minHeight = `${heightOf(name, canvas) + 40}px`;
    const rows = ROWS[name] ?? (() => Object.values(page.charts[name].datasets)[0]);
    charts.set(name, { name, figure, rows, near: false, view: null });
  }
  watchCharts();
}

follow((changed) => changed.includes("measure") && redraw("judged"));
for (const [name, select] of [["bump", $("bump-mark")], ["lengths", $("lengths-add")]]) {
  if (!select) continue;
  fillSelect(select, page.palette, -1);
  select.addEventListener("change", () => redraw(name));
}
startLeaderboard();
startPair();
startQueries();
chooseByAddress();
addEventListener("hashchange", chooseByAddress);
startCharts();
document.documentElement.dataset.ready = "yes";
