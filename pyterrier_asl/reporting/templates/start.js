// Starts the parts of the page, and saves files from its download buttons.
function fileName(part, ending) {
  return `${document.title}-${part}.${ending}`.toLowerCase().replace(/[^\w.-]+/g, "-");
}

const TABLES = { board: systemRows, "pair-table": pairRows, moved: movedData, documents: documentData };

function saveFrom(button) {
  const one = charts.get(button.closest("figure")?.dataset.chart);
  if (button.dataset.save === "svg") return one.view?.toSVG().then((svg) => save(fileName(one.name, "svg"), "image/svg+xml", svg));
  const before = (table) => table.compareDocumentPosition(button) & Node.DOCUMENT_POSITION_FOLLOWING;
  const table = [...button.closest("section").querySelectorAll("table")].filter(before).pop();
  const name = button.dataset.save === "values" ? "values" : one?.name ?? table.id;
  const rows = name === "values" ? valueRows() : one ? one.rows() : TABLES[name]?.();
  save(fileName(name || "table", "csv"), "text/csv", rows ? csvOfObjects(rows) : csvOfTable(table));
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
    const rows = ROWS[name] ?? (() => Object.values(page.charts[name].datasets)[0]);
    charts.set(name, { name, figure, rows, near: false, view: null });
  }
  watchCharts();
}

follow((changed) => changed.includes("measure") && redraw("judged"));
startLeaderboard();
startPair();
startQueries();
chooseByAddress();
addEventListener("hashchange", chooseByAddress);
startCharts();
document.documentElement.dataset.ready = "yes";
