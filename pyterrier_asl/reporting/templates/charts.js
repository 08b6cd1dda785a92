// Figures. A figure is drawn when it is scrolled near the window, when the page is printed, and again when
// its rows or colours change.
const dark = matchMedia("(prefers-color-scheme: dark)");
const charts = new Map();
const SHORT_NAMES = Object.fromEntries(page.systems.map((system, i) => [system, page.shortNames[i]]));
let printing = false;

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function theme() {
  const ink = colour("--ink");
  const text = { labelColor: colour("--soft"), titleColor: colour("--soft") };
  return {
    background: "transparent",
    font: getComputedStyle(document.body).fontFamily,
    view: { stroke: null },
    axis: { ...text, gridColor: colour("--line"), domainColor: colour("--line"), tickColor: colour("--line"),
      labelFontSize: 11.5, titleFontSize: 12, titleFontWeight: "normal", titlePadding: 8 },
    legend: { ...text, labelColor: ink, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", symbolSize: 90,
      symbolBaseFillColor: colour("--soft"), gradientStrokeColor: "transparent" },
    range: {
      category: [1, 2, 3, 4, 5, 6].map((n) => colour(`--c${n}`)),
      diverging: [colour("--c2"), colour("--middle"), colour("--c1")],
    },
    mark: { color: colour("--c1") },
    line: { color: colour("--soft") },
    rule: { color: colour("--soft") },
    text: { color: ink },
  };
}

// Registers a figure of the page: a function that returns its rows, and one that is called with a clicked mark.
function chart(name, rows, { click, more } = {}) {
  const figure = document.querySelector(`figure[data-chart="${name}"]`);
  if (!figure) return;
  const title = figure.querySelector("h3")?.textContent ?? "All systems on this query";
  const canvas = figure.querySelector(".canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Figure: ${title}. Its data can be saved below.`);
  // Reserves room for the figure, so that the page does not move when it is drawn.
  const square = Math.min(canvas.clientWidth - 60, 520);
  const height = ["matrix", "ranks"].includes(name) ? square : page.charts[name].height ?? 340;
  canvas.style.minHeight = `${height + 40}px`;
  charts.set(name, { name, figure, rows, click, more, near: false, view: null });
}

// The specification with the names and colours of coloured systems.
const IN_COLOUR = { lengths: lengthSystems, bump: bumpSystems };

function specification(name) {
  const systems = IN_COLOUR[name]?.() ?? [];
  const sides = [...sideColours().map(colour), colour("--soft")];
  const text = JSON.stringify(page.charts[name])
    .replaceAll('["systems"]', () => JSON.stringify(systems.map((system) => page.systems[system])))
    .replaceAll('["colours"]', () => JSON.stringify(systems.map((system) => colour(colourName(system)))))
    .replaceAll('["neutral"]', () => JSON.stringify([colour("--soft"), colour("--mid")]))
    .replaceAll('["sides"]', () => JSON.stringify(sides))
    .replaceAll("{measure}", () => JSON.stringify(chosenMeasure().name).slice(1, -1))
    .replaceAll("{queries}", plural(Q, "query"));
  return JSON.parse(text);
}

async function draw(one) {
  const { name, figure, rows, click, more } = one;
  const canvas = figure.querySelector(".canvas");
  const data = rows();
  if (!data.length) {
    one.finalize?.();
    one.view = one.finalize = undefined;
    one.turn = (one.turn || 0) + 1;
    canvas.replaceChildren(element("p", "No data for this figure.", "empty"));
    figure.dataset.drawn = "yes";
    return;
  }
  const spec = specification(name);
  if (name === "matrix" || name === "ranks") spec.height = Math.min(canvas.clientWidth - 60, printing ? 380 : 520);
  spec.data = { name: "data" };
  spec.params = [...(spec.params ?? []), { name: "shortNames", value: SHORT_NAMES }];
  spec.datasets = { ...spec.datasets, data, ...more?.() };
  const turn = (one.turn = (one.turn || 0) + 1);
  const { view, finalize } = await vegaEmbed(canvas, spec, {
    actions: false, renderer: printing && data.length < 5000 ? "svg" : "canvas", config: theme(),
    tooltip: { theme: dark.matches ? "dark" : "light" }, ast: true,
  });
  if (turn !== one.turn) return finalize();
  one.finalize?.();
  one.view = view;
  one.finalize = finalize;
  figure.dataset.drawn = "yes";
  if (click) view.addEventListener("click", (event, item) => item?.datum && click(item.datum));
}

function redraw(...names) {
  for (const name of names) {
    const one = charts.get(name);
    if (one?.near || (one && printing)) draw(one);
  }
}

function watchCharts() {
  const watch = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      const one = charts.get(target.dataset.chart);
      if (isIntersecting && one && !one.near) {
        one.near = true;
        draw(one);
      }
    }
  }, { rootMargin: "500px" });
  for (const { figure } of charts.values()) watch.observe(figure);
  dark.addEventListener("change", () => redraw(...charts.keys()));
}

// For printing, all figures are drawn in light colours and as wide as the paper.
function printCharts(now) {
  printing = now;
  document.documentElement.classList.toggle("print", now);
  for (const answer of document.querySelectorAll(".answers details, #leaderboard .more")) answer.open = now;
  for (const one of charts.values()) if (now || one.near) draw(one);
}

addEventListener("beforeprint", () => printCharts(true));
addEventListener("afterprint", () => printCharts(false));

// Rows of the figures about headroom, rankings and judged documents.

function lengthSystems() {
  const other = $("lengths-add")?.value;
  return other ? [...page.palette.slice(0, 3), Number(other)] : page.palette.slice(0, 4);
}

function lengthRows() {
  return lengthSystems().flatMap((system, rank) => page.lengths.labels.map((label, at) => {
    const documents = page.lengths.counts[system][at];
    return { system: page.systems[system], rank, class: label, at, documents, share: R ? documents / R : 0 };
  }));
}

function lossRows() {
  return page.asl.order.flatMap((system, at) => {
    const whole = page.asl.means[system];
    const missing = page.missingShare[system] ?? 0;
    const row = (part, share) => ({ system: page.systems[system], rank: at + 1, part, asl: whole * share, share });
    return [row("documents not retrieved", missing), row("retrieved documents", 1 - missing)];
  });
}

function bumpSystems() {
  if (!$("bump-mark")) return [];
  const other = $("bump-mark").value;
  const usual = S <= 6 ? page.palette : [...page.reordered.map(({ ranks }) => ranks.indexOf(1)), ...page.movers.slice(0, 1)];
  return [...new Set(other ? [Number(other)] : usual)];
}

function bumpRows() {
  const marked = bumpSystems();
  const last = page.reordered.length - 1;
  const labels = spreadOut(marked.map((system) => page.reordered[last].ranks[system]), S / 24);
  return page.reordered.flatMap(({ name, ranks, means }, at) => page.systems.map((system, i) => {
    const mark = marked.indexOf(i);
    return { system, short: SHORT_NAMES[system], measure: name, at, rank: ranks[i], value: means[i], retrieved: page.retrieved[i],
      shallow: page.short[i], marked: mark >= 0, last: at === last, label: mark >= 0 ? labels[mark] : ranks[i], first: mark };
  }));
}

// Heights of labels, moved apart so that labels do not overlap.
function spreadOut(heights, apart) {
  const order = [...heights.keys()].sort((a, b) => heights[a] - heights[b]);
  const spread = [...heights];
  for (let at = 1; at < order.length; at++) {
    spread[order[at]] = Math.max(spread[order[at]], spread[order[at - 1]] + apart);
  }
  return spread;
}

// Shares that differ between systems; systems in the order of the selected measure.
function judgedRows() {
  const series = Object.entries(page.judged).map(([name, shares]) => [`judged share of the first ${name.slice(7)}`, shares]);
  series.push(["unjudged above retrieved relevant documents", page.unjudgedShare]);
  const differ = series.filter(([, shares]) => S === 1 || new Set(shares).size > 1);
  return chosenMeasure().order.flatMap((system, rank) => differ.map(([what, shares], at) => (
    { system: page.systems[system], rank: rank + 1, what, at, share: shares[system] }
  )));
}
