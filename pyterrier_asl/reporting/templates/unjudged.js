// What the unjudged documents in the top of A and B could change, and labels for them.
//
// The bounds are exact over all labels of a query's unjudged documents (as pyterrier_asl.holes says
// them): in counting measures the extreme labels are those of documents at the ends by rank of what
// A alone, B alone, or both have; of first ranks one label suffices; nDCG takes iteration.
const SHOWN = 10;
const EQUAL = 1e-12;
let labels = []; // { q, number, label }, in the order in which they were given

// The labels are kept in this browser, by the judgements that they add to.
const KEPT = `pyterrier-asl labels ${page.judgements}`;
let otherLabels = []; // of documents that are not on this page: [query, document, label]
let isKept = true;

function keepLabels() {
  const all = [...otherLabels, ...labels.map(({ q, number, label }) => [page.queries[q], docs.ids[number], label])];
  try {
    if (all.length) localStorage.setItem(KEPT, JSON.stringify(all));
    else localStorage.removeItem(KEPT);
  } catch {
    isKept = false;
  }
}

function loadLabels() {
  let all = [];
  try {
    all = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
  } catch {
    isKept = false;
  }
  const queryAt = new Map(page.queries.map((query, q) => [query, q]));
  const numberAt = new Map();
  tops.documents.forEach((number, cell) => {
    if (number) numberAt.set(`${Math.floor(cell / tops.depth) % Q} ${docs.ids[number - 1]}`, number - 1);
  });
  labels = [];
  otherLabels = [];
  for (const [query, id, label] of all) {
    const number = numberAt.get(`${queryAt.get(query)} ${id}`);
    if (number === undefined) otherLabels.push([query, id, label]);
    else if (docs.grades[number] >= 0) continue; // the judgements of this page have it
    else labels.push({ q: queryAt.get(query), number, label });
  }
}

// The key of each label: the grade itself, or its number where some grade is not one digit.
const GRADES = page.grades ?? [];
const KEYS = GRADES.map((grade, at) => String(GRADES.every((each) => /^\d$/.test(each)) ? grade : at));

// The documents of a query in the first k of A or B: ranks, 0 where beyond, and grades, null where open.
function documentsOf(q, k, given) {
  const found = new Map();
  for (const [side, system] of [["a", state.a], ["b", state.b]]) {
    const start = (tops.rowOf.get(system) * Q + q) * tops.depth;
    for (let at = 0; at < k; at++) {
      const number = tops.documents[start + at] - 1;
      if (number < 0) break;
      const known = found.get(number) ?? { q, number, id: docs.ids[number], a: 0, b: 0 };
      found.set(number, { ...known, [side]: at + 1 });
    }
  }
  for (const { number } of given) { // a labelled document counts wherever it is
    if (!found.has(number)) found.set(number, { q, number, id: docs.ids[number], a: 0, b: 0 });
  }
  return [...found.values()].map((one) => {
    const label = given.find((other) => other.number === one.number)?.label;
    const grade = docs.grades[one.number] < 0 ? label ?? null : docs.grades[one.number];
    return { ...one, grade, labelled: label !== undefined };
  });
}

// Running sums: the total of the first 0, 1, 2, ... numbers.
function totals(numbers) {
  const sums = [0];
  for (const number of numbers) sums.push(sums[sums.length - 1] + number);
  return sums;
}

// Measures that count the relevant documents in A and B, and add up their ranks.

const COUNTING = {
  P: ({ foundA, foundB }, k) => (foundA - foundB) / k,
  R: ({ foundA, foundB, relevant }) => (relevant ? (foundA - foundB) / relevant : 0),
  ASL: aslDifference,
  nASL: (sums, k) => -aslDifference(sums, k) / k,
};

// ASL of A less that of B: missed documents count at rank k + 1.
function aslDifference({ foundA, foundB, ranksA, ranksB, relevant }, k) {
  if (!relevant) return 0;
  const length = (found, ranks) => ranks + (relevant - found) * (k + 1) + (found * (found + 1)) / 2 - relevant * found;
  return (length(foundA, ranksA) - length(foundB, ranksB)) / relevant;
}

function sumsOf({ rel, relevant }, q, known) {
  const sums = { foundA: 0, foundB: 0, ranksA: 0, ranksB: 0, relevant: relevant[q] };
  for (const { a, b, grade, labelled } of known) {
    if (grade < rel) continue;
    sums.relevant += labelled;
    sums.foundA += a > 0;
    sums.foundB += b > 0;
    sums.ranksA += a;
    sums.ranksB += b;
  }
  return sums;
}

function boundsOfCounts(measure, sums, open) {
  const only = { a: open.filter(({ b }) => !b), b: open.filter(({ a }) => !a), both: open.filter(({ a, b }) => a && b) };
  let [low, high] = [Infinity, -Infinity];
  for (const way of [1, -1]) {
    const sorted = (list, key) => [...list].sort((x, y) => way * (key(y) - key(x)));
    const both = sorted(only.both, ({ a, b }) => a - b);
    const [sumsA, sumsB] = [sorted(only.a, ({ a }) => a).map(({ a }) => a), sorted(only.b, ({ b }) => -b).map(({ b }) => b)].map(totals);
    const [bothA, bothB] = [both.map(({ a }) => a), both.map(({ b }) => b)].map(totals);
    for (let i = 0; i < sumsA.length; i++) for (let j = 0; j < sumsB.length; j++) for (let m = 0; m < bothA.length; m++) {
      const value = COUNTING[measure.kind]({
        foundA: sums.foundA + i + m, foundB: sums.foundB + j + m, ranksA: sums.ranksA + sumsA[i] + bothA[m],
        ranksB: sums.ranksB + sumsB[j] + bothB[m], relevant: sums.relevant + i + j + m,
      }, measure.cutoff);
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return [low, high];
}

// Measures of the first relevant document, by what its rank is worth.

const FIRST_RANK = { RR: (rank) => (rank ? 1 / rank : 0), Success: (rank) => (rank ? 1 : 0) };

function firstDifference({ kind, rel }, known) {
  const first = (side) => Math.min(...known.filter((one) => one[side] && one.grade >= rel).map((one) => one[side]));
  const worth = (rank) => FIRST_RANK[kind](Number.isFinite(rank) ? rank : 0);
  return worth(first("a")) - worth(first("b"));
}

// nDCG: gains by grade, discounted, over the most that the judged documents of the query come to.

const discount = (rank) => (rank ? 1 / Math.log2(rank + 1) : 0);
const weightOf = ({ a, b }) => discount(a) - discount(b);
const gainOf = (measure, grade) => measure.gains[measure.grades.indexOf(grade)];

function gradedOf(measure, q, known) {
  const counts = measure.levels.map((level, at) => (
    measure.counts[q][at] + known.filter(({ grade, labelled }) => labelled && gainOf(measure, grade) >= level).length
  ));
  const steps = measure.levels.map((level, at) => level - (at ? measure.levels[at - 1] : 0));
  const most = Math.max(0, ...counts) + 2 * measure.cutoff;
  const ideal = totals([...Array(most).keys()].map((at) => (at < measure.cutoff ? discount(at + 1) : 0)));
  const highest = Math.max(measure.highest, ...labels.map(({ label }) => label));
  const given = measure.levels.filter((level) => level <= gainOf(measure, highest)).length;
  const base = known.reduce((sum, one) => sum + weightOf(one) * gainOf(measure, one.grade), 0);
  return { base, counts, steps, ideal, given };
}

function gradedDifference({ base, counts, steps, ideal }) {
  const whole = steps.reduce((sum, step, at) => sum + step * ideal[counts[at]], 0);
  return whole > 0 ? base / whole : 0;
}

// The greatest difference over all grades of documents of these weights (Dinkelbach's iteration): the
// best s of them have a gain or more, no more of them a larger one.
function greatestRatio(base, weights, graded) {
  const { counts, steps, ideal, given } = graded;
  const sums = totals([...weights].sort((x, y) => y - x));
  const above = steps.reduce((sum, step, at) => sum + (at < given ? 0 : step * ideal[counts[at]]), 0);
  let best = gradedDifference({ ...graded, base });
  for (let turn = 0; turn < 100; turn++) {
    let all = sums.map(() => ({ gained: 0, cost: above }));
    for (let g = given - 1; g >= 0; g--) {
      let top = null;
      all = all.map((one, s) => {
        if (!top || one.gained - best * one.cost > top.gained - best * top.cost) top = one;
        return { gained: top.gained + steps[g] * sums[s], cost: top.cost + steps[g] * ideal[counts[g] + s] };
      });
    }
    const value = ({ gained, cost }) => base + gained - best * cost;
    const chosen = all.reduce((x, y) => (value(y) > value(x) ? y : x));
    if (chosen.cost <= 0 || value(chosen) <= 1e-14 * Math.max(chosen.cost, 1)) break;
    const better = (base + chosen.gained) / chosen.cost;
    if (better <= best) break;
    best = better;
  }
  return best;
}

// The difference of A and B for a query, given what is known of their documents, and its bounds.

function differenceFor(measure, q, known) {
  if (measure.kind in COUNTING) return COUNTING[measure.kind](sumsOf(measure, q, known), measure.cutoff);
  if (measure.kind in FIRST_RANK) return firstDifference(measure, known);
  return gradedDifference(gradedOf(measure, q, known));
}

function boundsFor(measure, q, known, open) {
  if (measure.kind in COUNTING) return boundsOfCounts(measure, sumsOf(measure, q, known), open);
  if (measure.kind in FIRST_RANK) {
    const values = [known, ...open.map((one) => [...known, relevantOf(measure, one)])].map((some) => firstDifference(measure, some));
    return [Math.min(...values), Math.max(...values)];
  }
  const graded = gradedOf(measure, q, known);
  const weights = open.map(weightOf);
  return [-greatestRatio(-graded.base, weights.map((weight) => -weight), graded), greatestRatio(graded.base, weights, graded)];
}

// An open document as if its label were the least that counts.
function relevantOf(measure, one) {
  const grade = measure.rel ?? measure.grades[measure.gains.indexOf(measure.levels[0])];
  return { ...one, grade, labelled: true };
}

// The mean difference of A and B, its bounds, and the open documents with the effect of each alone.
function verdict(measure) {
  const result = { difference: 0, low: 0, high: 0, open: [] };
  for (let q = 0; q < Q; q++) {
    const documents = documentsOf(q, measure.cutoff, labels.filter((label) => label.q === q));
    const known = documents.filter(({ grade }) => grade !== null);
    const open = documents.filter(({ grade }) => grade === null);
    const now = differenceFor(measure, q, known);
    const [low, high] = boundsFor(measure, q, known, open);
    result.difference += now / Q;
    result.low += low / Q;
    result.high += high / Q;
    for (const one of open) {
      const effect = (differenceFor(measure, q, [...known, relevantOf(measure, one)]) - now) / Q;
      result.open.push({ ...one, effect });
    }
  }
  result.winner = winnerOf(measure, result);
  result.open.sort(nextOrder(result.difference));
  return result;
}

// Which of A and B is better under all labels, by the bounds of the mean difference; null: open.
function winnerOf({ higher }, { low, high }) {
  const better = (value) => (value > 0) === higher ? "A" : "B";
  return Math.max(Math.abs(low), Math.abs(high)) <= EQUAL ? "equal"
    : low > EQUAL || high < -EQUAL ? better(low > EQUAL ? 1 : -1) : null;
}

function outcomeOf(winner) {
  return winner === "equal" ? "settled: they are equal"
    : winner ? `settled for ${winner} (${page.systems[winner === "A" ? state.a : state.b]})` : "open";
}

// First what helps the run that is behind, then by effect, best rank, query and document.
function nextOrder(difference) {
  const helps = ({ effect }) => effect * difference < 0;
  const size = ({ effect }) => Math.round(Math.abs(effect) * 1e12); // equal ones are equal but for rounding
  const best = ({ a, b }) => Math.min(a || Infinity, b || Infinity);
  const compare = (x, y) => (x < y ? -1 : x > y ? 1 : 0);
  return (x, y) => helps(y) - helps(x) || size(y) - size(x) || best(x) - best(y)
    || compare(page.queries[x.q], page.queries[y.q]) || compare(x.id, y.id);
}

function labelRow(one) {
  const rank = (value) => element("td", value ? String(value) : "–", "num");
  const buttons = GRADES.map((label, at) => {
    const button = element("button", String(label));
    button.type = "button";
    button.title = `key ${KEYS[at]}`;
    button.setAttribute("aria-label", `Label ${label} for ${one.id}`);
    button.addEventListener("click", () => giveLabel(one, label));
    return button;
  });
  const name = element("th", [page.queries[one.q], " ", element("span", page.queryTexts[one.q], "text")], "name");
  name.scope = "row";
  const effect = (one.effect > 0 ? "+" : "") + shown(one.effect, { decimals: 4 });
  return element("tr", [name, documentCell(one.number, one.q), rank(one.a), rank(one.b), element("td", effect, "num"), element("td", buttons, "labels")]);
}

function giveLabel(one, label) {
  labels.push({ q: one.q, number: one.number, label });
  keepLabels();
  showUnjudged();
  $("unjudged-list").focus({ preventScroll: true });
}

function undoLabel() {
  labels.pop();
  keepLabels();
  showUnjudged();
}

function clearLabels() {
  if (!confirm(`Delete ${plural(labels.length + otherLabels.length, "label")} from this browser?`)) return;
  [labels, otherLabels] = [[], []];
  keepLabels();
  showUnjudged();
}

function labelsSay() {
  const all = labels.length + otherLabels.length;
  if (!all) return "";
  const elsewhere = otherLabels.length ? ` (${otherLabels.length} of documents that are not on this page)` : "";
  return ` ${plural(all, "label")} given${elsewhere}; ` + (isKept ? "this browser keeps them until they are cleared."
    : "this browser does not keep them: save them before you close the page.");
}

const four = (value) => shown(value, { decimals: 4 });

// A measure whose bounds came with the page, for the pairs of the best systems.
function showComputed(measure, body) {
  const [a, b] = [state.a, state.b];
  const [first, second] = a < b ? [a, b] : [b, a];
  const bounds = a === b ? [0, 0, 0] : measure.bounds[`${first},${second}`];
  body.replaceChildren(emptyRow(`No documents to judge are listed by ${measure.name}.`, 6));
  $("unjudged-list").onkeydown = null;
  if (!bounds) {
    for (const name of ["difference", "low", "high"]) delete $("unjudged-says").dataset[name];
    $("unjudged-says").textContent = `${measure.name}: the bounds were computed with the report for pairs of the ` +
      `${measure.best} best systems only, and this is another pair.`;
    return;
  }
  const [difference, low, high] = a < b ? bounds : [-bounds[0], -bounds[2], -bounds[1]];
  const where = measure.cutoff ? `in the top ${measure.cutoff}` : "that the two retrieve";
  const range = high - low <= EQUAL ? `, whatever the unjudged documents ${where} are: `
    : `, between ${four(low)} and ${four(high)} ${measure.exact ? "" : "(outer bounds) "}whatever the unjudged documents ${where} are: `;
  $("unjudged-says").textContent = `${measure.name}: A − B = ${four(difference)}${range}` +
    `${outcomeOf(winnerOf(measure, { low, high }))}. Computed with the report: labels given here do not change it.${labelsSay()}`;
  Object.assign($("unjudged-says").dataset, { difference, low, high });
}

function showUnjudged() {
  const body = $("unjudged-table").tBodies[0];
  const known = [state.a, state.b].every((system) => tops.rowOf.has(system));
  $("unjudged-undo").disabled = !labels.length;
  for (const id of ["unjudged-save", "unjudged-clear"]) $(id).disabled = !(labels.length + otherLabels.length);
  if (!known) {
    $("unjudged-says").textContent = `The top of one of the two is not on this page.${labelsSay()}`;
    return body.replaceChildren();
  }
  const measure = page.verdicts[Number($("unjudged-measure").value)];
  if (!measure.kind) return showComputed(measure, body);
  const found = verdict(measure);
  const outcome = outcomeOf(found.winner);
  const open = found.open.length;
  $("unjudged-says").textContent = `${measure.name}: A − B = ${four(found.difference)}` + (open
    ? `, between ${four(found.low)} and ${four(found.high)} whatever the ${plural(open, "unjudged document")} in the ` +
      `top ${measure.cutoff} ${open === 1 ? "is" : "are"}: ${outcome}.`
    : `; every document in the top ${measure.cutoff} of both is judged, so nothing is open.`) + labelsSay();
  Object.assign($("unjudged-says").dataset, { difference: found.difference, low: found.low, high: found.high });
  const list = found.open.slice(0, SHOWN);
  body.replaceChildren(...list.map(labelRow));
  if (!list.length) body.append(emptyRow("Every document in the top of both is judged.", 6));
  $("unjudged-list").onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (KEYS.includes(event.key) && list.length) giveLabel(list[0], GRADES[KEYS.indexOf(event.key)]);
    else if (event.key === "u" || event.key === "Backspace") undoLabel();
    else return;
    event.preventDefault();
  };
}

// As qrels, or, where an id is no single word, as JSON lines; the command holes reads both as labels.
function saveLabels() {
  const all = [...otherLabels, ...labels.map(({ q, number, label }) => [page.queries[q], docs.ids[number], label])];
  if (all.every(([query, id]) => /^\S+$/.test(query) && /^\S+$/.test(id))) {
    save(fileName("labels", "qrels"), "text/plain", all.map(([query, id, label]) => `${query} 0 ${id} ${label}\n`).join(""));
  } else {
    const lines = all.map(([qid, docno, label]) => `${JSON.stringify({ qid, docno, label })}\n`);
    save(fileName("labels", "jsonl"), "application/json", lines.join(""));
  }
}

function startUnjudged() {
  if (!page.preferences) return; // of one system, or scores only
  for (const [at, { name }] of page.verdicts.entries()) {
    const option = element("option", name);
    option.value = String(at);
    $("unjudged-measure").append(option);
  }
  $("unjudged-measure").addEventListener("change", showUnjudged);
  $("unjudged-undo").addEventListener("click", undoLabel);
  $("unjudged-clear").addEventListener("click", clearLabels);
  addEventListener("storage", ({ key }) => {
    if (key !== KEPT) return;
    loadLabels();
    showUnjudged();
  });
  $("unjudged-save").addEventListener("click", saveLabels);
  follow((changed) => {
    const verdict = page.verdicts.findIndex(({ name }) => name === chosenMeasure().name);
    if (changed.includes("measure") && verdict >= 0) $("unjudged-measure").value = String(verdict);
    if (changed.some((name) => ["a", "b", "measure"].includes(name))) showUnjudged();
  });
  loadLabels();
  showUnjudged();
}
