// The selection of the reader: a measure, systems A and B, a query, columns of the leaderboard. The address and every link of the
// page hold it, so that reloading, going back and sharing a link keep it.
const columnBoxes = [...$("board-columns").querySelectorAll("input")];
if (innerWidth < 700) for (const box of columnBoxes) box.checked &&= box.value === "ranks"; // a phone has room for one
const columnName = (box) => box.parentElement.textContent.trim();
const columnsShown = () => columnBoxes.filter((box) => box.checked).map(columnName).join("\n");
const USUAL_COLUMNS = columnsShown();
const state = { section: "summary", measure: page.first, a: 0, b: 0, query: 0, columns: USUAL_COLUMNS };
const CHOICES = { measure: page.measures.map(({ name }) => name), a: page.systems, b: page.systems, query: page.queries };
const chosenMeasure = () => page.measures[state.measure];
const followers = [];

// Registers a part of the page that depends on the selection; called with the names that changed.
const follow = (show) => followers.push(show);

function choose(changes, section) {
  const changed = Object.keys(changes).filter((name) => changes[name] !== state[name]);
  Object.assign(state, changes);
  if (section) state.section = section;
  if (changed.length) for (const show of followers) show(changed);
  completeLinks();
}

// The address of a section with the selection; `others` replaces some of its names.
function address(section, others = {}) {
  const chosen = Object.entries(CHOICES).map(([name, values]) => [name, others[name] ?? values[state[name]]]);
  const kept = chosen.filter(([name]) => S > 1 || !["a", "b"].includes(name));
  const columns = state.columns === USUAL_COLUMNS ? [] : state.columns.split("\n").map((name) => ["column", name]);
  return `#${section}?${new URLSearchParams([...kept, ...columns])}`;
}

// Changes the selection by a control of the page, and writes the address. The back button undoes the selection of a measure.
function chooseHere(changes, section) {
  const step = (changes.measure ?? state.measure) !== state.measure;
  choose(changes, section);
  history[step ? "pushState" : "replaceState"](null, "", address(state.section));
}

// Changes the selection to the one in the address; unknown names are ignored.
function chooseByAddress(event) {
  const [section, text] = location.hash.slice(1).split(/\?(.*)/s);
  const params = new URLSearchParams(text ?? "");
  const changes = {};
  for (const [name, values] of Object.entries(CHOICES)) {
    const at = values.indexOf(params.get(name));
    if (at >= 0) changes[name] = at;
  }
  if (event || text !== undefined) { // the address of a page that was just opened has no names
    changes.measure ??= page.first;
    const columns = params.getAll("column");
    const names = columnBoxes.map(columnName).filter((name) => columns.includes(name));
    changes.columns = columns.length ? names.join("\n") : USUAL_COLUMNS;
  }
  choose(changes, section || "summary");
  if (text !== undefined) goTo(section, event ? "auto" : "instant");
}

function goTo(section, behavior) {
  const target = $(section);
  if (!target) return;
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
  target.scrollIntoView({ behavior });
}

// A link into the page that changes the selection, like the links of the templates.
function linkTo(content, section, names) {
  const link = element("a", content);
  link.dataset.section = section;
  link.dataset.state = new URLSearchParams(names);
  link.setAttribute("href", address(section, names));
  return link;
}

// Without scripts a link leads to its section. Scripts add the selection.
function completeLinks() {
  for (const link of document.querySelectorAll('a[href^="#"]:not(.skip)')) {
    link.dataset.section ??= link.hash.slice(1);
    link.setAttribute("href", address(link.dataset.section, Object.fromEntries(new URLSearchParams(link.dataset.state ?? ""))));
  }
}

// A click on a link with the present address does not change the address, so go there.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href^="#"]');
  if (link && link.hash === location.hash) goTo(link.dataset.section, "auto");
});

// Parts of the page for one measure are hidden unless it is selected.
follow((changed) => {
  if (!changed.includes("measure")) return;
  for (const part of document.querySelectorAll("[data-for]")) part.hidden = Number(part.dataset.for) !== state.measure;
});

// A system keeps its colour as long as some part of the page shows it in colour. At most this many systems
// are coloured at once: the systems of two figures, and A and B.

const MOST_COLOURED = 12;
const owners = page.palette.slice(0, MOST_COLOURED);
const withSides = (systems) => [...new Set([...systems, state.a, state.b])];

// The systems in colour of two figures: the best ones, or the best by each measure, with A and B.
const IN_COLOUR = { lengths: () => withSides(page.palette.slice(0, 3)), bump: () => withSides(S <= 6 ? page.palette : page.marked) };

function colourName(system) {
  if (!owners.includes(system)) {
    const shownNow = [...IN_COLOUR.lengths(), ...IN_COLOUR.bump()];
    owners[owners.findIndex((owner) => !shownNow.includes(owner))] = system;
  }
  return `--c${owners.indexOf(system) + 1}`;
}

const sideColours = () => [state.a, state.b].map(colourName);

function showSideColours() {
  for (const [at, name] of sideColours().entries()) document.documentElement.style.setProperty(["--a", "--b"][at], `var(${name})`);
}
