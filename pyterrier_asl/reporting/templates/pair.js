// Two systems: by every measure, query by query, and relevant document by relevant document.
const FEW = 20;
let allMoved = false;

const holdsBoth = () => rowOf.has(state.a) && rowOf.has(state.b);

// A against B by every measure.
function comparisonRows() {
  const { a, b } = state;
  const rows = page.measures.map((measure) => (
    { name: measure.name, a: measure.means[a], b: measure.means[b], difference: ofPair(measure.differences, b, a),
      detectable: Math.abs(ofPair(measure.detectable, a, b)) || null, measure }
  ));
  if (!page.preferences) return rows;
  const none = { a: null, b: null, detectable: null, measure: { decimals: 4, higher: true } };
  return [...rows, { ...none, name: "mean rrLP of B against A", difference: ofPair(page.preferences.rrLP, b, a) }];
}

function showComparison() {
  if (!$("pair-table")) return;
  fillTable($("pair-table"), comparisonRows().map(({ name, a, b, difference, detectable, measure }) => {
    const means = [shown(a, measure), shown(b, measure)];
    const row = tableRow(name, ...means, signed(difference, measure), shown(detectable, measure), shownP(measure));
    row.classList.toggle("chosen", measure === chosenMeasure());
    const best = means[sign(measure) * difference < 0 ? 0 : 1]; // both, if they are shown as equal
    const ranked = a !== null && measure.higher !== null;
    means.forEach((mean, side) => row.cells[side + 1].classList.toggle("best", ranked && mean === best));
    return row;
  }));
  $("pair-planned").replaceChildren("For a comparison planned before looking: ", commandOf("compare"));
}

// The command for A and B by the selected measure.
function commandOf(name) {
  const measure = `'${chosenMeasure().name.replaceAll("'", `'\\''`)}'`;
  const rel = page.rel === 1 ? "" : ` --rel ${page.rel}`;
  return element("code", `pyterrier-asl ${name} QRELS ${page.systems[state.a]} ${page.systems[state.b]} -m ${measure}${rel}`);
}

function pairRows() {
  const [system_a, system_b] = [page.systems[state.a], page.systems[state.b]];
  return comparisonRows().map(({ name, a, b, difference, detectable, measure }) => (
    { measure: name, system_a, system_b, mean_a: a, mean_b: b, difference: raw(difference), detectable, p: shownP(measure).replace(/ ✱|–/, "") }
  ));
}

// The ranks of every relevant document in A and B; null if the page does not hold them.
function rankRows() {
  if (!holdsBoth()) return null;
  const rows = [rowOf.get(state.a), rowOf.get(state.b)];
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
const foundRows = () => (rankRows() ?? []).filter((row) => !missing("in_a")(row) || !missing("in_b")(row));

// The depth of a run, if it is below the depth of the page.
const runEnd = (system) => (page.retrieved[system] >= 1 && page.retrieved[system] < 0.9 * page.cutoff ? page.retrieved[system] : null);

const differenceRows = () => (holdsBoth() && chosenMeasure().higher !== null ? queryRows() : []);

function matrixRows() {
  return page.systems.flatMap((system, a) => page.systems.map((against, b) => (
    { system, against, wins: winsOf(a, b), losses: winsOf(b, a), rrLP: ofPair(page.preferences.rrLP, a, b) }
  )));
}

function openPairOf({ system, against }) {
  chooseHere({ a: page.systems.indexOf(system), b: page.systems.indexOf(against) }, "pair");
  $("pair").scrollIntoView();
}

function pairSays() {
  const held = holdsBoth() ? "" : " The values and documents by query of one of the two are not on this page.";
  if (!page.preferences) return held;
  return `By lexicographic precision A (${page.systems[state.a]}) is preferred on ${plural(winsOf(state.a, state.b), "query")}, ` +
    `B (${page.systems[state.b]}) on ${winsOf(state.b, state.a)}.${held}`;
}

// The bounds of the difference of A and B by the selected measure, and the documents to judge next.
function showUnjudged() {
  if (!$("unjudged-says")) return;
  const { a, b } = state;
  const name = chosenMeasure().name;
  const found = page.bounds[name]?.[[Math.min(a, b), Math.max(a, b)].join()];
  const none = page.bounds[name] ? ["The bounds of this pair are not on this page: ", commandOf("holes")] : [`${name} has no bounds.`];
  $("unjudged-says").replaceChildren(...(found ? [found.says] : none));
  $("unjudged-list").hidden = !found?.todo.length;
  fillTable($("unjudged-table"), (found?.todo ?? []).map(([q, number, first, second, effect]) => {
    const ranks = a < b ? [first, second] : [second, first];
    return tableRow(queryLabel(page.queries[q], q), documentCell(number, q), ...ranks.map((rank) => rank ?? "–"), effect);
  }));
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
  const query = queryLabel(linkTo(row.query, "query", { query: row.query }), row.q);
  const ranks = [row.in_a, row.in_b].map((rank) => (rank === "not retrieved" ? "–" : rank));
  const shownRow = tableRow(query, documentCell(row.at, row.q), docs.grades[row.at], ...ranks);
  if (row.better !== "equal") shownRow.cells[row.better === "A" ? 3 : 4].classList.add("best");
  return shownRow;
}

function showMoved() {
  const rows = movedRows();
  const list = rows ?? [];
  const shownRows = allMoved ? list : list.slice(0, FEW);
  const none = rows ? "There are none." : "The ranks of one of the two are not on this page.";
  fillTable($("moved"), shownRows.map(movedRow), none);
  $("moved-more").hidden = shownRows.length === list.length;
  $("moved-more").textContent = `Show all ${list.length.toLocaleString("en")}`;
}

const movedData = () => (movedRows() ?? []).map(({ query, document, at, in_a, in_b }) => (
  { query, document, grade: docs.grades[at], system_a: page.systems[state.a], system_b: page.systems[state.b], rank_a: in_a, rank_b: in_b,
    text: docs.text?.[at] }
));

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
  $("pair-says").textContent = pairSays();
  showUnjudged();
  allMoved = false;
  showMoved();
  redraw("differences", "ranks", "strip", "lengths", "bump");
}

function startPair() {
  if (S < 2) return;
  [state.a, state.b] = S > 2 ? page.palette : [0, 1]; // of two systems the first is the baseline
  for (const side of ["a", "b"]) {
    $(`pair-${side}`).addEventListener("change", (event) => chooseHere({ [side]: Number(event.target.value) }, "pair"));
  }
  $("pair-swap").addEventListener("click", () => chooseHere({ a: state.b, b: state.a }, "pair"));
  const show = (all) => () => { allMoved = all; showMoved(); };
  for (const id of ["moved-which", "moved-query"]) $(id).addEventListener("change", show(false));
  $("moved-more").addEventListener("click", show(true));
  follow((changed) => {
    if (changed.includes("a") || changed.includes("b")) showPair();
    if (changed.includes("measure")) {
      if ($("matrix-order")) $("matrix-order").textContent = chosenMeasure().name;
      showComparison();
      showUnjudged();
      redraw("differences", "matrix");
    }
  });
  showPair();
}
