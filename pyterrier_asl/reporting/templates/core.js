// The data of the page, and helpers of all its parts. Text is never inserted as HTML.
const $ = (id) => document.getElementById(id);
const packed = Uint8Array.from(atob($("data").textContent), (character) => character.charCodeAt(0));
const page = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
const S = page.systems.length;
const Q = page.queries.length;
const docs = page.documents;
const tops = page.tops;
const rowOf = new Map(page.held.map((system, row) => [system, row]));
const R = docs.starts[Q]; // the number of relevant documents, which come first

// Values by query; NaN for systems whose values the page does not hold.
for (const measure of page.measures) {
  const { different, codes } = measure.values;
  measure.values = new Float32Array(S * Q).fill(NaN);
  codes.forEach((code, at) => { measure.values[page.held[Math.floor(at / Q)] * Q + (at % Q)] = different[code]; });
}

// The index of a pair of systems among all pairs a < b.
function pairAt(a, b) {
  if (a > b) [a, b] = [b, a];
  return a * S - (a * (a + 1)) / 2 + (b - a - 1);
}

// Queries on which the first of two systems is preferred to the second.
const winsOf = (a, b) => page.preferences.wins[a * S + b];

// A number of each pair a < b as one of A and B.
const ofPair = (numbers, a, b) => (a === b ? 0 : numbers[pairAt(a, b)] * (a < b ? 1 : -1));

const sign = (measure) => (measure.higher === false ? -1 : 1);

function shown(value, measure) {
  if (value === null || Number.isNaN(value)) return "–";
  const text = value.toFixed(measure.decimals);
  return Number(text) ? text.replace("-", "−") : text.replace("-", "");
}

const signed = (value, measure) => (Number(value?.toFixed(measure.decimals)) > 0 ? "+" : "") + shown(value, measure);

// The p of A and B by a measure, with a star where the difference is significant.
function shownP({ board }) {
  const { a, b } = state;
  if (!board || a === b) return "–";
  const isSignificant = board.better[a * S + b] || board.better[b * S + a];
  return board.p[board.codes[pairAt(a, b)]].replace(/^p = /, "") + (isSignificant ? " ✱" : "");
}

function element(tag, content = [], className = "") {
  const made = Object.assign(document.createElement(tag), { className });
  made.append(...[content].flat());
  return made;
}

function plural(count, word) {
  const ending = word.endsWith("y") ? word.replace(/y$/, "ies") : `${word}s`;
  return `${count.toLocaleString("en")} ${count === 1 ? word : ending}`;
}

// Shows these rows in a table, or why there are none. Each cell has its heading, which narrow windows show instead of the head.
function fillTable(table, rows, none) {
  const heads = [...table.tHead.rows[0].cells];
  for (const row of rows) for (const cell of row.cells) cell.dataset.label = heads[cell.cellIndex].firstChild?.textContent ?? "";
  const empty = element("td", none);
  empty.colSpan = heads.length;
  table.tBodies[0].replaceChildren(...(rows.length ? rows : [element("tr", empty)]));
}

// A row of a table: the content of its heading, then cells, or the texts of numbers.
function tableRow(heading, ...cells) {
  const head = element("th", heading, "name");
  head.scope = "row";
  return element("tr", [head, ...cells.map((cell) => (cell instanceof Node ? cell : element("td", String(cell), "num")))]);
}

// A query in a table, with its text.
const queryLabel = (content, q) => (page.queryTexts[q] ? [content, " ", element("span", page.queryTexts[q], "text")] : content);

// Words of a query in a text, marked.
const COMMON = new Set(("a an and are as at be by can do does for from how in is it of on or that the their this to was "
  + "what when where which who why will with").split(" "));

function wordsOf(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => word.length > 1 && !COMMON.has(word));
}

function highlighted(text, words) {
  const same = (a, b) => a === b || (Math.min(a.length, b.length) > 3 && (a.startsWith(b) || b.startsWith(a)));
  return text.split(/([\p{L}\p{N}]+)/u).map((part, at) => {
    const lower = part.toLowerCase();
    return at % 2 && words.some((word) => same(lower, word)) ? element("mark", part) : part;
  });
}

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
    const text = value === null || value === undefined || Number.isNaN(value) ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

// A number rounded to the precision of 32 bits.
const raw = (value) => Number(value.toPrecision(7));

// Columns that are needed for drawing only.
const DRAWN = ["at", "q", "shallow", "x", "y"];

function csvOfObjects(objects) {
  const columns = Object.keys(objects[0] ?? {}).filter((name) => !DRAWN.includes(name));
  return csv([columns, ...objects.map((object) => columns.map((name) => object[name]))]);
}

function csvOfTable(table) {
  const value = (cell) => cell.dataset.value ?? cell.textContent.trim();
  return csv([...table.rows].map((row) => [...row.cells].map(value)));
}

// Sortable tables: the first click puts the best value first, or the largest if no value is best.

function sortTable(table, head, forward) {
  const column = head.cellIndex;
  const body = table.tBodies[0];
  const textual = ["system", "query"].includes(head.dataset.key);
  const key = (row) => row.cells[column].dataset.value;
  const compare = textual
    ? (a, b) => key(a).localeCompare(key(b), "en", { numeric: true })
    : (a, b) => key(a) - key(b);
  // Rows without a value come last in both directions.
  const rows = [...body.rows].sort(
    (a, b) => (key(a) === "") - (key(b) === "") || (forward ? 1 : -1) * compare(a, b)
  );
  body.append(...rows);
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", forward ? "ascending" : "descending");
}

const startsAscending = ({ dataset }) => ["rank", "system", "query", "first"].includes(dataset.key) || dataset.better === "low";

// A click on a heading sorts a table; `usual` sorts it when the measure changes. The first click on a measure's heading also
// selects the measure.
function makeSortable(table, usual, before = () => ({})) {
  for (const head of table.tHead.rows[0].cells) {
    head.querySelector("button").addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      if (!now) chooseHere(before(head), table.closest("section").id);
      sortTable(table, head, now ? now === "descending" : startsAscending(head));
      head.querySelector("button").focus();
    });
  }
  follow((changed) => changed.includes("measure") && usual());
  usual();
}

// Shows the rows that contain the text of a search.
function filterRows(input, table, empty, textOf) {
  input?.addEventListener("input", () => {
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) row.hidden = !textOf(row).toLowerCase().includes(input.value.trim().toLowerCase());
    empty.hidden = rows.some((row) => !row.hidden);
  });
}
