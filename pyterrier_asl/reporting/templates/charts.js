// Figures. A figure is drawn when it is scrolled near the window, when the page is printed, and again when
// its rows or colours change.
const dark = matchMedia("(prefers-color-scheme: dark)");
const charts = new Map();
let printing = false;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

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
    range: { category: [1, 2, 3, 4, 5, 6].map((n) => colour(`--c${n}`)), diverging: ["--c2", "--middle", "--c1"].map(colour) },
    mark: { color: colour("--c1") }, line: { color: colour("--soft") }, rule: { color: colour("--soft") }, text: { color: ink },
  };
}

// What the charts know of the selection and of the colours of the page.
function parameters(name) {
  const measure = chosenMeasure();
  const coloured = IN_COLOUR[name]?.() ?? [];
  const [colourA, colourB] = sideColours().map(colour);
  return Object.entries({
    shortNames: Object.fromEntries(page.systems.map((system, i) => [system, page.shortNames[i]])), measure: measure.name, sign: sign(measure), query: page.queries[state.query],
    ranks: Object.fromEntries(measure.order.map((system, at) => [page.systems[system], at + 1])),
    a: page.systems[state.a], b: page.systems[state.b], depthA: runEnd(state.a), depthB: runEnd(state.b),
    colourA, colourB, soft: colour("--soft"), mid: colour("--mid"),
    coloured: coloured.map((system) => page.systems[system]), colours: coloured.map((system) => colour(colourName(system))),
  }).map(([name, value]) => ({ name, value }));
}

async function draw(one) {
  const { name, figure, rows } = one;
  const canvas = figure.querySelector(".canvas");
  const data = rows();
  const turn = (one.turn = (one.turn || 0) + 1);
  if (!data.length) {
    one.finalize?.();
    one.view = one.finalize = undefined;
    canvas.replaceChildren(element("p", "No data for this figure.", "empty"));
    figure.dataset.drawn = "yes";
    return;
  }
  const chart = { ...page.charts[name] };
  if (name === "matrix" || name === "ranks") chart.height = Math.min(canvas.clientWidth - 60, printing ? 380 : 520);
  const { view, finalize } = await vegaEmbed(canvas, { ...chart, datasets: { ...chart.datasets, data } }, {
    actions: false, renderer: printing && data.length < 5000 ? "svg" : "canvas", config: { ...theme(), params: parameters(name) },
    tooltip: { theme: dark.matches ? "dark" : "light" }, ast: true,
  });
  if (turn !== one.turn) return finalize();
  one.finalize?.();
  Object.assign(one, { view, finalize });
  figure.dataset.drawn = "yes";
  view.addEventListener("click", (event, item) => item?.datum && CLICKS[name]?.(item.datum));
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
