// Two systems: by every measure, topic by topic, and relevant document by relevant document.
const chosen = () => [Number($("pair-a").value), Number($("pair-b").value)];

function comparisonRows() {
  const [a, b] = chosen();
  const at = a === b ? null : pairAt(a, b);
  const rows = page.measures.map((measure) => ({
    name: measure.name, a: measure.means[a], b: measure.means[b], difference: measure.means[a] - measure.means[b],
    p: at === null || !measure.p ? null : measure.p[at], better: measure.higher === null ? 0 : sign(measure), measure,
  }));
  const { wins, rrLP, rrP, sgnP } = page.duels;
  const four = { places: 4 };
  rows.push({ name: "topics preferred (sgnLP)", a: wins[a * S + b], b: wins[b * S + a], better: 1,
    difference: wins[a * S + b] - wins[b * S + a], p: at === null ? null : sgnP[at], measure: { places: 0 } });
  rows.push({ name: "mean rrLP of A against B", a: null, b: null, better: 1, difference: rrLP[a * S + b], p: at === null ? null : rrP[at], measure: four });
  return rows;
}

function showComparison() {
  const body = $("pair-table").tBodies[0];
  body.replaceChildren(...comparisonRows().map(({ name, a, b, difference, p, better, measure }) => {
    const row = element("tr");
    row.append(element("th", name));
    for (const [value, wins] of [[a, difference * better > 0], [b, difference * better < 0]]) {
      row.append(element("td", shown(value, measure), wins && value !== null ? "num best" : "num"));
    }
    row.append(element("td", shown(difference, measure), "num"), element("td", shownP(p), "num"));
    return row;
  }));
}

// Who has a relevant document higher; null: the ranks of one of them are not on the page.
function rankRows() {
  const [a, b] = chosen();
  const rows = [docs.rowOf.get(a), docs.rowOf.get(b)];
  if (rows.includes(undefined)) return null;
  const R = docs.ids.length;
  const beyond = page.cutoff * 1.5;
  const found = [];
  for (let topic = 0; topic < Q; topic++) {
    for (let d = docs.starts[topic]; d < docs.starts[topic + 1]; d++) {
      const [inA, inB] = rows.map((row) => docs.ranks[row * R + d]);
      const better = inA === inB ? "equal" : !inB || (inA && inA < inB) ? "A" : "B";
      found.push({ topic: page.topics[topic], document: docs.ids[d], x: inA || beyond, y: inB || beyond,
        in_a: inA || "not retrieved", in_b: inB || "not retrieved", better });
    }
  }
  return found;
}

const retrieved = (rows) => rows.filter((row) => row.in_a !== "not retrieved" || row.in_b !== "not retrieved");

function differenceRows() {
  const [a, b] = chosen();
  const measure = page.measures[$("pair-measure").value];
  return page.topics.map((topic, q) => {
    const [valueA, valueB] = [measure.values[a * Q + q], measure.values[b * Q + q]];
    const difference = sign(measure) * (valueA - valueB);
    return { topic, text: page.topicTexts[q], relevant: page.relevant[q], a: valueA, b: valueB, difference,
      better: difference > 0 ? "A" : difference < 0 ? "B" : "equal", q };
  }).sort((x, y) => y.difference - x.difference || x.q - y.q).map((row, at) => ({ ...row, at }));
}

function matrixRows() {
  const order = systemsBy(Number($("pair-measure").value));
  const { wins, rrLP } = page.duels;
  return order.flatMap((a, i) => order.map((b, j) => ({
    row: i + 1, column: j + 1, system: page.systems[a], against: page.systems[b], wins: wins[a * S + b],
    losses: wins[b * S + a], sgnLP: (wins[a * S + b] - wins[b * S + a]) / Q, rrLP: rrLP[a * S + b],
  })));
}

function saysOf(rows) {
  const [a, b] = chosen().map((system) => page.systems[system]);
  const levels = page.duels.levels;
  const [x, y] = chosen();
  let [topicsA, topicsB] = [0, 0];
  for (let q = 0; q < Q; q++) {
    topicsA += levels[x * Q + q] < levels[y * Q + q];
    topicsB += levels[x * Q + q] > levels[y * Q + q];
  }
  const topics = `By lexicographic precision A (${a}) is preferred on ${plural(topicsA, "topic")}, ` +
    `B (${b}) on ${topicsB}, neither on ${Q - topicsA - topicsB}. `;
  if (!rows) return topics + "The ranks of one of the two are not on this page, which holds those of the best systems only.";
  const count = (test) => rows.filter(test).length.toLocaleString("en");
  const gone = (side) => (row) => row[side] === "not retrieved";
  return topics + `Of ${plural(rows.length, "relevant document")} A has ${count((r) => r.better === "A")} higher ` +
    `(${count((r) => gone("in_b")(r) && !gone("in_a")(r))} of them B does not retrieve), ` +
    `B ${count((r) => r.better === "B")} (${count((r) => gone("in_a")(r) && !gone("in_b")(r))} A does not), ` +
    `${count((r) => r.better === "equal" && !gone("in_a")(r))} stand at one rank, and ` +
    `${count((r) => gone("in_a")(r) && gone("in_b")(r))} neither retrieves.`;
}

function showPair() {
  showComparison();
  $("pair-says").textContent = saysOf(rankRows());
  redraw("differences", "ranks");
}

function choosePair(a, b) {
  $("pair-a").value = String(a);
  $("pair-b").value = String(b);
  showPair();
}

function startPair() {
  if (!page.duels) return;
  const order = systemsBy(page.first);
  fillSelect($("pair-a"), order, order[0]);
  fillSelect($("pair-b"), order, order[1]);
  for (const id of ["pair-a", "pair-b"]) $(id).addEventListener("change", showPair);
  $("pair-swap").addEventListener("click", () => choosePair(...chosen().reverse()));
  $("pair-measure").addEventListener("change", () => {
    $("matrix-order").textContent = page.measures[$("pair-measure").value].name;
    redraw("differences", "matrix");
  });
  chart("differences", differenceRows, (datum) => openTopic(datum.q, true));
  chart("ranks", () => retrieved(rankRows() ?? []));
  chart("matrix", matrixRows, (datum) => {
    choosePair(page.systems.indexOf(datum.system), page.systems.indexOf(datum.against));
    $("pair").scrollIntoView();
  });
  showPair();
}
