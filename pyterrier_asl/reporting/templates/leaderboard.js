// The leaderboard: ranks, intervals and the first column belong to the selected measure.
const board = $("board");
const boardRows = () => board.tBodies[0].rows;
let against = null; // the system whose pairs are shown

function showRanks() {
  const { board: could, ranks } = chosenMeasure();
  const separates = could && !could.possible.every(Boolean); // no colour if all would have it
  for (const row of board.rows) moveChosen(row);
  for (const row of boardRows()) {
    const system = Number(row.dataset.system);
    const rank = row.querySelector(".rank");
    rank.textContent = rank.dataset.value = ranks[system];
    row.classList.toggle("possible", Boolean(separates && could.possible[system]));
    const interval = row.querySelector(".could");
    if (!interval) continue;
    interval.dataset.value = ranks[system];
    const [low, high] = could ? [could.low[system], could.high[system]] : [];
    interval.querySelector(".interval").style.cssText = could ? `--low:${low};--high:${high};--rank:${ranks[system]}` : "display:none";
    interval.querySelector(".ranks").textContent = could ? (low === high ? low : `${low}–${high}`) : "–";
    interval.querySelector(".star").textContent = could?.stars[system] ? " ✱" : "";
  }
  showPairs();
}

// Greys the systems that do not differ significantly from the system whose interval was clicked.
function showPairs() {
  const { name, board: could } = chosenMeasure();
  const same = (i) => against !== null && could && i !== against && !could.better[against * S + i] && !could.better[i * S + against];
  for (const row of boardRows()) {
    const system = Number(row.dataset.system);
    row.classList.toggle("unordered", same(system));
    row.querySelector(".order")?.setAttribute("aria-pressed", String(system === against));
  }
  if (!$("board-says")) return;
  const grey = against !== null && could ? ` Systems in grey do not differ significantly from ${page.systems[against]} (all pairs).` : "";
  $("board-says").textContent = (could?.says ?? `There are no intervals of ranks by ${name}.`) + grey;
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

const byMeasure = (of) => Object.fromEntries(page.measures.map((measure) => [measure.name, of(measure)]));

function systemRows() {
  const { name, ranks, board: could } = chosenMeasure();
  return [...boardRows()].map(({ dataset }) => {
    const i = Number(dataset.system);
    const ends = could && { [`rank low by ${name}`]: could.low[i], [`rank high by ${name}`]: could.high[i],
      [`could be the best by ${name}`]: could.possible[i] };
    const shares = { retrieved: page.retrieved[i], "ASL from missed": page.missingShare[i], "unjudged above": page.unjudgedShare[i] };
    return { system: page.systems[i], [`rank by ${name}`]: ranks[i], ...ends, ...byMeasure(({ means }) => means[i]), ...shares };
  });
}

const valueRows = () => page.held.flatMap((i) => page.queries.map((qid, q) => (
  { run: page.systems[i], qid, ...byMeasure(({ values }) => raw(values[i * Q + q])) }
)));

// A click on a row compares its system; a click on its interval shows which systems are ordered against it.
function startRows() {
  board.tBodies[0].addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (event.target.closest(".order")) {
      const system = Number(row.dataset.system);
      against = against === system ? null : system;
      showPairs();
    } else if (!event.target.closest("a, button") && getSelection().isCollapsed) {
      row.querySelector("a.system")?.click();
    }
  });
}

function startLeaderboard() {
  const tested = new Set([...$("measure").options].map((option) => Number(option.value)));
  filterRows($("board-filter"), board, $("board-empty"), (row) => row.cells[1].textContent);
  $("measure").addEventListener("change", () => chooseHere({ measure: Number($("measure").value) }));
  for (const box of columnBoxes) {
    box.addEventListener("change", () => chooseHere({ columns: columnsShown() }, "leaderboard"));
  }
  startRows();
  const show = () => {
    $("measure").value = String(state.measure);
    showRanks();
    showColumns();
    for (const row of $("strip").tBodies[0].rows) row.classList.toggle("chosen", Number(row.dataset.measure) === state.measure);
  };
  follow((changed) => changed.includes("measure") && show());
  follow((changed) => changed.includes("columns") && showColumns());
  addEventListener("resize", showColumns);
  show();
  makeSortable(board, () => sortTable(board, board.querySelector("[data-key=rank]"), true), (head) => {
    const measure = Number(head.dataset.measure ?? -1);
    return tested.has(measure) ? { measure } : {};
  });
}
