// The leaderboard: ranks, intervals and the first column belong to the selected measure.
const board = $("board");
const boardRows = () => board.tBodies[0].rows;
let against = null; // the system whose pairs are shown

// The ranks that systems could have by the selected measure, by the qrels or for all labels of unjudged documents.
function chosenRanks() {
  const { judged, unjudged } = chosenMeasure();
  return (state.unjudged && unjudged) || judged;
}

function showRanks() {
  const measure = chosenMeasure();
  const could = chosenRanks();
  const leaders = page.systems.map((_, i) => i).filter((i) => measure.ranks[i] === 1);
  const separates = could && !could.possible.every(Boolean); // no colour if all would have it
  for (const row of board.rows) moveChosen(row);
  for (const row of boardRows()) {
    const system = Number(row.dataset.system);
    const rank = row.querySelector(".rank");
    rank.textContent = rank.dataset.value = measure.ranks[system];
    for (const cell of row.querySelectorAll(".could")) cell.dataset.value = measure.ranks[system];
    row.classList.toggle("possible", Boolean(separates && could.possible[system]));
    const star = leaders.some((leader) => could?.better[leader * S + system]) ? [" ✱"] : [];
    row.querySelector(".order")?.replaceChildren(...drawnInterval(could, measure.ranks, system), ...star);
  }
  showPairs();
  showTopRanks();
}

function drawnInterval(could, ranks, system) {
  if (!could) return ["–"];
  const { low, high } = could;
  const drawn = element("span", [element("i"), element("b")], "interval");
  drawn.setAttribute("aria-hidden", "true");
  for (const [name, of] of [["low", low], ["high", high], ["rank", ranks]]) drawn.style.setProperty(`--${name}`, of[system]);
  const [from, to] = [low[system], high[system]];
  return [drawn, " ", element("span", from === to ? `${from}` : `${from}–${to}`, "ranks")];
}

// Greys the systems that are not ordered against the system whose interval was clicked.
function showPairs() {
  const better = chosenRanks()?.better;
  const unordered = (i) => against !== null && better && i !== against && !better[against * S + i] && !better[i * S + against];
  for (const row of boardRows()) {
    const system = Number(row.dataset.system);
    row.classList.toggle("unordered", unordered(system));
    row.querySelector(".order")?.setAttribute("aria-pressed", String(system === against));
  }
}

function showTopRanks() {
  if (!$("board-says")) return;
  const measure = chosenMeasure();
  const k = Number($("board-top")?.value ?? S);
  board.style.setProperty("--k", k);
  const count = (ranks) => ranks.filter((rank) => rank <= k).length;
  const could = chosenRanks();
  const whatever = could && could === measure.unjudged ? " whatever the unjudged documents are" : "";
  let text = could
    ? `${plural(could.possible.filter(Boolean).length, "system")} could be the best by ${measure.name}${whatever}.` +
      (k < S ? ` In the top ${k}: ${count(could.high)} certainly, ${count(could.low)} possibly.` : "")
    : `There are no intervals of ranks by ${measure.name}.`;
  if (against !== null && could) {
    const others = page.systems.map((_, i) => i).filter((i) => i !== against);
    const worse = others.filter((i) => could.better[against * S + i]).length;
    const above = others.filter((i) => could.better[i * S + against]).length;
    text += ` ${page.systems[against]} is ordered above ${worse} and below ${above}; ` +
      `${plural(others.length - worse - above, "system")} in grey ${others.length - worse - above === 1 ? "is" : "are"} not ordered against it.`;
  }
  $("board-says").textContent = text;
}

// The column of the selected measure follows the system, so that phones show it; then the ranks.
function moveChosen(row) {
  const cells = [...row.querySelectorAll("[data-measure]")];
  const rank = (cell) => (Number(cell.dataset.measure) === state.measure ? -1 : Number(cell.dataset.measure));
  cells.sort((a, b) => rank(a) - rank(b));
  for (const cell of cells) cell.classList.toggle("chosen", rank(cell) < 0);
  row.cells[1].after(...[cells[0], row.querySelector(".could"), ...cells.slice(1)].filter(Boolean));
}

// Hides columns that are not selected; the column of the selected measure is always shown.
function showColumns() {
  for (const box of columnBoxes) box.checked = state.columns.split("\n").includes(columnName(box));
  const off = columnBoxes.filter((box) => !box.checked && box.value !== `m${state.measure}`);
  $("board-style").textContent = off.map((box) => `#board [data-column="${box.value}"]{display:none}`).join("");
  const region = board.parentElement;
  region.classList.remove("wide");
  region.classList.toggle("wide", board.scrollWidth > region.clientWidth + 1);
}

function boardCsv() {
  const chosen = chosenMeasure();
  const names = page.measures.map(({ name }) => name);
  const could = chosenRanks();
  const own = [["rank", chosen.ranks], ["rank low", could?.low], ["rank high", could?.high], ["could be the best", could?.possible]].filter(([, values]) => values);
  const shares = docs ? { retrieved: page.retrieved, "ASL from missed": page.missingShare, "unjudged above": page.unjudgedAll,
    "unjudged above retrieved": page.unjudgedShare } : {};
  const head = ["system", ...own.map(([what]) => `${what} by ${chosen.name}`), ...names, ...Object.keys(shares)];
  const rows = [...boardRows()].map((row) => {
    const i = Number(row.dataset.system);
    return [page.systems[i], ...own.map(([, values]) => values[i]), ...page.measures.map(({ means }) => means[i]),
      ...Object.values(shares).map((share) => share[i])];
  });
  return csv([head, ...rows]);
}

function valuesCsv() {
  const head = ["run", "qid", ...page.measures.map(({ name }) => name)];
  const rows = page.held.flatMap((i) => page.queries.map((qid, q) => (
    [page.systems[i], qid, ...page.measures.map(({ values }) => raw(values[i * Q + q]))]
  )));
  return csv([head, ...rows]);
}

// A click on a row compares its system; a click on its interval shows which systems are ordered against it.
function startRows() {
  const [best, second] = page.palette;
  for (const link of document.querySelectorAll("a.system")) {
    const a = Number(link.closest("tr").dataset.system);
    link.dataset.state = new URLSearchParams({ a: page.systems[a], b: page.systems[a === best ? second : best] });
  }
  board.tBodies[0].addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (event.target.closest(".order")) {
      const system = Number(row.dataset.system);
      against = against === system ? null : system;
      showPairs();
      showTopRanks();
    } else if (!event.target.closest("a, button") && getSelection().isCollapsed) {
      row.querySelector("a.system")?.click();
    }
  });
}

// The table below the verdict: on how many pairs each measure conflicts with the selected measure.
function showConflicts() {
  for (const row of $("strip").tBodies[0].rows) {
    const measure = Number(row.dataset.measure);
    row.classList.toggle("chosen", measure === state.measure);
    const cell = row.querySelector(".conflicts");
    if (!cell) continue;
    const { counts, examples, order } = page.conflicts;
    const [own, other] = [order.indexOf(state.measure), order.indexOf(measure)];
    const count = counts[own][other];
    cell.classList.toggle("warning", count > 0);
    if (!count) {
      const tested = [measure, state.measure].every((at) => page.measures[at].judged);
      cell.replaceChildren(own === other ? "" : tested ? "no conflict" : "not tested");
    } else {
      const [a, b] = examples[own][other];
      const link = linkTo(`⚠ ${plural(count, "pair")} in conflict`, "pair", { a: page.systems[a], b: page.systems[b] });
      link.title = `For instance ${page.systems[a]}: better than ${page.systems[b]} by ${chosenMeasure().name}, worse by ${CHOICES.measure[measure]}`;
      cell.replaceChildren(link);
    }
  }
}

function startLeaderboard() {
  const tested = new Set([...$("measure").options].map((option) => Number(option.value)));
  filterRows($("board-filter"), "find", board, $("board-empty"), (row) => row.cells[1].textContent);
  $("measure").addEventListener("change", () => chooseHere({ measure: Number($("measure").value) }));
  $("board-top")?.addEventListener("change", showTopRanks);
  for (const box of columnBoxes) {
    box.addEventListener("change", () => chooseHere({ columns: columnsShown() }, "leaderboard"));
  }
  startRows();
  const show = () => {
    $("measure").value = String(state.measure);
    if ($("board-unjudged")) {
      $("board-unjudged").disabled = !chosenMeasure().unjudged;
      $("board-unjudged").checked = Boolean(state.unjudged);
    }
    showRanks();
    showColumns();
    showConflicts();
  };
  $("board-unjudged")?.addEventListener("change", (event) => chooseHere({ unjudged: Number(event.target.checked) }, "leaderboard"));
  follow((changed) => (changed.includes("measure") || changed.includes("unjudged")) && show());
  follow((changed) => changed.includes("columns") && showColumns());
  addEventListener("resize", showColumns);
  const sort = makeSortable(board, "sort", () => sortTable(board, board.querySelector("[data-key=rank]"), true), (head) => {
    const measure = Number(head.dataset.measure ?? -1);
    return tested.has(measure) ? { measure } : {};
  });
  show();
  sort();
}
