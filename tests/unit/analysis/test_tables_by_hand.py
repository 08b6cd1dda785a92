"""Tables of analyses by hand: values at limits, nothing and one of something, orders of rows."""

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest
from brute_force import reciprocal_ranks, rr_lp
from scipy.stats import kendalltau

from pyterrier_asl import analysis as an
from pyterrier_asl.analysis.discrimination import stabilities
from pyterrier_asl.analysis.reordered_systems import from_ap_to_asl, num_better
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.evaluation.relevant_documents import relevant_documents

pytestmark = pytest.mark.filterwarnings("ignore:RarenessPool", "ignore:with .* systems")

TEN = [f"d{number}" for number in range(10)]


def ranked(*docnos: str) -> dict[str, float]:
    """The ranking of a query."""
    return {docno: -float(rank) for rank, docno in enumerate(docnos)}


def some_runs(seed: int, systems: int, queries: int = 4) -> tuple[dict, dict]:
    draw = np.random.default_rng(seed)
    qrels = {f"q{q}": {d: int(draw.random() < 0.4) for d in TEN} for q in range(queries)}
    runs = {
        f"s{s}": {qid: ranked(*draw.permutation(TEN)[: draw.integers(3, 9)]) for qid in qrels}
        for s in range(systems)
    }
    return runs, qrels


ONE = {"one": {"q": ranked("a", "x")}}
ONLY = {"q": {"a": 1, "b": 1, "x": 0}}
TWO = {"one": {"q": ranked("a", "x")}, "two": {"q": ranked("x", "a")}}
NOTHING = {"q": {"a": 0, "x": 0}}
NAN = float("nan")

#: An analysis, its runs, qrels and options, and columns of the table.
# fmt: off
TABLES = [
    (an.ties, ONE, ONLY, {}, {"pairs": [0, 0], "ties": [0, 0], "percent": [0, 0]}),
    (an.ties, TWO, NOTHING, {}, {"pairs": [1, 1], "ties": [1, 1], "percent": [100, 100]}),
    (an.recall_level_needed, ONE, ONLY, {"levels": 2}, {"pairs": [0, 0], "cumulative": [0, 0]}),
    (an.recall_level_needed, TWO, NOTHING, {"levels": 2}, {"pairs": [0, 0], "cumulative": [0, 0]}),
    (an.ties_by_recall_level, TWO, ONLY, {"levels": 3},
     {"pairs": [1, 1, 0], "probability": [0, 1, NAN], "both_missing": [0, 1, NAN]}),
    (an.tie_probability_by_rank, TWO, ONLY, {"deepest": 3},
     {"rankings": [1, 1, 0], "pairs": [1, 1, 0], "probability": [0, 0, NAN]}),
    (an.level_correlations, TWO, ONLY, {"levels": 2}, {"pairs": [1], "correlation": [NAN]}),
    (an.level_regressions, TWO, NOTHING, {"levels": 1, "following": 1},
     {"pairs": [0], "R2": [NAN], "coefficient": [NAN]}),
    (an.prediction_from_suffixes, TWO, ONLY, {}, {"pairs": [1, 1], "right": [0, 0], "ties": [1, 1],
     "percent": [0, 0], "percent_of_untied": [NAN, NAN]}),
    (an.missing_labels, ONE, ONLY, {"fractions": [1], "draws": 1},
     {"ranking": [NAN] * 3, "tied": [0] * 3}),
    (an.missing_queries, ONE, ONLY, {"fractions": [1], "draws": 1}, {"system": [NAN] * 3}),
    (an.discriminative_power, ONE, ONLY, {"measures": ["AP"], "levels": [0.5]},
     {"pairs": [0], "significant": [0], "percent": [0]}),
    (an.rare_finds, ONE, NOTHING, {}, {"found": [0], "recall": [0], "coverage": [0]}),
    (an.rare_finds, ONE, ONLY, {}, {"found": [1], "recall": [0.5], "coverage": [0.5]}),
    (an.effective_share, TWO, NOTHING, {},
     {"AP": [NAN, NAN], "share": [NAN, NAN], "pooled": [NAN, NAN]}),
    (an.effective_share, TWO, {"q": {"a": 1}, "unanswered": {"x": 0}}, {},
     {"AP": [0.5, 0.25], "share": [1, 1], "pooled": [1, 1]}),
    (an.search_length_distribution, ONE, NOTHING, {"edges": [1, 5]},
     {"low": [1], "high": [5], "documents": [0], "share": [0]}),
    (an.search_length_changes, TWO, {"q": {"a": 1}}, {"edges": [1]},
     {"low": [-1, 0, 1], "high": [-1, 0, 1], "documents": [1, 0, 0], "share": [1, 0, 0]}),
    (an.run_quality, {"none": {"q": ranked("x")}}, ONLY, {"cutoff": 3},
     {"ASL": [4], "R@3": [0], "missing_share": [1], "Judged@3": [1], "unjudged_share": [NAN]}),
    (an.collection_statistics, {**ONE, "none": {"r": ranked("a")}},
     {**ONLY, "r": {"a": 0}, "s": {"b": 0}}, {}, {"requests": [3], "runs": [2],
     "rel/request": [2 / 3], "docs/request": [3 / 6], "judged/request": [5 / 3],
     "without_relevant": [2], "unanswered": [4]}),
]
# fmt: on


@pytest.mark.parametrize(
    ("analysis", "runs", "qrels", "options", "columns"),
    TABLES,
    ids=[f"{row[0].__name__}-{number}" for number, row in enumerate(TABLES)],
)
@pytest.mark.filterwarnings("ignore:no document is relevant")
def test_tables_of_one_system_and_of_nothing(analysis, runs, qrels, options, columns):
    table = analysis(runs, qrels, **options)
    found = {name: table[name].tolist() for name in columns}
    assert found == {name: pytest.approx(values, nan_ok=True) for name, values in columns.items()}


def test_where_nothing_is_relevant_there_is_a_warning():
    with pytest.warns(UserWarning, match="no document is relevant: the highest grade is 1, below"):
        an.rare_finds(ONE, ONLY, rel=3)


FIVE = {f"q{number}": {"a": 1, "b": 0} for number in range(5)}
#: The first run is preferred in all of five queries: the sign test has p = 2 / 2**5.
PREFERRED = {"a": {q: ranked("a") for q in FIVE}, "b": {q: ranked("b", "a") for q in FIVE}}


@pytest.mark.parametrize(("level", "significant"), [(2 / 2**5, True), (0.0624, False)])
def test_a_p_value_that_equals_the_level_is_significant(level, significant):
    table = an.system_preferences(PREFERRED, FIVE, ["sgnLP"], alpha=level)
    assert table["p"].tolist() == [2 / 2**5] and table["significant"].tolist() == [significant]
    counts = an.preference_discrimination(
        PREFERRED, FIVE, ["sgnLP"], tests=["paired"], levels=[level]
    )
    assert counts["significant"].tolist() == [int(significant)]
    assert counts["percent"].tolist() == [100 * significant]


@pytest.mark.parametrize(("margin", "better"), [(0.5, True), (1.0, True), (1.01, False)])
@pytest.mark.parametrize("is_cost", [False, True])
def test_a_system_is_better_from_the_margin_on_as_a_share_of_the_worse_mean(
    margin, better, is_cost
):
    """Of gains .5 and .25 the worse is .25; of costs 2 and 4 it is 4, half of which is 2."""
    values = np.array([[0.45, 0.5, 0.55], [0.19, 0.25, 0.31]])
    if is_cost:
        values, margin = np.array([[1.9, 2.0, 2.1], [3.8, 4.0, 4.2]]), margin / 2
    counts = num_better(values, is_cost=is_cost, margin=margin, alpha=0.1)
    assert counts.tolist() == [0, int(better)]


def test_differences_up_to_the_fuzz_are_ties_and_stable_pairs_have_the_share_of_the_usual_winner():
    assert stabilities(np.array([[0.55, 0.5]]), 0.05) == (0, 1)
    assert stabilities(np.array([[0.551, 0.5]]), 0.05) == (1, 1)
    three = np.array([[0.9, 0.5, 0.1], [0.5, 0.9, 0.1], [0.9, 0.5, 0.1]])
    assert stabilities(three, 0.05) == pytest.approx(((2 / 3 + 1 + 1) / 3,) * 2)


@pytest.mark.parametrize("queries", [1, 4])
def test_one_query_or_all_can_be_drawn(queries):
    runs, qrels = some_runs(1, 3)
    table = an.stability(runs, qrels, ["AP"], queries=queries, draws=3)
    assert table["queries"].tolist() == [queries]
    for wrong in (0, 5):
        with pytest.raises(ValueError, match=f"{wrong} of 4 queries cannot be drawn: give 1 to 4"):
            an.stability(runs, qrels, ["AP"], queries=wrong, draws=3)


@pytest.mark.parametrize("wrong", [0, 6])
def test_numbers_of_documents_are_from_1_to_n(wrong):
    an.preference_levels(5, [1, 5], cutoff=1), an.preference_levels(5, [1, 5], cutoff=5)
    an.tie_probability(5, [1, 5], [1, 5])
    for m, cutoff, rank in ((wrong, 1, 1), (1, wrong, 1), (1, 1, wrong)):
        if rank == 1:
            with pytest.raises(ValueError, match=rf"\b{wrong}\b"):
                an.preference_levels(5, [1, m], cutoff=cutoff)
        if cutoff == 1:
            with pytest.raises(ValueError, match=rf"\b{wrong}\b"):
                an.tie_probability(5, [m], [rank])


@pytest.mark.parametrize("depth", [0, -1])
def test_success_is_of_one_document_or_more(depth):
    assert an.satisfaction(TWO, ONLY, depth=1)["S@n"].tolist() == [1, 0]
    with pytest.raises(ValueError, match=f"depth must be a whole number from 1 on, not {depth}"):
        an.satisfaction(TWO, ONLY, depth=depth)


def test_sizes_of_samples_are_from_2_to_all_systems_with_their_standard_error():
    runs, qrels = some_runs(5, 5)
    given = qrels, ["AP_Rareness@5"]
    table = an.agreement_by_number_of_systems(runs, *given, sizes=[2, 5, 6], draws=40)
    assert table["systems"].tolist() == [2, 5]
    two = table.iloc[0]
    # tau of two systems is 1 or -1: with n defined draws the variance is n (1 - mean²) / (n - 1).
    defined = 40 - two["undefined"]
    error = np.sqrt((1 - two["tau"] ** 2) / (defined - 1))
    assert two["standard_error"] == pytest.approx(error) and two["tau"] < 1
    all_five = table.loc[1, ["tau", "standard_error", "undefined"]]
    assert all_five.tolist() == pytest.approx([1, 0, 0])
    tied = an.agreement_by_number_of_systems(
        dict.fromkeys("ab", runs["s0"]), *given, sizes=[2], draws=7
    )
    assert tied["undefined"].tolist() == [7] and tied["tau"].isna().all()


def rr_and_rr_lp(run: dict, other: dict, relevant: list[set[str]]) -> np.ndarray:
    """δRR_1 and rrLP of two runs for each query, by a loop; shape (2, Q)."""
    rows = []
    for (qid, ranking), wanted in zip(run.items(), relevant):
        grades = dict.fromkeys(wanted, 1)
        a, b = (reciprocal_ranks(list(docs), grades) for docs in (ranking, other[qid]))
        rows.append((a[0] - b[0] if wanted else 0, rr_lp(a, b)))
    return np.array(rows).T


@pytest.mark.parametrize("analysis", [an.missing_labels, an.missing_queries])
def test_preferences_of_samples_match_a_loop(analysis):
    runs, qrels = some_runs(3, 5, queries=6)
    judged = [{d for d in TEN if grades[d]} for grades in qrels.values()]
    pairs = list(combinations(runs, 2))
    whole = np.array([rr_and_rr_lp(runs[a], runs[b], judged) for a, b in pairs])
    truth = whole[:, 0]
    items = [(q, d) for q, docs in enumerate(judged) for d in sorted(docs, key=TEN.index)]
    size = len(items) if analysis is an.missing_labels else len(judged)
    fractions, draws = [0.05, 0.5, 1], 3
    table = analysis(runs, qrels, fractions=fractions, draws=draws, seed=4, progress=False)
    table = table.set_index(["fraction", "preference"])
    assert len(table) == 3 * 3 and set(table["samples"]) == {draws}
    generator = np.random.default_rng(4)
    drawn: dict[tuple[float, str, str], list[float]] = defaultdict(list)
    for fraction in fractions:
        for _ in range(draws):
            kept = generator.permutation(size)[: max(1, round(fraction * size))]
            if analysis is an.missing_labels:
                left: list[set[str]] = [set() for _ in judged]
                for item in kept:
                    left[items[item][0]].add(items[item][1])
                values = np.array([rr_and_rr_lp(runs[a], runs[b], left) for a, b in pairs])
            else:
                values = whole[:, :, kept]
            mean = truth.mean(axis=1).round(12)
            named = {"RR": values[:, 0], "rrLP": values[:, 1], "sgnLP": np.sign(values[:, 1])}
            for name, of_pairs in named.items():
                same = np.sign(of_pairs.mean(axis=1).round(12)) == np.sign(mean)
                drawn[fraction, name, "system"].append(same[mean != 0].mean())
                if analysis is an.missing_labels:
                    right = of_pairs * truth > 0
                    drawn[fraction, name, "ranking"].append(right.sum() / (truth != 0).sum())
                    drawn[fraction, name, "tied"].append((of_pairs == 0).mean())
    assert len(drawn) == 3 * 3 * (3 if analysis is an.missing_labels else 1)
    for (fraction, name, value), samples in drawn.items():
        row = table.loc[(fraction, name)]
        assert row[value] == pytest.approx(np.mean(samples))
        assert row[f"{value}_sd"] == pytest.approx(np.std(samples, ddof=1))


def test_rare_documents_are_in_the_order_of_queries_then_rarest_first_then_by_id():
    runs = {"a": {"q2": ranked("c", "b", "a"), "q1": ranked("z")}, "b": {"q2": ranked("x", "c")}}
    qrels = {"q2": dict.fromkeys("edcba", 1), "q1": {"z": 1, "y": 1}}
    table = an.rare_documents(runs, qrels)
    found = zip(table["qid"] + " " + table["docno"], table["S_d"], table["best_rank"])
    assert list(found) == [
        ("q2 a", 1, 3), ("q2 b", 1, 2), ("q2 c", 2, 1), ("q2 d", 0, 0), ("q2 e", 0, 0),
        ("q1 z", 1, 1), ("q1 y", 0, 0),
    ]  # fmt: skip
    assert an.rare_documents(runs, qrels, few=1)["docno"].tolist() == [*"abdezy"]


def test_finders_of_equally_many_documents_alone_are_ordered_by_few_then_by_rareness():
    qrels = {"q": dict.fromkeys("abcdefg", 1)}
    found = {"x": "ac", "y": "bcd", "z": "ed", "w": "defg", "v": "efg", "u": "fg", "t": "gd"}
    runs = {name: {"q": ranked(*docs)} for name, docs in found.items()}
    finders = Counter("".join(found.values()))

    def order(name: str) -> tuple[float, ...]:
        counts = [finders[docno] for docno in found[name]]
        return -counts.count(1), -sum(count <= 2 for count in counts), np.mean(counts)

    assert an.rare_finds(runs, qrels, few=2)["system"].tolist() == sorted(found, key=order)


def test_levels_have_a_row_each_in_their_order():
    runs, qrels = some_runs(8, 4)
    pairs = an.level_correlations(runs, qrels, levels=4)[["i", "j"]].to_numpy().tolist()
    assert pairs == [[i, j] for i in range(1, 5) for j in range(i + 1, 5)]
    rows = an.level_regressions(runs, qrels, levels=2, following=3)[["i", "j"]].to_numpy().tolist()
    assert rows == [[i, j] for i in (1, 2) for j in (1, 2, 3)]
    assert an.recall_level_needed(runs, qrels, levels=3)["i"].tolist() == [1, 2, 3]
    assert an.tie_probability_by_rank(runs, qrels, deepest=3)["p_1"].tolist() == [1, 2, 3]
    assert an.ties_by_recall_level(runs, qrels, levels=3)["i"].tolist() == [1, 2, 3]


def test_the_steps_from_ap_to_asl_by_hand():
    """Relevant documents at ranks 1 and 4, and one missed: search lengths 1, 3 and 9."""
    qrels = {"q": dict.fromkeys("abc", 1), "none": {"x": 0}}
    judged = Evaluation.of({"r": {"q": ranked("a", "x", "y", "b"), "none": ranked("x")}}, qrels)
    steps = from_ap_to_asl(relevant_documents(judged, 1, 10))
    expected = {
        "AP": [(1 + 2 / 4) / 3, 0],
        "mean 1/ASL(q,d)": [(1 + 1 / 3 + 1 / 9) / 3, 1],
        "mean 1/ASL(q)": [3 / (1 + 3 + 9), 1],
        "ASL": [(1 + 3 + 9) / 3, 1],
    }
    assert list(steps) == list(expected)
    for name, values in expected.items():
        assert steps[name][0].tolist() == pytest.approx(values)


def test_reordering_is_a_summary_of_the_moves_of_systems_over_tracks():
    tracks = {name: some_runs(seed, 6, queries=12) for name, seed in (("x", 20), ("y", 21))}
    options = {"alpha": 0.5, "margin": 0.02, "cutoff": 10}
    systems = an.reordering(tracks, each=True, **options)
    table = an.reordering(tracks, **options).set_index("change")
    assert systems["dSort"].max() > 0
    for (change, track), part in systems.groupby(["change", "track"]):
        before, after = (part[name] for name in ("better_before", "better_after"))
        assert part["dSort"].tolist() == pytest.approx((100 * (before - after).abs() / 6).tolist())
        assert part["dValue"].tolist() == pytest.approx((part["new"] / part["old"]).tolist())
        if change == "cumulative":
            runs, qrels = tracks[track]
            judged = Evaluation.of(runs, qrels)
            ap, asl = (judged.values(name).mean(axis=1) for name in ("AP@10", "ASL@10"))
            assert part["old"].tolist() == pytest.approx(ap.tolist())
            assert part["new"].tolist() == pytest.approx((1 / asl).tolist())
    for change, part in systems.groupby("change"):
        row, by_track = table.loc[change], part.groupby("track")
        largest = by_track["dSort"].max()
        assert row["dSort"] == pytest.approx(largest.mean())
        assert row["dSort_sd"] == pytest.approx(largest.std())
        taus = [kendalltau(rows["old"].round(12), rows["new"].round(12))[0] for _, rows in by_track]
        assert row["tau"] == pytest.approx(np.mean(taus))
        assert row["tau_sd"] == pytest.approx(np.std(taus, ddof=1))
        assert row["dValue"] == pytest.approx(part["dValue"].mean())
        assert row["dValue_sd"] == pytest.approx(part["dValue"].std())
        assert part.set_index("run")["dSort"].loc[[row["moved"]]].max() == part["dSort"].max()
        assert (row["tracks"], row["systems"]) == (2, 12)


def test_where_no_system_moves_none_is_named():
    """One system is perfect and one finds nothing, by every measure."""
    qrels = {f"q{n}": {"a": 1} for n in range(5)}
    runs = {name: {qid: {name: 1.0} for qid in qrels} for name in "ax"}
    runs["x"]["q0"] = {"x": 2.0, "a": 1.0}
    table = an.reordering(runs, qrels)
    assert table["dSort"].eq(0).all() and table["moved"].eq("").all()


def test_techniques_and_humans_are_differences_of_the_new_minus_the_old():
    qrels = {q: {"a": 1, "b": 1} for q in ("q1", "q2")}
    runs = {
        "old": {"q1": ranked("x", "a"), "q2": ranked("a", "b")},
        "new": {"q1": ranked("a", "b"), "q2": ranked("a", "x", "b")},
    }
    table = an.compare_techniques(runs, qrels, old="old", new="new", cutoff=10).set_index("measure")
    # Search lengths: (2 + 10) / 2 and 1 by the old run, 1 and (1 + 2) / 2 by the new run.
    row = table.loc["ASL"]
    assert (row["old"], row["new"], row["difference"]) == (3.5, 1.25, -2.25)
    assert row["RRIE"] == pytest.approx(2.25 / 2.5)
    assert row["ci_low"] < -2.25 < row["ci_high"]
    row = table.loc["AP"]
    assert row["difference"] == pytest.approx((1 - 1 / 4 + (1 + 2 / 3) / 2 - 1) / 2)
    types = {"old": "manual", "new": "automatic"}
    ranges = an.human_range(runs, qrels, run_types=types, system="old")
    expected = [*[(1 / 4 + 1) / 2] * 3, (1 + (1 + 2 / 3) / 2) / 2]
    assert ranges.iloc[0].tolist()[:3] == ["manual runs", "qrels", "manual runs"]
    assert ranges.iloc[0].tolist()[3:7] == pytest.approx(expected)
    assert ranges["bar_run"].tolist() == ["new"], "next to the best automatic run"
