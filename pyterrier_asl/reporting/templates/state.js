// What is chosen: a measure, systems A and B, a query. The address holds it, so that a link shares it.
const state = { section: "summary", measure: page.first, a: 0, b: 0, query: 0 };
const chosenMeasure = () => page.measures[state.measure];
const followers = [];

// Registers a part of the page that shows what is chosen; called with the names that changed.
const follow = (show) => followers.push(show);

function choose(changes, section) {
  const changed = Object.keys(changes).filter((name) => changes[name] !== state[name]);
  Object.assign(state, changes);
  if (section) state.section = section;
  if (changed.length) for (const show of followers) show(changed);
}

function address(section, names) {
  const value = { measure: chosenMeasure().name, a: page.systems[state.a], b: page.systems[state.b], query: page.queries[state.query] };
  const kept = names.filter((name) => S > 1 || !["a", "b"].includes(name));
  return `#${section}?${new URLSearchParams(kept.map((name) => [name, value[name]]))}`;
}

// Chooses from a control of the page, and writes the address.
function chooseHere(changes, section) {
  choose(changes, section);
  history.replaceState(null, "", address(state.section, ["a", "b", "measure", "query"]));
}

// Chooses what an address says; unknown names are ignored.
function chooseByAddress(event) {
  const [section, text] = location.hash.slice(1).split(/\?(.*)/s);
  const params = new URLSearchParams(text ?? "");
  const measures = page.measures.map((measure) => measure.name);
  const among = { measure: measures, a: page.systems, b: page.systems, query: page.queries };
  const changes = {};
  for (const [name, values] of Object.entries(among)) {
    const at = values.indexOf(params.get(name));
    if (at >= 0) changes[name] = at;
  }
  choose(changes, section || "summary");
  const target = text === undefined ? null : $(section);
  if (target) {
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
    target.scrollIntoView({ behavior: event ? "auto" : "instant" });
  }
}

// Without scripts a link leads to its section; with them, to what it is about.
function completeLinks() {
  for (const link of document.querySelectorAll("a[data-state]")) link.hash += `?${link.dataset.state}`;
  const [best, second] = page.palette;
  for (const link of document.querySelectorAll("a.system")) {
    const a = Number(link.closest("tr").dataset.system);
    const names = { a: page.systems[a], b: page.systems[a === best ? second : best] };
    link.hash = `#pair?${new URLSearchParams(names)}`;
  }
}

// Colours: a system keeps its own as long as some part of the page shows it in colour. There are as many
// as are shown at once: those of two figures, and A and B.

const COLOURS = 12;
const owners = page.palette.slice(0, COLOURS);

function colourName(system) {
  if (!owners.includes(system)) {
    const shownNow = [state.a, state.b, ...lengthSystems(), ...bumpSystems()];
    owners[owners.findIndex((owner) => !shownNow.includes(owner))] = system;
  }
  return `--c${owners.indexOf(system) + 1}`;
}

const sideColours = () => [state.a, state.b].map(colourName);

function showSideColours() {
  const [a, b] = sideColours();
  document.documentElement.style.setProperty("--a", `var(${a})`);
  document.documentElement.style.setProperty("--b", `var(${b})`);
}
