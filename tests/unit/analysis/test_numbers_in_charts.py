"""What charts show of a table: numbers, ends of lines and bands, names, and counts in captions."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pyterrier_asl import DocLengths
from pyterrier_asl import analysis as an
from pyterrier_asl.analysis.discrimination import _rows_by_level

alt = pytest.importorskip("altair")
pytestmark = pytest.mark.filterwarnings("ignore")


def drawn(analysis: Any, table: pd.DataFrame, **attrs: Any) -> tuple[dict[str, Any], str, Any]:
    """The specification of a chart, its caption, and the rows of each of its data sets."""
    table.attrs.update(attrs)
    spec = analysis.draw(table).to_dict(validate=False)  # as its parts were when they were made
    rows = [values for values in spec.get("datasets", {}).values() if values]
    return spec, " ".join(spec["title"]["subtitle"]), rows


def runs_at(**ranks: int) -> dict[str, dict[str, dict[str, float]]]:
    """Runs with the relevant document ``d`` at a rank."""
    return {
        name: {"q": {"d": -rank, **{f"x{n}": -float(n) for n in range(1, rank)}}}
        for name, rank in ranks.items()
    }


def rows_of(view: dict[str, Any], spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a view, which a specification keeps under a name."""
    return spec["datasets"][view["data"]["name"]]


QRELS = {"q": {"d": 1, "x1": 0}}
NAN = float("nan")


@pytest.mark.parametrize("analysis", [an.missing_labels, an.missing_queries])
def test_bands_are_one_standard_deviation_within_0_and_1(analysis):
    samples = {0.5: (0.2, 0.6), 0.1: (0.0, 0.4), 0.9: (0.8, 1.0)}
    frame = pd.DataFrame({"fraction": list(samples), "preference": "RR", "samples": 2})
    for name in ("ranking", "system", "tied"):
        frame[name] = [np.mean(values) for values in samples.values()]
        frame[f"{name}_sd"] = [np.std(values, ddof=1) for values in samples.values()]
    _, caption, rows = drawn(analysis, frame)
    deviation = np.sqrt(0.08)  # of .2 and .6, and of 0 and .4
    expected = {
        0.1: (0.2, 0, 0.2 + deviation),
        0.5: (0.4, 0.4 - deviation, 0.4 + deviation),
        0.9: (0.9, 0.9 - np.sqrt(0.02), 1),
    }
    found = {row["fraction"]: (row["mean"], row["low"], row["high"]) for row in rows[0]}
    assert found == {share: pytest.approx(values) for share, values in expected.items()}
    assert "means over 2 samples, bands one standard deviation" in caption


def test_a_line_for_taus_is_one_standard_error_long_to_each_side():
    frame = pd.DataFrame(
        {"measure": "P", "systems": [4, 2], "tau": [0.5, 0.25], "standard_error": [0.1, 0.05]}
    )
    spec, _, rows = drawn(an.agreement_by_number_of_systems, frame)
    (ends,) = (part for part in rows if "low" in part[0])
    assert [(row["low"], row["high"]) for row in ends] == [(0.4, 0.6), pytest.approx((0.2, 0.3))]
    axis = spec["layer"][0]["encoding"]["x"]["axis"]
    assert axis["values"] == [2, 4]


@pytest.mark.parametrize(("tau", "tau_sd", "least"), [(0.3, 0.2, 0), (0.1, 0.2, -1), (0, NAN, 0)])
def test_moves_have_lines_of_one_deviation_and_axes_with_room_for_them(tau, tau_sd, least):
    summary = pd.DataFrame(
        {"change": ["c"], "from": "a", "to": "b", "dSort": 20.0, "dSort_sd": 5.0, "tau": tau}
        | {"tau_sd": tau_sd, "dValue": 1.0, "dValue_sd": 0.1, "moved": "r", "tracks": 2}
        | {"systems": 9}
    )
    spec, caption, (rows, *others) = drawn(an.reordering, summary)
    sorts, taus = spec["hconcat"]
    domains = [panel["layer"][0]["encoding"]["x"]["scale"]["domain"] for panel in (sorts, taus)]
    assert domains == [[0, 100], [least, 1]]
    ends = [(row["low"], row["high"]) for part in (rows, *others) for row in part]
    deviation = 0 if np.isnan(tau_sd) else tau_sd
    assert ends == [(15, 25), pytest.approx((tau - deviation, tau + deviation))]
    assert sorts["layer"][0]["encoding"]["y"]["axis"]["labelLimit"] == 0
    assert taus["layer"][0]["encoding"]["y"]["axis"] is None, "the first panel has the names"
    assert "over 2 tracks" in caption


def test_bars_of_the_best_runs_begin_at_1_for_lengths_and_at_0_for_shares():
    tracks = {"t": (runs_at(good=2, bad=4), QRELS), "u": (runs_at(worse=9, far=8), QRELS)}
    spec, _, rows = drawn(an.headroom, an.headroom(tracks, cutoff=10))
    found = {(row["track"], row["measure"]): row["label"] for part in rows for row in part}
    assert found == {
        ("t", "P@20"): "0.050 good", ("t", "ASL@g1-10"): "2.0 good",
        ("t", "AP"): "0.500 good", ("t", "ASL"): "2.0 good",
        ("u", "P@20"): "0.050 far", ("u", "ASL@g1-10"): "8.0 far",
        ("u", "AP"): "0.125 far", ("u", "ASL"): "8.0 far",
    }  # fmt: skip
    for panel in spec["concat"]:
        bar, label = panel["layer"]
        axis, names = bar["encoding"]["x"], bar["encoding"]["y"]
        is_length = axis["title"].startswith("ASL")
        length, share = {"domain": [1, 10], "type": "log"}, {"domain": [0, 1]}
        assert axis["scale"] == (length if is_length else share)
        assert axis["axis"]["grid"] is False and names["axis"] is not None
        assert label["encoding"]["x"]["datum"] == int(is_length)
        assert {row["least"] for row in rows_of(panel, spec)} == {int(is_length)}
    alone, _, _ = drawn(an.headroom, an.headroom(*tracks["t"], cutoff=10))
    assert alone["concat"][0]["layer"][0]["encoding"]["y"]["axis"] is None, "without a name"


@pytest.mark.parametrize(
    ("runs", "best"), [(8, "r7 is the best by AP, r0"), (1, "r0 is the best by AP and")]
)
def test_the_caption_names_the_best_runs(runs, best):
    frame = pd.DataFrame({"run": [f"r{n}" for n in range(runs)], "AP": np.linspace(0.1, 0.2, runs)})
    frame["ASL"], frame["missing_share"] = np.linspace(10, 50, runs), 0.5
    for name in ("P@20", "ASL@g1-10", "unjudged_share", "R@10", "Judged@10"):
        frame[name] = 0.5
    spec, caption, _ = drawn(an.run_quality, frame)
    assert f"{best} by ASL." in caption
    assert [t["field"] for t in spec["encoding"]["tooltip"]][-2:] == ["R@10", "Judged@10"]


@pytest.mark.parametrize(("systems", "step"), [(20, 18), (21, 12), (41, 12)])
def test_rows_of_systems_are_lower_where_there_are_more_than_20(systems, step):
    ranks = np.arange(1, systems + 1)
    frame = pd.DataFrame({"system": [f"s{n:02}" for n in ranks], "cycle": 0})
    frame = frame.assign(mean_rank=ranks, borda_rank=ranks, mc4_rank=ranks)
    frame.loc[:1, "cycle"] = 1
    spec, caption, (rows,) = drawn(an.system_order, frame)
    assert spec["height"] == {"step": step}
    assert len(rows) == 3 * min(systems, 40)
    assert caption.endswith("The first 40 of 41 systems, by MC4.") == (systems > 40)
    assert f"{2} of {systems} systems are preferred to each other in a cycle" in caption


def test_a_run_moves_by_its_rank_without_its_group():
    frame = pd.DataFrame(
        {"run": [*"abc"], "group": [*"ggc"], "runs_of_group": [2, 2, 1]}
        | {"value": [0.5, 0.4, 0.45], "rank": [1, 3, 2]}
        | {"value_without": [0.5, 0.5, 0.45], "rank_without": [1, 1, 3]}
    )
    spec, _, _ = drawn(an.rareness_without_own_group, frame)
    rows = rows_of(spec["layer"][0], spec)
    moves = {row["run"]: (row["moved"], row["change"]) for row in rows}
    assert moves == {"a": (0, 0), "b": (2, 2), "c": (-1, 1)}
    for name, ranks in (("by all runs", [1, 3, 2]), ("without its group", [1, 1, 3])):
        assert [row["rank of run"] for row in rows if row["list"] == name] == ranks


@pytest.mark.parametrize(("deepest", "end"), [(1, 2), (2, 2), (3, 3)])
def test_ranks_without_ties_are_left_out_of_a_logarithmic_axis(deepest, end):
    table = an.tie_probability_by_rank(runs_at(a=1, b=1, c=2), QRELS, deepest=deepest)
    spec, _, (rows,) = drawn(an.tie_probability_by_rank, table)
    assert [(row["p_1"], row["probability"]) for row in rows] == [(1, 0.5)]
    assert spec["encoding"]["x"]["scale"]["domain"] == [1, end]
    levels, _, _ = drawn(an.preference_levels, an.preference_levels(9, [1, 5]))
    assert levels["encoding"]["x"]["scale"] == {"type": "log"}


def test_mean_lengths_have_one_decimal_and_two_kinds():
    lengths = DocLengths.from_dict({"d": 10.25, "x1": 3})
    table = an.lengths_by_rank(runs_at(a=2), QRELS, lengths=lengths)
    _, _, (rows,) = drawn(an.lengths_by_rank, table)
    found = [(row["rank"], row["kind"], row["length"]) for row in rows]
    assert found == [(1, "not relevant", 3.0), (2, "relevant", 10.2)]
    many = an.lengths_by_rank(runs_at(**{f"r{n}": 2 for n in range(8)}), QRELS, lengths=lengths)
    runs = {row["run"] for row in drawn(an.lengths_by_rank, many)[2][0]}
    assert runs == {f"r{n}" for n in range(6)}, "each has a panel"


def test_the_size_of_a_collection_in_its_caption():
    runs = {"a": {"q": {"d": 1, "x1": 0}, "r": {"d": 1}}, "b": {"q": {"d": 1}}}
    qrels = {**QRELS, "r": {"d": 0}, "s": {"d": 0}}
    spec, caption, (rows,) = drawn(an.collection_statistics, an.collection_statistics(runs, qrels))
    assert caption.endswith(
        "3 requests, 2 without relevant documents; 2 runs, with 3 requests unanswered."
    )
    found = {row["kind"]: row["documents"] for row in rows}
    assert found == pytest.approx({"rel": 1 / 3, "judged": 4 / 3, "docs": 4 / 6})
    axis = spec["layer"][0]["encoding"]["x"]["axis"]["values"]
    assert axis == [0, 1, 10, 100, 1000, 10**4, 10**5, 10**6]


@pytest.mark.parametrize(("judges", "runs", "most"), [(1, 41, 39), (1, 39, 39), (14, 5, 3)])
def test_as_many_runs_are_compared_with_judges_as_have_room(judges, runs, most):
    """40 rows in all, with a free row for each judge, but at least 3 runs."""
    frame = an.compare_with_assessors(runs_at(a=1, b=2), QRELS, judges={"j": {"q": {"x1": 1}}})
    given = frame.head(1).drop(columns=["run", "run_AP", "judge"])
    many = pd.DataFrame({"run": [f"r{n:02}" for n in range(runs)], "run_AP": np.arange(runs)})
    names = pd.DataFrame({"judge": [f"j{n}" for n in range(judges)]})
    table = many.merge(names, how="cross").merge(given, how="cross")
    _, caption, (shown,) = drawn(an.compare_with_assessors, table, **frame.attrs)
    assert caption.endswith(f"The best {most} of {runs} runs.") == (runs > most)
    assert {row["run"] for row in shown} == {f"r{n:02}" for n in range(runs - most, runs)}


def test_shares_of_queries_have_four_decimals():
    frame = an.satisfaction(runs_at(a=1), {**QRELS, "r": {"d": 1}, "s": {"d": 1}}, depth=1)
    (rows,) = [part for part in drawn(an.satisfaction, frame)[2] if "ci_low" in part[0]][:1]
    assert rows[0]["share"] == 0.3333


def test_differences_are_significant_up_to_the_level():
    """A p-value that is not a number is not significant, but is one of the pairs."""
    pairs = pd.DataFrame({"p_corrected": [0.05, 0.01, 0.051, NAN]})
    pairs.attrs = {"test": "t", "correction": "none", "family": 4, "dropped": 1}
    table = _rows_by_level("measure", "AP", pairs, [0.05, 0.01])
    found = table[["pairs", "significant", "percent"]].to_numpy().tolist()
    assert found == [[4, 2, 50], [4, 1, 25]]
    assert _rows_by_level("measure", "AP", pairs[:0], [0.05])["percent"].tolist() == [0]


def test_20_cycles_are_drawn(recwarn):
    warnings.simplefilter("always")
    _, caption, _ = drawn(an.cycles, pd.DataFrame(columns=["a", "b", "c", "weakest"]))
    assert caption == "No three systems are preferred to each other in a cycle."
    said = [str(warning.message) for warning in recwarn]
    assert not any("infer" in text for text in said), "each channel has a type that no row tells"
    for n in (20, 21):
        table = pd.DataFrame({"a": "x", "b": "y", "c": "z", "weakest": [0.1] * n})
        spec, caption, (rows,) = drawn(an.cycles, table)
        assert len(rows) == 20 and spec["encoding"]["y"]["axis"]["labelLimit"] == 0
        assert caption.endswith("The first 20 of 21 cycles.") == (n == 21)


def test_of_many_tracks_the_headroom_counts_those_of_about_one_value():
    """A bin contains its upper end; the best values are at the left."""
    ends, tenths = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], range(10, 0, -1)
    lengths = {"1": 1} | {f"to {end}": 2 for end in ends[1:]} | {"more": 1}
    shares = {f"{n / 10 - 0.1:.1f} to {n / 10:.1f}": 2 for n in tenths}
    values = {
        "ASL": ([*ends, *(end + 0.1 for end in ends)], lengths),
        "AP": ([*(n / 10 for n in tenths), *(n / 10 - 0.05 for n in tenths)], shares),
    }
    for measure, (best, counts) in values.items():
        frame = pd.DataFrame({"measure": measure, "value": best})
        spec, _, (rows,) = drawn(an.headroom, frame.assign(track=frame.index.map("track{}".format)))
        assert spec["concat"][0]["encoding"]["x"]["sort"] == list(counts)
        assert spec["concat"][0]["title"] == measure
        assert {row["bin"]: row["tracks"] for row in rows} == counts


@pytest.mark.slow
def test_the_chart_of_preferences_names_all_systems_and_has_the_better_at_the_top_of_its_scale():
    """A track of 129 runs, as TREC-8; Altair refuses frames of more than 5,000 rows."""
    vl_convert = pytest.importorskip("vl_convert")
    runs = runs_at(**{f"run{n}": n % 3 + 1 for n in range(129)})
    spec, _, _ = drawn(an.system_preferences, an.system_preferences(runs, QRELS, ["rrLP"]))
    color = spec["concat"][0]["encoding"]["color"]
    scale = color["condition"]["scale"]
    low, high = scale["domain"]
    assert low < 0 < high and scale["reverse"], "blue, for the row, is above"
    assert color["condition"]["test"] == "datum.significant" and color["value"] == "#eee"
    text = vl_convert.vegalite_to_svg(spec)
    for name in runs:
        assert text.count(f">{name}</text>") == 1, "columns are in the order of rows"
