// The bounds of the difference of A and B over all labels of unjudged documents, as computed with the page, and the
// reader's labels. The browser keeps the labels separately for each qrels.
const KEPT = `pyterrier-asl labels ${page.judgements}`;
let labels = []; // [query, document, label], in the order in which they were given
let isKept = true;

function keepLabels() {
  try {
    if (labels.length) localStorage.setItem(KEPT, JSON.stringify(labels));
    else localStorage.removeItem(KEPT);
  } catch {
    isKept = false;
  }
}

function loadLabels() {
  try {
    labels = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
  } catch {
    isKept = false;
  }
}

// The key of each label: the grade, or its position if some grade is not a single digit.
const GRADES = page.grades ?? [];
const KEYS = GRADES.map((grade, at) => String(GRADES.every((each) => /^\d$/.test(each)) ? grade : at));

const labelOf = ({ q, number }) => labels.find(([query, id]) => query === page.queries[q] && id === docs.ids[number])?.[2];

// The bounds of A - B by the selected measure, with the documents to judge next; undefined if they were not computed.
function boundsOfPair() {
  const { a, b } = state;
  const found = page.bounds[chosenMeasure().name]?.[[Math.min(a, b), Math.max(a, b)].join()];
  if (!found) return undefined;
  const todo = found.todo.map(([q, number, rankA, rankB, effect]) => (
    a < b ? { q, number, rankA, rankB, effect } : { q, number, rankA: rankB, rankB: rankA, effect: -effect }
  ));
  if (a < b) return { ...found, todo };
  const verdict = { A: "B", B: "A" }[found.verdict] ?? found.verdict;
  return { ...found, todo, verdict, difference: -found.difference, low: -found.high, high: -found.low };
}

function outcomeOf(verdict) {
  return verdict === "equal" ? "settled: they are equal"
    : verdict === "open" ? "open" : `settled for ${page.systems[verdict === "A" ? state.a : state.b]}`;
}

// The command for A and B by the selected measure.
function commandOf(name) {
  const [qrels, ...runs] = page.words;
  const measure = `'${chosenMeasure().name.replaceAll("'", `'\\''`)}'`;
  const rel = page.rel === 1 ? "" : ` --rel ${page.rel}`;
  return element("code", `pyterrier-asl ${name} ${qrels} ${runs[state.a]} ${runs[state.b]} -m ${measure}${rel}`);
}

function boundsSay(found) {
  const measure = chosenMeasure();
  if (!page.bounds[measure.name]) return [`${measure.name} has no bounds here: choose another measure.`];
  if (state.a === state.b) return ["A and B are one system."];
  if (!found) return ["The bounds of this pair were not computed with the page: ", commandOf("holes")];
  const difference = `${measure.name}: A − B = ${signed(found.difference, measure)}`;
  if (!found.unjudged) return [`${difference}; all documents of both down to its cut-off are judged.`];
  const outer = found.exact ? "" : " (outer bounds)";
  return [`${difference}, between ${signed(found.low, measure)} and ${signed(found.high, measure)}${outer} for all labels ` +
    `of the ${plural(found.unjudged, "unjudged document")}: ${outcomeOf(found.verdict)}.`];
}

// Labels do not change the numbers of this page, so the text says how to use them.
function labelsSay() {
  if (!labels.length) return [];
  const kept = isKept ? "This browser keeps them until they are cleared." : "This browser does not keep them.";
  const command = page.command ? `${page.command} --labels FILE` : 'report(..., labels=["FILE"])';
  return [` ${plural(labels.length, "label")} given. ${kept} Save them; the new bounds and verdicts come from `, element("code", command)];
}

function labelRow(one) {
  const rank = (value) => element("td", value ? String(value) : "–", "num");
  const given = labelOf(one);
  const buttons = GRADES.map((label, at) => {
    const button = element("button", String(label));
    button.type = "button";
    button.title = `key ${KEYS[at]}`;
    button.setAttribute("aria-pressed", String(label === given));
    button.setAttribute("aria-label", `Label ${label} for ${docs.ids[one.number]}`);
    button.addEventListener("click", () => giveLabel(one, label));
    return button;
  });
  const name = element("th", [page.queries[one.q], " ", element("span", page.queryTexts[one.q], "text")], "name");
  name.scope = "row";
  const effect = element("td", signed(one.effect, chosenMeasure()), "num");
  return element("tr", [name, documentCell(one.number, one.q), rank(one.rankA), rank(one.rankB), effect, element("td", buttons, "labels")]);
}

function changeLabels(changed) {
  labels = changed;
  keepLabels();
  showUnjudged();
}

function giveLabel({ q, number }, label) {
  const [query, id] = [page.queries[q], docs.ids[number]];
  changeLabels([...labels.filter((one) => one[0] !== query || one[1] !== id), [query, id, label]]);
  $("unjudged-list").focus({ preventScroll: true });
}

const undoLabel = () => changeLabels(labels.slice(0, -1));

function clearLabels() {
  if (confirm(`Delete ${plural(labels.length, "label")} from this browser?`)) changeLabels([]);
}

function showUnjudged() {
  const found = boundsOfPair();
  const list = found?.todo ?? [];
  for (const id of ["undo", "save", "clear"]) $(`unjudged-${id}`).disabled = !labels.length;
  $("unjudged-says").replaceChildren(...boundsSay(found), ...labelsSay());
  $("unjudged-list").hidden = !list.length;
  $("unjudged-next").hidden = !list.length;
  fillTable($("unjudged-table"), list.map(labelRow));
  $("unjudged-list").onkeydown = (event) => {
    const next = list.find((one) => labelOf(one) === undefined);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (KEYS.includes(event.key) && next) giveLabel(next, GRADES[KEYS.indexOf(event.key)]);
    else if (event.key === "u" || event.key === "Backspace") undoLabel();
    else return;
    event.preventDefault();
  };
}

// Saves qrels, or JSON lines if an id contains blanks; --labels reads both.
function saveLabels() {
  if (labels.every(([query, id]) => /^\S+$/.test(query) && /^\S+$/.test(id))) {
    save(fileName("labels", "qrels"), "text/plain", labels.map(([query, id, label]) => `${query} 0 ${id} ${label}\n`).join(""));
  } else {
    const lines = labels.map(([qid, docno, label]) => `${JSON.stringify({ qid, docno, label })}\n`);
    save(fileName("labels", "jsonl"), "application/json", lines.join(""));
  }
}

function startUnjudged() {
  if (!page.preferences) return; // one system, or scores only
  for (const [id, act] of [["undo", undoLabel], ["clear", clearLabels], ["save", saveLabels]]) {
    $(`unjudged-${id}`).addEventListener("click", act);
  }
  addEventListener("storage", ({ key }) => {
    if (key !== KEPT) return;
    loadLabels();
    showUnjudged();
  });
  follow((changed) => changed.some((name) => ["a", "b", "measure"].includes(name)) && showUnjudged());
  loadLabels();
  showUnjudged();
}
