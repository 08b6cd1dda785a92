// The data of the page, and what all parts of it share. Text goes into the page as text only.
const page = JSON.parse(document.getElementById("data").textContent);
const S = page.systems.length;
const Q = page.topics.length;
const docs = page.documents;
const $ = (id) => document.getElementById(id);

function unpack(text, Type) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return new Type(bytes.buffer);
}

for (const measure of page.measures) {
  measure.values = unpack(measure.values, Float32Array);
  measure.p = measure.p && unpack(measure.p, Float32Array);
}
docs.ranks = unpack(docs.ranks, Uint16Array);
docs.rowOf = new Map(docs.systems.map((system, row) => [system, row]));
if (page.duels) {
  page.duels.wins = unpack(page.duels.wins, Uint16Array);
  page.duels.rrLP = unpack(page.duels.rrLP, Float32Array);
  page.duels.rrP = unpack(page.duels.rrP, Float32Array);
  page.duels.sgnP = unpack(page.duels.sgnP, Float32Array);
  page.duels.levels = unpack(page.duels.levels, Uint16Array);
}

// Where a pair of systems stands among all pairs a < b.
function pairAt(a, b) {
  if (a > b) [a, b] = [b, a];
  return a * S - (a * (a + 1)) / 2 + (b - a - 1);
}

const sign = (measure) => (measure.higher === false ? -1 : 1);

function shown(value, measure) {
  if (value === null || Number.isNaN(value)) return "–";
  return value.toFixed(measure.places).replace("-", "−");
}

function shownP(p) {
  if (p === null || Number.isNaN(p)) return "–";
  return (p < 0.001 ? "< .001" : p.toFixed(3).replace(/^0/, "")) + (p <= page.alpha ? " ✱" : "");
}

function systemsBy(measure) {
  const order = [...page.systems.keys()];
  const places = page.measures[measure].order;
  return order.sort((a, b) => places[a] - places[b] || a - b);
}

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function fillSelect(select, systems, chosen) {
  for (const system of systems) {
    const option = element("option", page.systems[system]);
    option.value = String(system);
    option.selected = system === chosen;
    select.append(option);
  }
}

const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

// Files

function save(name, type, text) {
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function csv(rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

// What rows hold only so that they can be drawn.
const DRAWN = ["at", "chosen", "first", "label", "last", "marked", "q", "x", "y"];

function csvOfObjects(objects) {
  const columns = Object.keys(objects[0] ?? {}).filter((name) => !DRAWN.includes(name));
  return csv([columns, ...objects.map((object) => columns.map((name) => object[name]))]);
}

function csvOfTable(table) {
  const value = (cell) => cell.dataset.value ?? cell.textContent.trim();
  return csv([...table.rows].map((row) => [...row.cells].map(value)));
}

// Tables that sort: the first click puts the best first, or the largest where nothing is best.

function sortTable(table, column, forward) {
  const head = table.tHead.rows[0].cells[column];
  const body = table.tBodies[0];
  const textual = ["system", "topic"].includes(head.dataset.key);
  const key = (row) => row.cells[column].dataset.value;
  const compare = textual
    ? (a, b) => key(a).localeCompare(key(b), "en", { numeric: true })
    : (a, b) => key(a) - key(b);
  // What has no value stands last, whichever way the others go.
  const rows = [...body.rows].sort(
    (a, b) => (key(a) === "") - (key(b) === "") || (forward ? 1 : -1) * compare(a, b)
  );
  body.append(...rows);
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", forward ? "ascending" : "descending");
}

function startsAscending(head) {
  return ["place", "system", "topic", "first"].includes(head.dataset.key) || head.dataset.better === "low";
}

function makeSortable(table) {
  for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
    head.querySelector("button").addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      sortTable(table, column, now ? now === "descending" : startsAscending(head));
    });
  }
}

function filterRows(input, table, textOf) {
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    for (const row of table.tBodies[0].rows) row.hidden = !textOf(row).toLowerCase().includes(wanted);
  });
}
