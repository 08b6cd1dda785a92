// Topics, and the relevant documents of one: who finds them, and what nobody finds.
const FIRST = 40;
let topic = null;
let allDocuments = false;

const topicMeasure = () => page.measures[$("topics-measure").value];

function topicRows() {
  const measure = topicMeasure();
  return page.topics.map((name, q) => ({
    topic: name, text: page.topicTexts[q], relevant: page.relevant[q], median: measure.medians[q],
    spread: measure.spreads[q], chosen: q === topic, q,
  }));
}

function stripRows() {
  const measure = topicMeasure();
  const values = page.systems.map((system, i) => ({ system, value: measure.values[i * Q + topic] }));
  const sorted = values.map((row) => sign(measure) * row.value).sort((a, b) => b - a);
  return values.map((row) => ({ ...row, place: sorted.indexOf(sign(measure) * row.value) + 1 }));
}

// The relevant documents of the topic, with the systems that have them in their first `depth`.
function documentRows() {
  const R = docs.ids.length;
  const depth = Number($("documents-depth").value);
  const rows = [];
  for (let d = docs.starts[topic]; d < docs.starts[topic + 1]; d++) {
    const finders = [];
    docs.systems.forEach((system, row) => {
      const rank = docs.ranks[row * R + d];
      if (rank && rank <= depth) finders.push({ system, rank });
    });
    finders.sort((a, b) => a.rank - b.rank || a.system - b.system);
    rows.push({ document: docs.ids[d], grade: docs.grades[d], finders, text: docs.text?.[d] ?? "" });
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
  return finders.length ? named.join(", ") + (more ? ` and ${more} more` : "") : "nobody";
}

function documentRow({ document, grade, finders, text }) {
  const row = element("tr");
  const name = element("th", document, "name");
  if (text) name.append(element("span", text, "snippet"));
  row.append(name, element("td", String(grade), "num"), element("td", String(finders.length), "num"),
    element("td", finders.length ? String(finders[0].rank) : "–", "num"), element("td", findersText(finders), "finders"));
  return row;
}

function showDocuments() {
  const rows = documentRows();
  const list = wanted(rows);
  const none = rows.filter((row) => !row.finders.length).length;
  const one = rows.filter((row) => row.finders.length === 1).length;
  const depth = $("documents-depth").value;
  $("topic-says").textContent = `${plural(rows.length, "relevant document")}; in the first ${depth}, ` +
    `${none} that no system finds, ${one} that a single one does.`;
  const shownRows = allDocuments ? list : list.slice(0, FIRST);
  const body = $("documents").tBodies[0];
  body.replaceChildren(...shownRows.map(documentRow));
  if (!list.length) {
    const row = element("tr");
    const cell = element("td", "There are none.");
    cell.colSpan = 5;
    row.append(cell);
    body.append(row);
  }
  $("documents-more").hidden = shownRows.length === list.length;
  $("documents-more").textContent = `Show all ${list.length}`;
}

function documentsCsv() {
  const rows = wanted(documentRows());
  return csv([["topic", "document", "grade", "found_by", "best_rank", "systems"], ...rows.map((row) => [
    page.topics[topic], row.document, row.grade, row.finders.length, row.finders[0]?.rank,
    row.finders.map(({ system, rank }) => `${page.systems[system]}:${rank}`).join(" "),
  ])]);
}

function openTopic(q, go) {
  topic = q;
  allDocuments = false;
  $("topic-h").textContent = `Topic ${page.topics[q]}`;
  $("topic-text").textContent = page.topicTexts[q];
  $("topic-text").hidden = !page.topicTexts[q];
  for (const row of $("topic-table").tBodies[0].rows) {
    const own = Number(row.dataset.topic) === q;
    row.classList.toggle("chosen", own);
    row.querySelector(".open").setAttribute("aria-pressed", String(own));
  }
  showDocuments();
  redraw("topics", "strip");
  if (go) {
    $("topic").scrollIntoView();
    $("topic").focus({ preventScroll: true });
  }
}

function showTopicMeasure() {
  const measure = topicMeasure();
  const table = $("topic-table");
  for (const row of table.tBodies[0].rows) {
    const q = Number(row.dataset.topic);
    for (const [name, values] of [["median", measure.medians], ["spread", measure.spreads]]) {
      const cell = row.querySelector(`.${name}`);
      cell.dataset.value = values[q];
      cell.textContent = shown(values[q], measure);
    }
  }
  const column = [...table.tHead.rows[0].cells].findIndex((cell) => cell.dataset.key === "median");
  sortTable(table, column, measure.higher !== false);
  $("hard-side").textContent = measure.higher === false ? "right" : "left";
  redraw("topics", "strip");
}

function startTopics() {
  const table = $("topic-table");
  makeSortable(table);
  filterRows($("topics-filter"), table, (row) => row.cells[0].textContent);
  for (const row of table.tBodies[0].rows) {
    row.querySelector(".open").addEventListener("click", () => openTopic(Number(row.dataset.topic), true));
  }
  for (const id of ["documents-which", "documents-depth"]) {
    $(id).addEventListener("change", () => { allDocuments = false; showDocuments(); });
  }
  $("documents-more").addEventListener("click", () => { allDocuments = true; showDocuments(); });
  $("topics-measure").addEventListener("change", showTopicMeasure);
  chart("topics", topicRows, (datum) => openTopic(datum.q, true));
  chart("strip", stripRows);
  showTopicMeasure();
  openTopic(Number(table.tBodies[0].rows[0].dataset.topic), false);
}
