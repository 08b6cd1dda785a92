// Two systems: by every measure, query by query, and relevant document by relevant document.
const FEW = 20;
let allMoved = false;

const holdsBoth = () => page.held.includes(state.a) && page.held.includes(state.b);

// A against B by every measure: the difference of the means, with an interval if there are only two systems, and the number of
// queries on which each is better; null if the values by query are not on the page.
function comparisonRows() {
  const { a, b } = state;
  const rows = page.measures.map((measure) => {
    const gains = holdsBoth() && measure.higher !== null
      ? page.queries.map((_, q) => sign(measure) * (measure.values[a * Q + q] - measure.values[b * Q + q])) : null;
    const [low, high] = a === b ? [0, 0] : a < b ? measure.interval ?? [] : (measure.interval ?? []).map((end) => -end).reverse();
    return { name: measure.name, a: measure.means[a], b: measure.means[b], difference: measure.means[a] - measure.means[b], low, high,
      wins: gains && gains.filter((gain) => gain > 0).length, losses: gains && gains.filter((gain) => gain < 0).length, measure };
  });
  if (!page.preferences) return rows;
  const none = { a: null, b: null, wins: null, losses: null };
  rows.push({ ...none, name: "preferred (sgnLP)", difference: null, wins: winsOf(a, b), losses: winsOf(b, a), measure: { decimals: 0, higher: true } });
  rows.push({ ...none, name: "mean rrLP of A against B", difference: rrLPOf(a, b), measure: { decimals: 4, higher: true } });
  return rows;
}

const shownInterval = ({ low, high, measure }) => (low === undefined ? "–" : `[${shown(low, measure)}, ${shown(high, measure)}]`);

function showComparison() {
  fillTable($("pair-table"), comparisonRows().map((row) => {
    const { name, a, b, difference, wins, losses, measure } = row;
    const better = measure.higher === null ? 0 : sign(measure) * difference;
    const made = element("tr", element("th", name));
    made.cells[0].scope = "row";
    made.classList.toggle("chosen", measure === chosenMeasure());
    for (const [value, best] of [[a, better > 0], [b, better < 0]]) {
      made.append(element("td", shown(value, measure), best && value !== null ? "num best" : "num"));
    }
    const texts = [signed(difference, measure), ...(S === 2 ? [shownInterval(row)] : []), wins ?? "–", losses ?? "–", shownP(measure)];
    made.append(...texts.map((text) => element("td", String(text), "num")));
    return made;
  }));
  if (docs) $("pair-planned").replaceChildren("For a comparison planned before looking: ", commandOf("compare"));
}

function comparisonCsv() {
  const head = ["measure", "system_a", "system_b", "mean_a", "mean_b", "difference", "low", "high", "wins_a", "wins_b", "p"];
  const [a, b] = [page.systems[state.a], page.systems[state.b]];
  return csv([head, ...comparisonRows().map((row) => (
    [row.name, a, b, row.a, row.b, row.difference === null ? null : raw(row.difference), row.low, row.high, row.wins, row.losses,
      row.measure.p && state.a !== state.b ? raw(row.measure.p[pairAt(state.a, state.b)]) : null]
  ))]);
}

// The ranks of every relevant document in A and B; null if the page does not hold them.
function rankRows() {
  const rows = [docs.rowOf.get(state.a), docs.rowOf.get(state.b)];
  if (rows.includes(undefined)) return null;
  const beyond = page.cutoff * 1.5;
  const found = [];
  for (let q = 0; q < Q; q++) {
    for (let d = docs.starts[q]; d < docs.starts[q + 1]; d++) {
      const [inA, inB] = rows.map((row) => docs.ranks[row * R + d]);
      const better = inA === inB ? "equal" : !inB || (inA && inA < inB) ? "A" : "B";
      found.push({ query: page.queries[q], document: docs.ids[d], x: inA || beyond, y: inB || beyond,
        in_a: inA || "not retrieved", in_b: inB || "not retrieved", better, q, at: d });
    }
  }
  return found;
}

const missing = (side) => (row) => row[side] === "not retrieved";
const retrieved = (rows) => rows.filter((row) => !missing("in_a")(row) || !missing("in_b")(row));

// The depths of A and B, if they are below the depth of the page.
function runEnds() {
  const ends = [["A", state.a], ["B", state.b]].map(([side, system]) => ({ side, depth: page.retrieved[system] }));
  return { ends: ends.filter(({ depth }) => depth >= 1 && depth < 0.9 * page.cutoff) };
}

function differenceRows() {
  const { a, b } = state;
  const measure = chosenMeasure();
  if (!holdsBoth()) return [];
  return page.queries.map((query, q) => {
    const [valueA, valueB] = [measure.values[a * Q + q], measure.values[b * Q + q]].map(raw);
    const difference = raw(sign(measure) * (valueA - valueB));
    return { query, text: page.queryTexts[q], relevant: page.relevant?.[q], measure: measure.name, system_a: page.systems[a],
      system_b: page.systems[b], a: valueA, b: valueB, difference,
      better: difference > 0 ? "A" : difference < 0 ? "B" : "equal", q };
  }).sort((x, y) => y.difference - x.difference || x.q - y.q).map((row, at) => ({ ...row, at }));
}

function matrixRows() {
  const order = systemsBy(state.measure);
  return order.flatMap((a, i) => order.map((b, j) => {
    const [wins, losses] = [winsOf(a, b), winsOf(b, a)];
    return { row: i + 1, column: j + 1, system: page.systems[a], against: page.systems[b], wins, losses,
      sgnLP: (wins - losses) / Q, rrLP: rrLPOf(a, b) };
  }));
}

function saysOf(rows) {
  const [a, b] = [page.systems[state.a], page.systems[state.b]];
  const [queriesA, queriesB] = [winsOf(state.a, state.b), winsOf(state.b, state.a)];
  const queries = `By lexicographic precision A (${a}) is preferred on ${plural(queriesA, "query")}, ` +
    `B (${b}) on ${queriesB}, neither on ${Q - queriesA - queriesB}. `;
  if (!rows) return queries + "The ranks of one of the two are not on this page, which has ranks of the best systems only.";
  const count = (test) => rows.filter(test).length.toLocaleString("en");
  const only = (here, other) => (row) => missing(other)(row) && !missing(here)(row);
  return queries + `Of ${plural(rows.length, "relevant document")}, A ranks ${count((r) => r.better === "A")} higher ` +
    `(${count(only("in_a", "in_b"))} missed by B) and B ranks ${count((r) => r.better === "B")} higher ` +
    `(${count(only("in_b", "in_a"))} missed by A); ${count((r) => r.better === "equal" && !missing("in_a")(r))} with equal ranks, ` +
    `${count((r) => missing("in_a")(r) && missing("in_b")(r))} missed by both.`;
}

// Relevant documents that A and B rank differently.

function movedRows() {
  const rows = rankRows();
  if (!rows) return null;
  const which = $("moved-which").value;
  const query = $("moved-query").value;
  const kept = {
    moved: (row) => row.better !== "equal",
    a: (row) => !missing("in_a")(row) && missing("in_b")(row),
    b: (row) => missing("in_a")(row) && !missing("in_b")(row),
    neither: (row) => missing("in_a")(row) && missing("in_b")(row),
  }[which];
  const factor = (row) => Math.abs(Math.log(row.x / row.y));
  return rows.filter((row) => kept(row) && (query === "" || row.q === Number(query)))
    .sort((x, y) => factor(y) - factor(x) || x.at - y.at);
}

function documentCell(d, q) {
  const cell = element("td", element("span", docs.ids[d], "id"), "name");
  const text = docs.text?.[d];
  if (text) cell.append(element("span", highlighted(text, wordsOf(page.queryTexts[q])), "snippet"));
  return cell;
}

function movedRow(row) {
  const link = linkTo(row.query, "query", { query: row.query });
  const name = element("th", link, "name");
  name.scope = "row";
  if (page.queryTexts[row.q]) name.append(" ", element("span", page.queryTexts[row.q], "text"));
  const rank = (value) => element("td", value === "not retrieved" ? "–" : String(value), "num");
  const [a, b] = [rank(row.in_a), rank(row.in_b)];
  if (row.better !== "equal") (row.better === "A" ? a : b).classList.add("best");
  return element("tr", [name, documentCell(row.at, row.q), element("td", String(docs.grades[row.at]), "num"), a, b]);
}

function showMoved() {
  const rows = movedRows();
  const list = rows ?? [];
  const shownRows = allMoved ? list : list.slice(0, FEW);
  const none = rows ? "There are none." : "The ranks of one of the two are not on this page.";
  fillTable($("moved"), list.length ? shownRows.map(movedRow) : [emptyRow(none, 5)]);
  $("moved-more").hidden = shownRows.length === list.length;
  $("moved-more").textContent = `Show all ${list.length.toLocaleString("en")}`;
}

function movedCsv() {
  return csv([["query", "document", "grade", "system_a", "system_b", "rank_a", "rank_b", "text"], ...(movedRows() ?? []).map((row) => [
    row.query, row.document, docs.grades[row.at], page.systems[state.a], page.systems[state.b], row.in_a, row.in_b, docs.text?.[row.at],
  ])]);
}

function showNames() {
  for (const side of ["a", "b"]) {
    const name = page.systems[state[side]];
    for (const head of document.querySelectorAll(`#pair thead th.${side}:has(.who)`)) {
      head.title = name;
      head.querySelector(".who").textContent = ` ${name}`;
    }
  }
}

function showPair() {
  showSideColours();
  showNames();
  $("pair-a").value = String(state.a);
  $("pair-b").value = String(state.b);
  showComparison();
  if (docs) {
    const values = holdsBoth() ? "" : " The values by query of one of the two are not on this page either.";
    $("pair-says").textContent = saysOf(rankRows()) + values;
    allMoved = false;
    showMoved();
  }
  redraw("differences", "ranks", "strip");
}

function startMoved() {
  for (const [q, name] of page.queries.entries()) {
    const option = element("option", page.queryTexts[q] ? `${name} ${page.queryTexts[q]}` : name);
    option.value = String(q);
    $("moved-query").append(option);
  }
  for (const id of ["moved-which", "moved-query"]) {
    $(id).addEventListener("change", () => { allMoved = false; showMoved(); });
  }
  $("moved-more").addEventListener("click", () => { allMoved = true; showMoved(); });
}

function startPair() {
  if (S < 2) return;
  const order = systemsBy(page.first);
  [state.a, state.b] = order;
  fillSelect($("pair-a"), order, state.a);
  fillSelect($("pair-b"), order, state.b);
  for (const side of ["a", "b"]) {
    $(`pair-${side}`).addEventListener("change", (event) => chooseHere({ [side]: Number(event.target.value) }, "pair"));
  }
  $("pair-swap").addEventListener("click", () => chooseHere({ a: state.b, b: state.a }, "pair"));
  if (docs) startMoved();
  chart("differences", differenceRows, { click: (datum) => openQuery(datum.q) });
  chart("ranks", () => retrieved(rankRows() ?? []), { more: runEnds });
  chart("matrix", matrixRows, { click: (datum) => {
    chooseHere({ a: page.systems.indexOf(datum.system), b: page.systems.indexOf(datum.against) }, "pair");
    $("pair").scrollIntoView();
  } });
  follow((changed) => {
    if (changed.includes("a") || changed.includes("b")) showPair();
    if (changed.includes("measure")) {
      if (docs) $("matrix-order").textContent = chosenMeasure().name;
      showComparison();
      redraw("differences", "matrix");
    }
  });
  showPair();
}
