// Queries: which systems find the relevant documents of a query, and the top ten of A and B.
const FIRST = 40;
let allDocuments = false;

// The queries by the selected measure, with the values of A and B.
function queryRows() {
  const { name, medians, spreads, values } = chosenMeasure();
  const { a, b } = state;
  return page.queries.map((query, q) => (
    { query, text: page.queryTexts[q], relevant: page.relevant[q], measure: name, median: medians[q], spread: spreads[q],
      system_a: page.systems[a], system_b: page.systems[b], a: raw(values[a * Q + q]), b: raw(values[b * Q + q]) }
  ));
}

function stripRows() {
  const { name, values } = chosenMeasure();
  return page.held.map((system) => (
    { query: page.queries[state.query], system: page.systems[system], measure: name, value: raw(values[system * Q + state.query]) }
  ));
}

// The top ten of A and B
const MEANINGS = { unjudged: "unjudged", judged: "judged not relevant", relevant: "relevant" };

function topItem(document, words) {
  const grade = docs.grades[document];
  const kind = grade < 0 ? "unjudged" : grade < page.rel ? "judged" : "relevant";
  const item = element("li", [element("span", docs.ids[document], "id"), element("span", ` ${MEANINGS[kind]}`, "hidden")], kind);
  item.title = MEANINGS[kind];
  if (docs.text?.[document]) item.append(element("span", highlighted(docs.text[document], words), "snippet"));
  return item;
}

function showTop(box, system, side) {
  const row = rowOf.get(system);
  const measure = chosenMeasure();
  const value = shown(measure.values[system * Q + state.query], measure);
  box.querySelector(".who").replaceChildren(side, element("b", page.systems[system]), ` ${measure.name} ${value}`);
  const words = wordsOf(page.queryTexts[state.query]);
  const first = (row * Q + state.query) * tops.depth;
  const documents = row === undefined ? [] : tops.documents.slice(first, first + tops.depth).filter(Boolean);
  const none = row === undefined ? "The top ten of this system is not on this page." : "It retrieves nothing for this query.";
  const items = documents.map((number) => topItem(number - 1, words));
  box.querySelector("ol").replaceChildren(...(items.length ? items : [element("li", none, "none")]));
}

function showTops() {
  const boxes = [...document.querySelectorAll("#query .tops > div")];
  for (const [at, box] of boxes.entries()) showTop(box, at ? state.b : state.a, boxes[1] ? `${"AB"[at]}: ` : "");
}

// The relevant documents of the query, with the systems that rank them among their first `depth`.
function documentRows() {
  const depth = Number($("documents-depth").value);
  const rows = [];
  for (let d = docs.starts[state.query]; d < docs.starts[state.query + 1]; d++) {
    const finders = [];
    page.held.forEach((system, row) => {
      const rank = docs.ranks[row * R + d];
      if (rank && rank <= depth) finders.push({ system, rank });
    });
    finders.sort((a, b) => a.rank - b.rank || a.system - b.system);
    rows.push({ d, document: docs.ids[d], grade: docs.grades[d], finders });
  }
  return rows.sort((a, b) => a.finders.length - b.finders.length || (b.finders[0]?.rank ?? 0) - (a.finders[0]?.rank ?? 0));
}

// The largest and the least number of finders of the documents to show.
const FINDERS = { all: [0, Infinity], none: [0, 0], rare: [1, 3] };

function wanted(rows) {
  const [least, most] = FINDERS[$("documents-which").value];
  return rows.filter(({ finders }) => finders.length >= least && finders.length <= most);
}

function findersText(finders) {
  const named = finders.slice(0, 5).map(({ system, rank }) => `${page.systems[system]} (${rank})`);
  const more = finders.length - named.length;
  return finders.length ? named.join(", ") + (more ? ` and ${more} more` : "") : S > 1 ? "missed by all" : "missed";
}

function documentRow({ d, grade, finders }) {
  const numbers = [grade, finders.length, finders[0]?.rank ?? "–"].map((number) => element("td", String(number), "num"));
  return element("tr", [documentCell(d, state.query), ...numbers, element("td", findersText(finders), "finders")]);
}

function showDocuments() {
  const rows = documentRows();
  const list = wanted(rows);
  const none = rows.filter((row) => !row.finders.length).length;
  const one = rows.filter((row) => row.finders.length === 1).length;
  const depth = $("documents-depth").value;
  const found = S > 1 ? `${none} missed by all systems, ${one} found by a single system` : `${none} missed`;
  $("query-says").textContent = `${plural(rows.length, "relevant document")}; in the first ${depth}, ${found}.`;
  const shownRows = allDocuments ? list : list.slice(0, FIRST);
  fillTable($("documents"), shownRows.map(documentRow), "There are none.");
  $("documents-more").hidden = shownRows.length === list.length;
  $("documents-more").textContent = `Show all ${list.length}`;
}

const documentData = () => wanted(documentRows()).map(({ document, grade, finders }) => (
  { query: page.queries[state.query], document, grade, found_by: finders.length, best_rank: finders[0]?.rank,
    systems: finders.map(({ system, rank }) => `${page.systems[system]}:${rank}`).join(" ") }
));

function showQuery() {
  const q = state.query;
  allDocuments = false;
  $("query-h").textContent = `Query ${page.queries[q]}`;
  $("query-text").textContent = page.queryTexts[q];
  $("query-text").hidden = !page.queryTexts[q];
  for (const row of $("query-table").tBodies[0].rows) {
    const own = Number(row.dataset.query) === q;
    row.classList.toggle("chosen", own);
    row.querySelector(".open").setAttribute("aria-pressed", String(own));
  }
  showDocuments();
  showTops();
  redraw("queries", "strip");
}

// Opens a query from a mark or a button of the page.
function openQueryOf({ query }) {
  chooseHere({ query: page.queries.indexOf(query) }, "query");
  $("query").scrollIntoView();
  $("query").focus({ preventScroll: true });
}

function showQueryMeasure() {
  const measure = chosenMeasure();
  const table = $("query-table");
  for (const row of table.tBodies[0].rows) {
    const q = Number(row.dataset.query);
    for (const [name, values] of [["median", measure.medians], ["spread", measure.spreads]]) {
      const cell = row.querySelector(`.${name}`);
      if (cell) [cell.dataset.value, cell.textContent] = [values[q], shown(values[q], measure)];
    }
  }
  table.querySelector('[data-key="median"]').dataset.better = measure.higher === false ? "low" : "high";
  if ($("hard-side")) $("hard-side").textContent = measure.higher === false ? "right" : "left";
  redraw("queries", "strip");
}

function startQueries() {
  const table = $("query-table");
  follow((changed) => changed.includes("measure") && showQueryMeasure());
  filterRows($("queries-filter"), table, $("queries-empty"), (row) => row.cells[0].textContent);
  for (const row of table.tBodies[0].rows) {
    row.querySelector(".open").addEventListener("click", () => openQueryOf({ query: page.queries[row.dataset.query] }));
  }
  const show = (all) => () => { allDocuments = all; showDocuments(); };
  for (const id of ["documents-which", "documents-depth"]) $(id).addEventListener("change", show(false));
  $("documents-more").addEventListener("click", show(true));
  showQueryMeasure();
  makeSortable(table, () => sortTable(table, table.querySelector('[data-key="median"]'), chosenMeasure().higher !== false));
  state.query = Number(table.tBodies[0].rows[0].dataset.query);
  showQuery();
  follow((changed) => {
    if (changed.includes("query")) showQuery();
    else if (changed.some((name) => ["a", "b", "measure"].includes(name))) showTops();
  });
}
