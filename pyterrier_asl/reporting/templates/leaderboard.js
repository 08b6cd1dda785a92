// The leaderboard: places, letters and bands follow the measure that is chosen.
function showGroups() {
  const measure = page.measures[$("board-measure").value];
  const table = $("board");
  const order = systemsBy(page.measures.indexOf(measure));
  const at = new Map(order.map((system, place) => [system, place]));
  for (const row of table.tBodies[0].rows) {
    const system = Number(row.dataset.system);
    const own = at.get(system);
    const of = measure.groups.filter(([first, last]) => first <= own && own <= last);
    row.querySelector(".place").textContent = measure.order[system];
    row.querySelector(".place").dataset.value = measure.order[system];
    row.querySelector(".letters").textContent = measure.letters[system];
    const same = row.querySelector(".same");
    same.dataset.value = own + 1;
    const [from, to] = [of[0][0], of[of.length - 1][1]];
    same.title = `shares a letter with the systems at places ${from + 1} to ${to + 1}`;
    drawBand(row.querySelector(".band"), from, to, own);
  }
  sortTable(table, 0, true);
}

function drawBand(band, from, to, own) {
  const bar = element("i");
  const dot = element("b");
  bar.style.left = `${(100 * from) / S}%`;
  bar.style.width = `${(100 * (to - from + 1)) / S}%`;
  dot.style.left = `${(100 * (own + 0.5)) / S}%`;
  band.replaceChildren(bar, dot);
}

function startLeaderboard() {
  const table = $("board");
  makeSortable(table);
  filterRows($("board-filter"), table, (row) => row.cells[1].textContent);
  $("board-measure").addEventListener("change", showGroups);
  showGroups();
}
