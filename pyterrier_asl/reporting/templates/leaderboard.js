// The leaderboard: ranks, letters, bands and the first column follow the measure that is chosen.
function showGroups() {
  const measure = chosenMeasure();
  const table = $("board");
  const order = systemsBy(state.measure);
  const at = new Map(order.map((system, place) => [system, place]));
  for (const row of table.rows) moveChosen(row);
  for (const row of table.tBodies[0].rows) {
    const system = Number(row.dataset.system);
    const own = at.get(system);
    row.querySelector(".rank").textContent = measure.ranks[system];
    row.querySelector(".rank").dataset.value = measure.ranks[system];
    const same = row.querySelector(".same");
    if (!same) continue;
    const of = measure.groups.filter(([first, last]) => first <= own && own <= last);
    row.querySelector(".letters").textContent = measure.letters[system];
    same.dataset.value = own + 1;
    const [from, to] = [of[0][0], of[of.length - 1][1]];
    same.title = `shares a letter with the systems at ranks ${from + 1} to ${to + 1}`;
    drawBand(row.querySelector(".band"), from, to, own);
  }
  sortTable(table, table.tHead.rows[0].cells[0], true);
}

// The measure chosen comes right after the system, where a phone shows it; then its groups.
function moveChosen(row) {
  const cells = [...row.querySelectorAll("[data-measure]")];
  const rank = (cell) => (Number(cell.dataset.measure) === state.measure ? -1 : Number(cell.dataset.measure));
  cells.sort((a, b) => rank(a) - rank(b));
  for (const cell of cells) cell.classList.toggle("chosen", rank(cell) < 0);
  row.cells[1].after(...[cells[0], row.querySelector(".same"), ...cells.slice(1)].filter(Boolean));
}

function drawBand(band, from, to, own) {
  const bar = element("i");
  const dot = element("b");
  bar.style.left = `${(100 * from) / S}%`;
  bar.style.width = `${(100 * (to - from + 1)) / S}%`;
  dot.style.left = `${(100 * (own + 0.5)) / S}%`;
  band.replaceChildren(bar, dot);
}

function boardCsv() {
  const chosen = chosenMeasure();
  const names = page.measures.flatMap(({ name }) => [name, `${name} low`, `${name} high`]);
  const head = ["system", `rank by ${chosen.name}`, `letters by ${chosen.name}`, ...names, "retrieved", "ASL from missed",
    "unjudged above", "unjudged above retrieved"];
  const rows = [...$("board").tBodies[0].rows].map((row) => {
    const i = Number(row.dataset.system);
    const values = page.measures.flatMap(({ means, margins }) => (
      margins[i] === null ? [means[i], null, null] : [means[i], raw(means[i] - margins[i]), raw(means[i] + margins[i])]
    ));
    return [page.systems[i], chosen.ranks[i], chosen.letters[i], ...values, page.retrieved[i], page.missingShare[i],
      page.unjudgedAll[i], page.unjudgedShare[i]];
  });
  return csv([head, ...rows]);
}

function valuesCsv() {
  const head = ["run", "qid", ...page.measures.map(({ name }) => name)];
  const rows = page.systems.flatMap((system, i) => page.queries.map((qid, q) => (
    [system, qid, ...page.measures.map(({ values }) => raw(values[i * Q + q]))]
  )));
  return csv([head, ...rows]);
}

function startLeaderboard() {
  const table = $("board");
  const tested = new Set([...$("measure").options].map((option) => Number(option.value)));
  makeSortable(table, (head) => {
    const measure = Number(head.dataset.measure ?? -1);
    if (tested.has(measure)) chooseHere({ measure }, "leaderboard");
  });
  filterRows($("board-filter"), table, $("board-empty"), (row) => row.cells[1].textContent);
  $("measure").addEventListener("change", () => chooseHere({ measure: Number($("measure").value) }));
  follow((changed) => {
    if (!changed.includes("measure")) return;
    $("measure").value = String(state.measure);
    showGroups();
  });
  showGroups();
}
