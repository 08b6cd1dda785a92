"""The figures of a page: what is drawn at which place, and axes for any number of systems."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from _charts import assert_everything_is_visible, parts
from _reports import a_run
from scipy.stats import rankdata

from pyterrier_asl import evaluate, search_lengths
from pyterrier_asl.analysis import run_quality
from pyterrier_asl.reporting.collect import collect

pytest.importorskip("altair")
vl_convert = pytest.importorskip("vl_convert", reason="reports need pyterrier-asl[report]")
pytestmark = pytest.mark.filterwarnings("ignore")

from pyterrier_asl.reporting.figures import figures  # noqa: E402

#: Seven queries, five systems of which the third has short rankings.
QIDS = [f"q{n}" for n in (4, 1, 6, 2, 7, 3, 5)]
QRELS = {
    q: {f"d{d}": 2 if d < 2 else int(d < 6) for d in range(9 + at)} for at, q in enumerate(QIDS)
}
RUNS = {name: a_run(n, QIDS, 25, noise=0.4 + 2 * n % 5) for n, name in enumerate("dbeac")}
RUNS["e"] = {q: dict(list(of.items())[:8]) for q, of in RUNS["e"].items()}
MEASURES = ["AP", "ASL@15", "nDCG@10", "RR"]
#: What the scripts set for the selected measure, query and systems.
CHOSEN = {
    "measure": "nDCG@10", "sign": -1, "query": "q2", "a": "b", "b": "e",
    "depthA": None, "depthB": 8, "colourA": "#00f", "colourB": "#f00", "soft": "#777",
    "mid": "#bbb", "coloured": ["e", "d"],
    "colours": ["#111111", "#222222"], "shortNames": {name: f"run {name}" for name in RUNS},
    "ranks": {name: rank for rank, name in enumerate("cadeb", 1)},
}  # fmt: skip


@cache
def specifications(systems: int = 5, cutoff: int = 100) -> dict[str, Any]:
    """The figures of a page of so many systems."""
    runs = {f"s{n}": {"q": {"d1": 1.0, "d2": n}} for n in range(systems)}
    return figures(collect(runs, {"q": {"d1": 1, "d3": 1}}, ["AP", "RR"], cutoff=cutoff))


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return figures(collect(RUNS, QRELS, MEASURES, cutoff=15))


def drawn(figure: dict[str, Any], data: Any = None) -> tuple[list[dict[str, str]], str]:
    """The marks as a screen reader reads them, x and y first, and the SVG."""
    chosen = [{"name": name, "value": value} for name, value in CHOSEN.items()]
    shown = figure | {"width": 400, "config": {"params": chosen}}
    shown["datasets"] = {**figure.get("datasets", {}), **({"data": data} if data else {})}
    svg = vl_convert.vegalite_to_svg(json.loads(json.dumps(shown)))
    labels = re.findall(r'role="graphics-symbol"[^>]*?aria-label="([^"]*)"', svg)
    labels += re.findall(r'aria-label="([^"]*)"[^>]*?role="graphics-symbol"', svg)
    pairs = [re.findall(r"([^:;]+): ([^;]*)(?:; |$)", html.unescape(label)) for label in labels]
    return [dict(of) for of in pairs if len(of) > 1], svg


def number(text: str) -> float:
    return float(text.rstrip("%").replace("−", "-")) / (100 if text.endswith("%") else 1)


def means(*measures: str) -> dict[str, dict[str, float]]:
    """Run -> measure -> mean, by the library, of runs in another order."""
    table = evaluate(dict(reversed(RUNS.items())), QRELS, list(measures))
    return table.groupby("name")[list(measures)].mean().T.to_dict()


def test_parts_of_asl_by_system(made):
    marks, _ = drawn(made["loss"])
    missing = run_quality(RUNS, QRELS, cutoff=15).set_index("run")["missing_share"]
    asl = {name: of["ASL@15"] for name, of in means("ASL@15").items()}
    assert len(marks) == 2 * len(RUNS)
    assert [m["system"] for m in marks][::2] == sorted(RUNS, key=asl.get)
    for mark in marks:
        assert [*mark][:2] == ["system", "ASL (documents), 7 queries"]
        share = missing[mark["system"]]
        share = share if mark["part"] == "documents not retrieved" else 1 - share
        height = number(mark["ASL (documents), 7 queries"])
        assert height == pytest.approx(asl[mark["system"]] * share)
        assert number(mark["share of ASL"]) == pytest.approx(share, abs=6e-4)


def test_search_lengths_of_coloured_systems(made):
    marks, svg = drawn(made["lengths"])
    title = "share of the relevant documents of 7 queries"
    for name in ("e", "d"):
        found = search_lengths(RUNS[name], QRELS, cutoff=15)
        lengths = found["search_length"].where(found["rank"].notna(), np.inf)
        own = {m["search length (documents)"]: m for m in marks if m["system"] == name}
        counts = [((lengths >= a) & (lengths <= b)).sum() for a, b in ((1, 1), (2, 3), (4, 10))]
        assert [int(own[of]["documents"]) for of in ("1", "2–3", "4–10")] == counts
        assert int(own["not retrieved"]["documents"]) == np.isinf(lengths).sum()
        for mark in own.values():
            assert [*mark][:2] == ["search length (documents)", title]
            assert number(mark[title]) == pytest.approx(int(mark["documents"]) / len(lengths))
    assert {mark["system"] for mark in marks} == {"e", "d"}
    assert "run e" in svg and "#111111" in svg and "#333" not in svg


def test_judged_shares_in_the_order_of_the_selected_measure(made):
    marks, _ = drawn(made["judged"])
    shares = means("Judged@10", "Judged@15")
    unjudged = run_quality(RUNS, QRELS, cutoff=15).set_index("run")["unjudged_share"]
    title = "share of documents, 7 queries"
    for mark in marks:
        assert [*mark][:2] == ["system", title]
        name, what = mark["system"], mark["what"]
        is_unjudged = what == "unjudged above retrieved relevant documents"
        expected = unjudged[name] if is_unjudged else shares[name][f"Judged@{what.split()[-1]}"]
        assert number(mark[title]) == pytest.approx(expected, abs=1e-7)
        assert int(mark["rank"]) == CHOSEN["ranks"][name]
    assert len(marks) == 3 * len(RUNS)


def test_ranks_by_several_measures_and_labels_of_marked_systems(made):
    marks, svg = drawn(made["bump"])
    by_system = means(*MEASURES)
    lines = [mark for mark in marks if "rank of 5" in mark and "shallow" not in mark]
    assert {(m["system"], m["measure"]) for m in lines} >= {(n, m) for n in RUNS for m in MEASURES}
    for mark in lines:
        measure, name = mark["measure"], mark["system"]
        assert [*mark][:2] == ["measure", "rank of 5"]
        sign = 1 if measure.startswith("ASL") else -1
        ranks = rankdata([sign * round(by_system[of][measure], 9) for of in RUNS], "min")
        assert number(mark["rank of 5"]) == ranks[list(RUNS).index(name)] == int(mark["rank"])
        assert number(mark["value"]) == pytest.approx(by_system[name][measure], abs=6e-5)
        depth = np.mean([min(15, len(of)) for of in RUNS[name].values()])
        assert number(mark["documents per query"]) == pytest.approx(depth, abs=0.5)
    labels = re.findall(r">(run \w)</text>", svg)
    assert sorted(labels) == ["run d", "run e"]


QUERY = {"text": "", "relevant": 3}
ROWS: dict[str, tuple[list[dict[str, Any]], list[list[str]]]] = {
    # Lower is better: B gains where its value is less.
    "differences": (
        [
            {"query": query, "a": a, "b": b, **QUERY}
            for query, a, b in (("q1", 0.2, 0.5), ("q2", 0.9, 0.3), ("q3", 0.4, 0.4))
        ],
        [["q1", "−0.3", "A"], ["q2", "0.6", "B"], ["q3", "0", "equal"]],
    ),
    "queries": (
        [
            {"query": "q1", "median": 0.25, "spread": 0.75, **QUERY},
            {"query": "q2", "median": 0.5, "spread": 0.125, **QUERY},
        ],
        [["0.25", "0.75", "false"], ["0.5", "0.125", "true"]],
    ),
    "strip": (
        [{"system": name, "value": at / 8} for at, name in enumerate(RUNS)],
        [["0.125", "A"], ["0.25", "B"], ["0.375", "equal"], ["0.5", "equal"], ["0", "equal"]],
    ),
    "ranks": (
        [{"query": "q1", "document": "d1", "in_a": 3, "in_b": 7, "x": 3, "y": 7, "better": "A"}],
        [["3", "7", "A"]],
    ),
    "matrix": (
        [{"system": "a", "against": "c", "wins": 5, "losses": 1, "rrLP": 0.25}],
        [["c", "a", "57%", "5", "1", "+0.2500"]],
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_that_the_scripts_choose_by_axis(made, name):
    """The values of each mark: x, y, then its colour."""
    rows, expected = ROWS[name]
    marks, _ = drawn(made[name], rows)
    found = [list(mark.values())[: len(values)] for mark, values in zip(marks, expected)]
    assert sorted(found) == sorted(expected)
    titles = {"ranks": ["rank in A", "rank in B"], "matrix": ["against", "system"]}
    assert [*marks[0]][:2] == titles.get(name, [*marks[0]][:2])


def test_the_depth_of_a_short_run_is_dotted_at_its_axis(made):
    *rules, _ = made["ranks"]["layer"]
    assert [[*rule["encoding"]] for rule in rules] == [["x"], ["x"], ["y"], ["y"]]
    _, svg = drawn(made["ranks"], ROWS["ranks"][0])
    assert [svg.count(f'stroke-dasharray="{dashes}"') for dashes in ("4,3", "1,3")] == [2, 1]


@pytest.mark.parametrize(("depth", "powers"), [(5, [1]), (99, [1, 10]), (100, [1, 10, 100])])
def test_axes_of_ranks_of_documents_end_behind_missed_documents(depth, powers):
    across, *_, points = specifications(5, depth)["ranks"]["layer"]
    [line] = specifications(5, depth)["ranks"]["datasets"][across["data"]["name"]]
    assert depth < line["at"] < 1.25 * depth
    for name in ("x", "y"):
        channel = points["encoding"][name]
        low, high = channel["scale"]["domain"]
        assert channel["axis"]["values"] == powers and 0.5 < low < 1 and high == 2 * depth


def all_named(name: str, part: Any) -> Iterator[dict[str, Any]]:
    """All scales or axes of a figure."""
    return (of[name] for of in parts(part) if isinstance(of.get(name), dict))


@pytest.mark.parametrize("systems", [1, 2, 30])
def test_axes_of_ranks_begin_at_1_and_those_without_labels_have_no_ticks(systems):
    for part in parts(specifications(systems)):
        for name in ("x", "y"):
            channel = part.get(name)
            if isinstance(channel, dict) and channel.get("type") == "quantitative":
                is_rank = channel.get("field") == "rank"
                assert not is_rank or channel["scale"]["domain"] == [1, max(2, systems)]
    axes = [a for a in all_named("axis", list(specifications(systems).values())) if "labels" in a]
    assert axes and not any(axis["labels"] or axis["ticks"] for axis in axes)


@pytest.mark.parametrize(("systems", "angle"), [(3, 0), (4, -30), (12, -30), (13, 0)])
def test_more_than_12_systems_have_ranks_and_bars_that_touch(systems, angle):
    loss = specifications(systems)["loss"]
    shown = loss["encoding"]["x"]
    assert shown["axis"]["labelAngle"] == angle and shown["sort"]["field"] == "rank"
    assert shown["field"] == ("rank" if systems > 12 else "system")
    assert (loss["mark"].get("binSpacing") == 0) == (systems > 12)


#: Points that only take the pointer, and bars of many systems, which touch.
HIDDEN = [
    {"type": "point", "filled": True, "opacity": 0, "size": 60},
    {"type": "bar", "binSpacing": 0, "strokeWidth": 0},
]
#: Pixels, for all figures except the ranks by several measures.
SIZES = {"labelLimit": {330}, "strokeWidth": set(), "thickness": {2}, "fontSize": set()}
SIZES |= {"tickCount": {3}, "labelPadding": {10}, "gradientLength": {180}}
SIZES |= {"height": {280, 64}}  # a figure, all systems on one query
SIZES |= {"size": {60, 34}}  # the area of a point, the length of a tick
SIZES |= {"padding": {12, 0.3}}  # pixels, a share of the distance of two measures


@pytest.mark.parametrize("systems", [2, 12, 30])
def test_everything_in_a_figure_is_visible(systems):
    for name, figure in specifications(systems).items():
        sizes = SIZES | ({"height": {figure.get("height")}} if name == "bump" else {})
        assert_everything_is_visible(figure, sizes, HIDDEN)


@pytest.mark.parametrize(("systems", "height"), [(2, 200), (12, 264), (30, 480)])
def test_the_ranks_by_several_measures_have_room_for_lines_and_names(systems, height):
    """A line under the pointer is opaque and thick; a name has up to 16 bold letters."""
    figure = specifications(systems)["bump"]
    assert figure["height"] == height
    assert figure["layer"][-1]["mark"]["dx"] + 16 * 7 <= figure["padding"]["right"] <= 120
    lines = figure["layer"][0]["encoding"]
    for name, usual in (("opacity", 0.22), ("strokeWidth", 1)):
        near = lines[name]["condition"]
        assert near["param"] == "near" and near["empty"] is False
        assert near["value"] > 2 * usual == 2 * lines[name]["value"]


def test_a_query_with_more_relevant_documents_has_a_larger_point_within_the_figure(made):
    encoding = made["queries"]["encoding"]
    least, most = encoding["size"]["scale"]["range"]
    assert most > 10 * least >= 10 * 30 and most**0.5 / 2 <= 12
    assert encoding["order"]["sort"] == "descending", "small points are drawn last"
    assert encoding["x"]["scale"]["zero"] is False and "zero" not in encoding["y"]["scale"]
