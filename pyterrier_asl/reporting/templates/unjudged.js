// What the unjudged documents in the top of A and B could change, and labels for them.
//
// A query's unjudged documents are in the top of A only, of B only, or of both. For fixed numbers of
// relevant ones in the three groups, the difference is extreme for the documents at the ends of
// each group by rank, so trying all numbers gives the exact bounds (as pyterrier_asl.holes does).
const D = Math.min(tops.depth, page.cutoff);
const SHOWN = 10;
const EQUAL = 1e-12;
let labels = []; // { q, id, label }, in the order in which they were given
const MEASURES = {
  P: { name: `P@${D}`, higher: true, value: ({ foundA, foundB }) => (foundA - foundB) / D },
  ASL: { name: `ASL@${D}`, higher: false, value: aslDifference },
};

// ASL of A less that of B: ranks are the sums of ranks, missed documents count at rank D + 1.
function aslDifference({ foundA, foundB, ranksA, ranksB, relevant }) {
  if (!relevant) return 0;
  const length = (found, ranks) => ranks + (relevant - found) * (D + 1) + (found * (found + 1)) / 2 - relevant * found;
  return (length(foundA, ranksA) - length(foundB, ranksB)) / relevant;
}

// The ranks of the unjudged documents of a query in A and B, 0 where beyond the top; labels are applied.
function unjudgedOf(q, given) {
  const ranks = new Map();
  for (const [side, system] of [["a", state.a], ["b", state.b]]) {
    const start = (tops.rowOf.get(system) * Q + q) * tops.depth;
    for (let at = 0; at < D; at++) {
      const document = tops.documents[start + at] - 1;
      if (document < 0 || tops.state[start + at] !== 0) continue;
      const known = ranks.get(document) ?? { q, document, id: tops.ids[document], a: 0, b: 0 };
      ranks.set(document, { ...known, [side]: at + 1 });
    }
  }
  const all = [...ranks.values()];
  const labelOf = (one) => given.find((label) => label.q === q && label.id === one.id)?.label;
  return {
    open: all.filter((one) => labelOf(one) === undefined),
    relevant: all.filter((one) => labelOf(one) >= page.rel),
  };
}

// Numbers and ranks of the relevant documents of a query in the top of A and B.
function judgedOf(q, labelled) {
  const R = docs.ids.length;
  const sums = { foundA: 0, foundB: 0, ranksA: 0, ranksB: 0, relevant: docs.starts[q + 1] - docs.starts[q] };
  const rows = [docs.rowOf.get(state.a), docs.rowOf.get(state.b)];
  for (let d = docs.starts[q]; d < docs.starts[q + 1]; d++) addRanks(sums, ...rows.map((row) => docs.ranks[row * R + d]));
  for (const { a, b } of labelled) {
    sums.relevant += 1;
    addRanks(sums, a, b);
  }
  return sums;
}

function addRanks(sums, a, b) {
  if (a && a <= D) { sums.foundA += 1; sums.ranksA += a; }
  if (b && b <= D) { sums.foundB += 1; sums.ranksB += b; }
}

// Running sums: the total of the first 0, 1, 2, ... numbers.
function totals(numbers) {
  const sums = [0];
  for (const number of numbers) sums.push(sums[sums.length - 1] + number);
  return sums;
}

// The least and the greatest difference of a query over all labels of its open documents.
function boundsOf(measure, sums, open) {
  const only = { a: open.filter(({ b }) => !b), b: open.filter(({ a }) => !a), both: open.filter(({ a, b }) => a && b) };
  let [low, high] = [Infinity, -Infinity];
  for (const way of [1, -1]) {
    const sorted = (list, key) => list.map((one) => one).sort((x, y) => way * (key(y) - key(x)));
    const both = sorted(only.both, ({ a, b }) => a - b);
    const [sumsA, sumsB] = [sorted(only.a, ({ a }) => a).map(({ a }) => a), sorted(only.b, ({ b }) => -b).map(({ b }) => b)].map(totals);
    const [bothA, bothB] = [both.map(({ a }) => a), both.map(({ b }) => b)].map(totals);
    for (let i = 0; i < sumsA.length; i++) for (let j = 0; j < sumsB.length; j++) for (let m = 0; m < bothA.length; m++) {
      const value = measure.value({
        foundA: sums.foundA + i + m, foundB: sums.foundB + j + m, ranksA: sums.ranksA + sumsA[i] + bothA[m],
        ranksB: sums.ranksB + sumsB[j] + bothB[m], relevant: sums.relevant + i + j + m,
      });
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return [low, high];
}

// The mean difference of A and B, its bounds, and the open documents with the effect of each alone.
function verdict(measure, given) {
  const result = { difference: 0, low: 0, high: 0, open: [] };
  for (let q = 0; q < Q; q++) {
    const { open, relevant } = unjudgedOf(q, given);
    const sums = judgedOf(q, relevant);
    const now = measure.value(sums);
    const [low, high] = boundsOf(measure, sums, open);
    result.difference += now / Q;
    result.low += low / Q;
    result.high += high / Q;
    for (const one of open) {
      const more = { ...sums, relevant: sums.relevant + 1 };
      addRanks(more, one.a, one.b);
      result.open.push({ ...one, effect: (measure.value(more) - now) / Q });
    }
  }
  const better = (value) => (value > 0) === measure.higher ? "A" : "B";
  result.winner = Math.max(Math.abs(result.low), Math.abs(result.high)) <= EQUAL ? "equal"
    : result.low > EQUAL || result.high < -EQUAL ? better(result.low > EQUAL ? 1 : -1) : null;
  result.open.sort(nextOrder(result.difference));
  return result;
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

function labelRow(one, measure) {
  const rank = (value) => element("td", value ? String(value) : "–", "num");
  const document = element("td", element("span", one.id, "id"), "name");
  const text = tops.text?.[one.document];
  if (text) document.append(element("span", highlighted(text, wordsOf(page.queryTexts[one.q])), "snippet"));
  const buttons = [0, 1, 2].map((label) => {
    const button = element("button", String(label));
    button.type = "button";
    button.setAttribute("aria-label", `Label ${label} for ${one.id}`);
    button.addEventListener("click", () => giveLabel(one, label));
    return button;
  });
  const name = element("th", [page.queries[one.q], " ", element("span", page.queryTexts[one.q], "text")], "name");
  name.scope = "row";
  const effect = (one.effect > 0 ? "+" : "") + shown(one.effect, { decimals: 4 });
  return element("tr", [name, document, rank(one.a), rank(one.b), element("td", effect, "num"), element("td", buttons, "labels")]);
}

function giveLabel(one, label) {
  labels.push({ q: one.q, id: one.id, label });
  showUnjudged();
  $("unjudged-list").focus({ preventScroll: true });
}

function undoLabel() {
  labels.pop();
  showUnjudged();
}

function showUnjudged() {
  const body = $("unjudged-table").tBodies[0];
  const known = [state.a, state.b].every((system) => tops.rowOf.has(system) && docs.rowOf.has(system));
  $("unjudged-undo").disabled = !labels.length;
  $("unjudged-save").disabled = !labels.length;
  if (!known) {
    $("unjudged-says").textContent = "The top of one of the two is not on this page.";
    return body.replaceChildren();
  }
  const measure = MEASURES[$("unjudged-measure").value];
  const found = verdict(measure, labels);
  const four = (value) => shown(value, { decimals: 4 });
  const outcome = found.winner === "equal" ? "settled: they are equal"
    : found.winner ? `settled for ${found.winner} (${page.systems[found.winner === "A" ? state.a : state.b]})` : "open";
  $("unjudged-says").textContent = `${measure.name}: A − B = ${four(found.difference)}, between ${four(found.low)} and ` +
    `${four(found.high)} whatever the ${plural(found.open.length, "unjudged document")} in the top ${D} are: ${outcome}.` +
    (labels.length ? ` ${plural(labels.length, "label")} given.` : "");
  Object.assign($("unjudged-says").dataset, { difference: found.difference, low: found.low, high: found.high });
  const list = found.open.slice(0, SHOWN);
  body.replaceChildren(...list.map((one) => labelRow(one, measure)));
  if (!list.length) body.append(emptyRow("Every document in the top of both is judged.", 6));
  $("unjudged-list").onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if ("012".includes(event.key) && list.length) giveLabel(list[0], Number(event.key));
    else if (event.key === "u" || event.key === "Backspace") undoLabel();
    else return;
    event.preventDefault();
  };
}

function labelsText() {
  return labels.map(({ q, id, label }) => `${page.queries[q]} 0 ${id} ${label}\n`).join("");
}

function startUnjudged() {
  if (!page.preferences) return;
  for (const [key, { name }] of Object.entries(MEASURES)) {
    const option = element("option", name);
    option.value = key;
    $("unjudged-measure").append(option);
  }
  $("unjudged-measure").addEventListener("change", showUnjudged);
  $("unjudged-undo").addEventListener("click", undoLabel);
  $("unjudged-save").addEventListener("click", () => save(fileName("labels", "qrels"), "text/plain", labelsText()));
  follow((changed) => {
    if (changed.includes("a") || changed.includes("b")) showUnjudged();
  });
  showUnjudged();
}
