// Queries: which systems find the relevant documents of a query, and the top ten of A and B.
const FIRST = 40;
let allDocuments = false;

// The queries by the selected measure, with the values of A and B.
function queryRows() {
  const { name, medians, spreads, values } = chosenMeasure();
  const { a, b } = state;
  return page.queries.map((query, q) => (
    { query, text: page.queryTexts[q], relevant: page.relevant?.[q], measure: name, median: medians[q], spread: spreads[q],
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

function showTop(box, system, side) {
  const row = rowOf.get(system);
  const value = chosenMeasure().values[system * Q + state.query];
  box.querySelector(".who").replaceChildren(
    side ? `${side}: ` : "", element("b", page.systems[system]), ` ${chosenMeasure().name} ${shown(value, chosenMeasure())}`);
  const list = box.querySelector("ol");
  const words = wordsOf(page.queryTexts[state.query]);
  const items = [];
  for (let at = 0; row !== undefined && at < tops.depth; at++) {
    const cell = (row * Q + state.query) * tops.depth + at;
    const document = tops.documents[cell] - 1;
    if (document < 0) break;
    const grade = docs.grades[document];
    const kind = grade < 0 ? "unjudged" : grade < page.rel ? "judged" : "relevant";
    const item = element("li", element("span", docs.ids[document], "id"), kind);
    item.title = MEANINGS[kind];
    item.append(element("span", ` ${MEANINGS[kind]}`, "hidden"));
    const text = docs.text?.[document];
    if (text) item.append(element("span", highlighted(text, words), "snippet"));
    items.push(item);
  }
  const none = row === undefined ? "The top ten of this system is not on this page." : "It retrieves nothing for this query.";
  list.replaceChildren(...(items.length ? items : [element("li", none, "none")]));
}

function showTops() {
  const boxes = document.querySelectorAll("#query .tops > div");
  showTop(boxes[0], state.a, boxes.length > 1 ? "A" : "");
  if (boxes[1]) showTop(boxes[1], state.b, "B");
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

function wanted(rows) {
  const which = $("documents-which").value;
  if (which === "none") return rows.filter((row) => !row.finders.length);
  if (which === "rare") return rows.filter((row) => row.finders.length >= 1 && row.finders.length <= 3);
  return rows;
}

function findersText(finders) {
  const named = finders.slice(0, 5).map(({ system, rank }) => `${page.systems[system]} (${rank})`);
  const more = finders.length - named.length;
  return finders.length ? named.join(", ") + (more ? ` and ${more} more` : "") : S > 1 ? "missed by all" : "missed";
}

function documentRow({ d, grade, finders }) {
  return element("tr", [
    documentCell(d, state.query), element("td", String(grade), "num"), element("td", String(finders.length), "num"),
    element("td", finders.length ? String(finders[0].rank) : "–", "num"), element("td", findersText(finders), "finders"),
  ]);
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
  fillTable($("documents"), list.length ? shownRows.map(documentRow) : [emptyRow("There are none.", 5)]);
  $("documents-more").hidden = shownRows.length === list.length;
  $("documents-more").textContent = `Show all ${list.length}`;
}

function documentsCsv() {
  const rows = wanted(documentRows());
  return csv([["query", "document", "grade", "found_by", "best_rank", "systems"], ...rows.map((row) => [
    page.queries[state.query], row.document, row.grade, row.finders.length, row.finders[0]?.rank,
    row.finders.map(({ system, rank }) => `${page.systems[system]}:${rank}`).join(" "),
  ])]);
}

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
  if (docs) {
    showDocuments();
    showTops();
  }
  redraw("queries", "strip");
}

// Opens a query from a mark or a button of the page.
const openQueryOf = ({ query }) => openQuery(page.queries.indexOf(query));

function openQuery(q) {
  chooseHere({ query: q }, "query");
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
      if (!cell) continue;
      cell.dataset.value = values[q];
      cell.textContent = shown(values[q], measure);
    }
  }
  table.querySelector('[data-key="median"]').dataset.better = measure.higher === false ? "low" : "high";
  if ($("hard-side")) $("hard-side").textContent = measure.higher === false ? "right" : "left";
  redraw("queries", "strip");
}

function startQueries() {
  const table = $("query-table");
  follow((changed) => changed.includes("measure") && showQueryMeasure());
  const hardestFirst = () => sortTable(table, table.querySelector('[data-key="median"]'), chosenMeasure().higher !== false);
  const sort = makeSortable(table, "sort-queries", hardestFirst);
  filterRows($("queries-filter"), "find-query", table, $("queries-empty"), (row) => row.cells[0].textContent);
  for (const row of table.tBodies[0].rows) {
    row.querySelector(".open").addEventListener("click", () => openQuery(Number(row.dataset.query)));
  }
  if (docs) {
    for (const id of ["documents-which", "documents-depth"]) {
      $(id).addEventListener("change", () => { allDocuments = false; showDocuments(); });
    }
    $("documents-more").addEventListener("click", () => { allDocuments = true; showDocuments(); });
  }
  showQueryMeasure();
  sort();
  state.query = Number(table.tBodies[0].rows[0].dataset.query);
  showQuery();
  follow((changed) => {
    if (changed.includes("query")) showQuery();
    else if (docs && changed.some((name) => ["a", "b", "measure"].includes(name))) showTops();
  });
}
