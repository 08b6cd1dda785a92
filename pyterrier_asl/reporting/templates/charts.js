// Pictures: each is drawn when it comes near the window, and again when its rows or colours change.
const dark = matchMedia("(prefers-color-scheme: dark)");
const charts = new Map();

function theme() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const ink = colour("ink");
  const text = { labelColor: colour("soft"), titleColor: colour("soft") };
  return {
    background: "transparent",
    font: getComputedStyle(document.body).fontFamily,
    view: { stroke: null },
    axis: { ...text, gridColor: colour("line"), domainColor: colour("line"), tickColor: colour("line"),
      labelFontSize: 11.5, titleFontSize: 12, titleFontWeight: "normal", titlePadding: 8 },
    legend: { ...text, labelColor: ink, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", symbolSize: 90,
      symbolBaseFillColor: colour("soft"), gradientStrokeColor: "transparent" },
    range: {
      category: [1, 2, 3, 4, 5, 6].map((n) => colour(`c${n}`)),
      diverging: [colour("c2"), colour("middle"), colour("c1")],
    },
    mark: { color: colour("c1") },
    line: { color: colour("soft") },
    rule: { color: colour("soft") },
    text: { color: ink },
  };
}

// Tells how a picture named in the page gets its rows, and what a click on a mark does.
function chart(name, rows, click) {
  const figure = document.querySelector(`figure[data-chart="${name}"]`);
  if (!figure) return;
  const title = figure.querySelector("h3")?.textContent ?? "All systems on this topic";
  const place = figure.querySelector(".canvas");
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", `Picture: ${title}. Its data can be saved below.`);
  charts.set(name, { name, figure, rows, click, near: false, view: null });
}

async function draw(one) {
  const { name, figure, rows, click } = one;
  const place = figure.querySelector(".canvas");
  const spec = structuredClone(page.charts[name]);
  if (name === "matrix" || name === "ranks") spec.height = Math.min(place.clientWidth - 60, 520);
  spec.data = { name: "data" };
  spec.datasets = { ...spec.datasets, data: rows() };
  const turn = (one.turn = (one.turn || 0) + 1);
  const { view, finalize } = await vegaEmbed(place, spec, {
    actions: false, renderer: "canvas", config: theme(), tooltip: { theme: dark.matches ? "dark" : "light" },
    ast: false,
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
    if (one?.near) draw(one);
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

// What the two pictures of the headroom, the bump chart and the last one show.

function bestBy(measure, count) {
  return systemsBy(measure).slice(0, count);
}

function lengthRows() {
  const best = bestBy(page.first, 4);
  const other = $("lengths-add")?.value;
  const systems = other ? [...best.slice(0, 3), Number(other)] : best;
  const total = docs.ids.length;
  return systems.flatMap((system, place) => page.lengths.labels.map((label, at) => {
    const documents = page.lengths.counts[system][at];
    return { system: page.systems[system], place, class: label, at, documents, share: total ? documents / total : 0 };
  }));
}

function systemsByAsl() {
  return [...page.systems.keys()].sort((a, b) => page.asl.places[a] - page.asl.places[b] || a - b);
}

function lossRows() {
  return systemsByAsl().flatMap((system, at) => {
    const whole = page.asl.means[system];
    const missing = page.missingShare[system] ?? 0;
    const row = (part, share) => ({ system: page.systems[system], place: at + 1, part, asl: whole * share, share });
    return [row("from what it did not retrieve", missing), row("from what it retrieved", 1 - missing)];
  });
}

function bumpRows() {
  const chosen = $("bump-mark").value;
  const best = page.reordered.map((at) => bestBy(at, 1)[0]);
  const marked = [...new Set(chosen ? [Number(chosen)] : [...best, page.movers[0]])];
  const last = page.reordered.length - 1;
  const ends = marked.map((system) => page.measures[page.reordered[last]].order[system]);
  const labels = spreadOut(ends, S / 24);
  return page.reordered.flatMap((measure, at) => page.systems.map((system, i) => {
    const mark = marked.indexOf(i);
    const { name, order, means } = page.measures[measure];
    return { system, measure: name, at, place: order[i], value: means[i], marked: mark >= 0,
      last: at === last, label: mark >= 0 ? labels[mark] : order[i], first: mark };
  }));
}

// Labels at these heights, moved apart so that none covers another.
function spreadOut(heights, apart) {
  const order = [...heights.keys()].sort((a, b) => heights[a] - heights[b]);
  const spread = [...heights];
  for (let at = 1; at < order.length; at++) {
    spread[order[at]] = Math.max(spread[order[at]], spread[order[at - 1]] + apart);
  }
  return spread;
}

function sureRows() {
  const series = Object.entries(page.judged).map(([name, shares]) => [`judged share of the first ${name.slice(7)}`, shares]);
  series.push(["unjudged share above relevant documents", page.unjudgedShare]);
  return systemsByAsl().flatMap((system, place) => series.map(([what, shares], at) => (
    { system: page.systems[system], place: place + 1, what, at, share: shares[system] }
  )));
}
