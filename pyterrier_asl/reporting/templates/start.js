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

chart("lengths", lengthRows);
chart("loss", lossRows);
chart("judged", judgedRows);
chart("favoured", () => page.favoured);
follow((changed) => changed.includes("measure") && redraw("judged"));
if (document.querySelector('figure[data-chart="bump"]')) {
  fillSelect($("bump-mark"), page.palette, -1);
  $("bump-mark").addEventListener("change", () => redraw("bump"));
  chart("bump", bumpRows);
}
if ($("lengths-add")) {
  fillSelect($("lengths-add"), page.palette, -1);
  $("lengths-add").addEventListener("change", () => redraw("lengths"));
}
startLeaderboard();
startPair();
startQueries();
chooseByAddress();
addEventListener("hashchange", chooseByAddress);
watchCharts();
document.documentElement.dataset.ready = "yes";
