"""The paper on atomized search length: its tables and figures, against loops and against print."""

from __future__ import annotations

import time
from itertools import combinations

import ir_measures
import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pyterrier_asl import ASL, DocLengths, evaluate, search_lengths
from pyterrier_asl.analysis.distribution import search_length_changes, search_length_distribution
from pyterrier_asl.analysis.document_lengths import lengths_by_rank
from pyterrier_asl.analysis.double_scores import by_double_scores
from pyterrier_asl.analysis.headroom import headroom, run_quality
from pyterrier_asl.analysis.hidden_weighting import (
    effective_documents,
    effective_share,
    equivalents,
)
from pyterrier_asl.analysis.judged_runs import JudgedRuns, tracks
from pyterrier_asl.analysis.measure_options import with_options
from pyterrier_asl.analysis.relevant_documents import RelevantDocuments
from pyterrier_asl.analysis.reordering import Scored, num_better, reordering
from pyterrier_asl.analysis.slices import Queries, per_slice, slices
from pyterrier_asl.analysis.techniques import compare_techniques, relative_error_reduction
from pyterrier_asl.evaluation import load_evaluation, save_evaluation


@pytest.fixture(scope="session")
def trec8(data) -> JudgedRuns:
    return JudgedRuns.of(data / "trec8-adhoc" / "runs", data / "trec8-adhoc" / "qrels.txt.gz")


@pytest.fixture(scope="session")
def dl20(data) -> JudgedRuns:
    return JudgedRuns.of(data / "dl20-passage" / "runs", data / "dl20-passage" / "qrels.txt")


@pytest.fixture(scope="session")
def robust03(data) -> JudgedRuns:
    return JudgedRuns.of(data / "robust03" / "runs", data / "robust03" / "qrels.txt")


QRELS = {
    "q1": {"a": 1, "b": 2, "c": 1, "n": 0},
    "q2": {"a": 1, "n": 0},
    "q3": {"n": 0},
}
RUNS = {
    # q1: a at 1, b at 3 below x, c missing; q2: a at 2; q3: nothing is relevant.
    "one": {"q1": {"a": 9, "x": 8, "b": 7}, "q2": {"n": 9, "a": 8}, "q3": {"n": 1}},
    # q1: unjudged y above all three; q2: not answered.
    "two": {"q1": {"y": 9, "a": 8, "b": 7, "c": 6}},
}


def precisions(ranking, relevant):
    """Precision at each relevant document and its search length, straight from Eq. 6 and 2."""
    found = {}
    for rank, docno in enumerate(ranking, start=1):
        if docno in relevant:
            found[docno] = ((len(found) + 1) / rank, rank - len(found))
    return found


# --- Weights and slices ---------------------------------------------------------------------------


def test_a_weighted_mean_is_that_of_repeated_queries():
    values = np.array([[1.0, 2.0, 6.0], [0.0, 3.0, 3.0]])
    (_, queries), = slices(["a", "b", "c"], weights={"c": 2, "a": 1, "b": 0})
    assert queries.mean(values).tolist() == [np.mean([1, 6, 6]), np.mean([0, 3, 3])]


@pytest.mark.parametrize(
    "by",
    [
        pd.Series({1: "x", 2: "y", 3: "x"}, name="kind"),
        pd.DataFrame({"qid": ["3", "2", "1"], "kind": ["x", "y", "x"]}),
    ],
)
def test_slices_by_series_or_frame_of_topics(by):
    frame = per_slice([1, 2, 3], lambda q: pd.DataFrame({"at": [q.at.tolist()]}), by=by)
    assert frame.to_dict("list") == {"kind": ["x", "y"], "at": [[0, 2], [1]]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": [1, 2]}, "2 weights for 3 queries"),
        ({"weights": {"a": 1, "b": 2}}, "1 of 3 queries have no weight"),
        ({"weights": [1, -1, 1]}, "query 'b' has the weight -1.0"),
        ({"weights": [0, 0, 0]}, "all weights are 0"),
        ({"by": {"a": 1, "b": None, "c": 2}}, "1 of 3 queries have no slice"),
        ({"by": pd.DataFrame({"qid": list("abc")})}, "pass topics"),
        ({"by": [1, 1, 2], "weights": [1, 1, 0]}, "slice 2: all weights are 0"),
    ],
)
def test_what_is_no_weight_or_slice_says_so(options, message):
    with pytest.raises(ValueError, match=message):
        list(slices(["a", "b", "c"], **options))


# --- Reading runs ---------------------------------------------------------------------------------


def test_judged_runs_are_met_anew_only_with_other_qrels():
    judged = JudgedRuns.of(RUNS, QRELS)
    assert JudgedRuns.of(judged) is judged and JudgedRuns.of(judged, QRELS) is judged
    other = JudgedRuns.of(judged, {"q1": {"x": 1, "y": 1}, "q2": {"a": 1}, "q4": {"y": 1}})
    assert other.values("RR").tolist() == [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]
    assert judged.select(["two", "one"]).values("RR").tolist() == [[0.5, 0, 0], [1, 0.5, 0]]
    with pytest.raises(ValueError, match="no runs \\['three'\\]"):
        judged.select(["three"])


def test_values_are_kept_as_one_frame(tmp_path):
    judged, asked = JudgedRuns.of(RUNS, QRELS), ["AP", "ASL@10", "LexiP"]
    found = judged.evaluation(asked)
    pd.testing.assert_frame_equal(found, evaluate(RUNS, QRELS, asked))
    other = found[::-1].assign(AP=0.25)  # another order, and what no run has
    save_evaluation(other, tmp_path / "evaluation")
    knowing = judged.with_evaluation(load_evaluation(tmp_path / "evaluation"))
    assert (knowing.values("AP") == 0.25).all() and not (judged.values("AP") == 0.25).all()
    for measure in asked[1:]:
        assert knowing.values(measure).tolist() == judged.values(measure).tolist()
    with pytest.raises(ValueError, match="of other runs"):
        judged.select(["one"]).with_evaluation(found)
    with pytest.raises(ValueError, match="of other queries"):
        JudgedRuns.of(RUNS, {"q1": {"a": 1}}).with_evaluation(found)


def test_tracks_are_pairs_of_runs_and_qrels():
    assert list(tracks({"t": (RUNS, QRELS), "u": JudgedRuns.of(RUNS, QRELS)})) == ["t", "u"]
    with pytest.raises(ValueError, match="track 'one' is a dict"):
        tracks(RUNS)
    with pytest.raises(ValueError, match="of one track"):
        headroom({"t": (RUNS, QRELS), "u": (RUNS, QRELS)}, weights=[1, 1, 1])


# --- Document by document -------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["pad", "after", "eq3"])
def test_relevant_documents_are_those_of_search_lengths(missing):
    for name, run in RUNS.items():
        judged = JudgedRuns.of({name: run}, QRELS)
        documents = RelevantDocuments.of(judged.runs[0], cutoff=5, missing=missing)
        table = search_lengths(run, QRELS, cutoff=5, missing=missing).set_index(["qid", "docno"])
        order = [(q, d) for q, docs in QRELS.items() for d, grade in docs.items() if grade >= 1]
        assert documents.lengths.tolist() == table.loc[order, "search_length"].tolist()
        assert documents.found.tolist() == table.loc[order, "rank"].notna().tolist()
        assert documents.asl.tolist() == judged.values(ASL(missing=missing) @ 5)[0].tolist()
        for (qid, docno), precision in zip(order, documents.precision):
            ranking = sorted(run.get(qid, {}), key=lambda d: -run[qid][d])
            relevant = [d for d, grade in QRELS[qid].items() if grade >= 1]
            assert precision == precisions(ranking, relevant).get(docno, (0, 0))[0]


def test_distribution_by_hand():
    # one: lengths 1 (a), 2 (b), 9 (c: 10 - 2 + 1) and 2 (a of q2); two: 2, 2, 2 and 11.
    one = search_length_distribution(RUNS, QRELS, run="one", cutoff=10, edges=[1, 2, 6, 11])
    assert one["found"].tolist() == [1, 2, 0] and one["missing"].tolist() == [0, 0, 1]
    assert one[["low", "high"]].to_numpy().tolist() == [[1, 1], [2, 5], [6, 11]]
    assert one.attrs["optimal"] == 1
    changes = search_length_changes(RUNS, QRELS, a="one", b="two", cutoff=10, edges=[1, 5, 10])
    # a: 1 - 2, b: 2 - 2, c: 9 - 2, a of q2: 2 - 11.
    assert changes["documents"].tolist() == [1, 0, 1, 1, 0, 0, 1]
    assert changes["from_missing"].tolist() == [1, 0, 0, 0, 0, 0, 1]
    assert [changes.attrs[key] for key in ("wins", "losses", "same")] == [2, 1, 1]


def test_the_best_and_the_median_by_asl_are_compared_where_nobody_says_which():
    qrels = {"q": {"d": 1}}
    ranks = {"third": 5, "best": 1, "last": 9, "second": 3, "fourth": 7}
    runs = {
        name: {"q": {**{f"x{i}": 99 - i for i in range(1, rank)}, "d": 1}}
        for name, rank in ranks.items()
    }
    changes = search_length_changes(runs, qrels, cutoff=10, edges=[1, 5, 10])
    assert (changes.attrs["a"], changes.attrs["b"]) == ("best", "third")
    assert changes["documents"].tolist() == [0, 1, 0, 0, 0, 0, 0], "1 - 5"


def test_as_published_takes_missing_documents_right_after_the_list(robust03):
    for analysis in (headroom, run_quality, reordering, search_length_distribution,
                     search_length_changes):
        published = analysis(robust03, as_published=True)
        pd.testing.assert_frame_equal(published, analysis(robust03, missing="after"))
        assert not published.equals(analysis(robust03))


@pytest.mark.parametrize("edges", [[3, 2], [0, 5], [1.5, 2], [[1, 2]], [1]])
def test_edges_that_are_none(edges):
    with pytest.raises(ValueError, match="edges"):
        search_length_distribution(RUNS, QRELS, edges=edges)


def test_the_best_dl20_run_leaves_the_paper_s_750_passages_far_down(dl20):
    frame = search_length_distribution(dl20)
    last = frame.iloc[-1]
    print("\n", frame.to_string(), frame.attrs, "paper, Fig. 5: over 750 beyond 900 irrelevant")
    assert frame.attrs["run"] == "p_d2q_rm3_duo"
    assert int(frame["documents"].sum()) == int(dl20.judgements.num_relevant(1).sum())
    assert frame["documents"].idxmax() == 0  # the fullest bin is that of the shortest
    assert last["low"] == 901 and 750 < last["documents"] < 1000
    changes = search_length_changes(dl20)
    print(changes.to_string(), changes.attrs)
    assert changes.attrs["wins"] > changes.attrs["losses"] > 0
    assert changes["documents"].iloc[0] > changes["documents"].iloc[-1]


# --- Figures 1 to 4 -------------------------------------------------------------------------------


def test_run_quality_by_hand():
    frame = run_quality(RUNS, QRELS, cutoff=10).set_index("run")
    one = (1 + 2 + 9) / 3, 2, 1  # q3 has nothing relevant: 1
    assert frame.loc["one", "ASL"] == pytest.approx(np.mean(one))
    assert frame.loc["one", "missing_share"] == pytest.approx(9 / 3 / sum(one))
    assert frame.loc["one", "R@10"] == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert frame.loc["one", "Judged@10"] == pytest.approx(np.mean([2 / 3, 1, 1]))
    # Above b one irrelevant document, unjudged; above a of q2 one that is judged.
    assert frame.loc["one", "unjudged_share"] == pytest.approx(1 / 2)
    assert frame.loc["two", "ASL"] == pytest.approx(np.mean([2, 11, 1]))
    weighted = run_quality(RUNS, QRELS, cutoff=10, weights={"q1": 1, "q2": 3, "q3": 0})
    assert weighted.set_index("run").loc["one", "ASL"] == pytest.approx((4 + 3 * 2) / 4)
    sliced = headroom(RUNS, QRELS, by=pd.Series({"q1": "x", "q2": "y", "q3": "y"}, name="kind"))
    assert len(sliced) == 8 and sliced.columns[:3].tolist() == ["track", "kind", "measure"]


def test_asl_over_deep_pools_is_mostly_recall(trec8, dl20):
    for judged, pearson, share in ((dl20, -0.993, 0.85), (trec8, -0.995, 0.73)):
        frame = run_quality(judged)
        found = np.corrcoef(frame["ASL"], frame["R@1000"])[0, 1]
        median = frame["missing_share"].median()
        print(f"\nPearson {found:.4f} ({pearson}), missing share {median:.3f} ({share})")
        assert found == pytest.approx(pearson, abs=5e-4)
        assert median == pytest.approx(share, abs=5.1e-3)
    unjudged = run_quality(dl20)["unjudged_share"].median()
    print(f"unjudged among the irrelevant documents above, DL 2020: {unjudged:.3f} (.82)")
    assert round(unjudged, 2) == 0.82


def test_map_of_all_trec8_runs_is_the_official_one(data, trec8):
    """uwmt8a0 has scores that 32 bits, trec_eval's since, do not tell apart; NIST's had 64."""
    lines = (data / "trec8-adhoc" / "official-scores.map").read_text().split()
    official = {name: f"{float(value):.4f}" for name, value in zip(lines[::2], lines[1::2])}
    frame = run_quality(trec8).set_index("run")["AP"]
    ours = {name: f"{value:.4f}" for name, value in frame.items()}
    differ = {name: (ours[name], map_) for name, map_ in official.items() if ours[name] != map_}
    print(f"\n{len(official)} runs, MAP differs from the official one in: {differ}")
    assert len(official) == 129 == len(ours) and differ == {"uwmt8a0": ("0.2143", "0.2142")}
    double = by_double_scores(trec8.select(differ)).values("AP").mean(axis=1)
    print(f"the same by 64-bit scores: {double}")
    assert [f"{value:.4f}" for value in double] == ["0.2142"]


def test_headroom_of_three_tracks(trec8, dl20, robust03):
    frame = headroom({"TREC-8": trec8, "DL 2020": dl20, "Robust 2003": robust03})
    print("\n", frame.round(3).to_string())
    assert frame.groupby("track", sort=False)["measure"].agg(list).tolist() == [
        ["P@20", "ASL@g1-10", "AP", "ASL"]
    ] * 3
    for track, judged in (("TREC-8", trec8), ("DL 2020", dl20)):
        part = frame[frame["track"] == track].set_index("measure")
        for label, measure, best in (
            ("P@20", "P@20", max), ("AP", "AP", max), ("ASL", "ASL", min),
            ("ASL@g1-10", "ASL(g=10)", min),
        ):  # fmt: skip
            means = judged.values(measure).mean(axis=1)
            assert part.loc[label, "value"] == pytest.approx(best(means))
            assert means[judged.row(part.loc[label, "best_run"])] == best(means)


# --- Table 1 --------------------------------------------------------------------------------------


def test_relative_error_reduction_of_the_printed_values():
    assert round(float(relative_error_reduction(14, 5, 1)), 3) == 0.692
    assert round(float(relative_error_reduction(51, 6, 1)), 3) == 0.900
    assert round(float(relative_error_reduction(39, 27, 1)), 3) == 0.316
    assert round(float(relative_error_reduction(264, 215, 1)), 3) == 0.186
    assert np.isnan(relative_error_reduction(1, 2, 1))


def test_table_1_dl20_passages(dl20):
    """As printed, but BM25's ASL@g1-10: 51 is another BM25 run's (p_bm25 or p_bm25rm3)."""
    frame = compare_techniques(dl20, old="DLH_d_5_t_25", new="p_d2q_rm3_duo", as_published=True)
    print("\n", frame.round(4).to_string(), frame.attrs)
    frame = frame.set_index("measure")
    printed = {"P@20": (0.517, 0.706, 0.39), "AP": (0.400, 0.572, 0.29), "ASL": (264, 215, 0.19)}
    for measure, (old, new, rrie) in printed.items():
        digits = 0 if measure == "ASL" else 3
        row = frame.loc[measure]
        assert (round(row["old"], digits), round(row["new"], digits)) == (old, new)
        assert round(row["RRIE"], 2) == rrie
    assert frame.loc["ASL", "new"] == pytest.approx(214.505, abs=5e-4)
    assert round(frame.loc["ASL@g1-10", "new"]) == 6
    tops = dict(zip(dl20.names, dl20.values(ASL(g=10, missing="after")).mean(axis=1)))
    others = {name: tops[name] for name in ("DLH_d_5_t_25", "p_bm25", "p_bm25rm3")}
    print("ASL@g1-10 of BM25 runs; the paper prints 51:", others)
    assert round(tops["p_bm25"]) == round(tops["p_bm25rm3"]) == 51


def test_techniques_are_tested_over_all_rows_shown(dl20):
    by = pd.Series([int(qid) % 2 for qid in dl20.qids], index=dl20.qids, name="parity")
    frame = compare_techniques(dl20, old="terrier-BM25", new="pash_f3", by=by)
    assert frame.attrs["family"] == 8 and frame.attrs["correction"] == "holm"
    row = frame[(frame["parity"] == 1) & (frame["measure"] == "AP")].iloc[0]
    odd = np.flatnonzero(by == 1)
    old, new = dl20.select(["terrier-BM25", "pash_f3"]).values("AP")[:, odd]
    assert row["p"] == pytest.approx(scipy.stats.ttest_rel(new, old).pvalue)
    assert row["difference"] == pytest.approx(new.mean() - old.mean())
    p = np.sort(frame["p"])
    holm = np.minimum(np.maximum.accumulate(p * np.arange(8, 0, -1)), 1)
    assert np.allclose(np.sort(frame["p_corrected"]), holm)


def test_a_measure_without_a_best_value_has_no_error_to_reduce():
    with pytest.raises(ValueError, match="no best value of 1"):
        compare_techniques(RUNS, QRELS, old="one", new="two", measures=["TBG(missing_length=9)"])


# --- Table 2 --------------------------------------------------------------------------------------


def better_by_loops(values, lower):
    """n of the paper: systems at least 10 % better by the mean, and by a paired t-test."""
    counts = [0] * len(values)
    for a, b in combinations(range(len(values)), 2):
        means = values[a].mean(), values[b].mean()
        loser = b if (means[0] < means[1]) == lower else a
        p = scipy.stats.ttest_rel(values[a], values[b]).pvalue
        worse = means[0] if loser == a else means[1]
        if abs(means[0] - means[1]) >= 0.1 * worse and p <= 0.05:
            counts[loser] += 1
    return counts


@pytest.mark.filterwarnings("ignore:Precision loss", "ignore:invalid value")
def test_reordering_against_loops(robust03):
    """AP to ASL in three steps, from rankings and judgements, document by document."""
    steps = np.zeros((4, len(robust03), len(robust03.qids)))
    for system, run in enumerate(robust03.runs):
        docnos = np.array(run.docnos(run.whole_ranking).to_pylist())
        offsets = run.whole_ranking.offsets
        for query in range(len(robust03.qids)):
            judgements = robust03.judgements
            low, high = judgements.offsets[query : query + 2]
            names = judgements.docnos[low:high].to_pylist()
            relevant = {d for d, g in zip(names, judgements.grades[low:high]) if g >= 1}
            found = precisions(docnos[offsets[query] : offsets[query + 1]], relevant)
            absent = len(relevant) - len(found)
            retrieved = offsets[query + 1] - offsets[query]
            end = max(retrieved, 1000) - len(found) + 1 if retrieved else 1001
            p = [precision for precision, _ in found.values()] + [0] * absent
            lengths = np.array([length for _, length in found.values()] + [end] * absent)
            steps[:, system, query] = (
                np.mean(p), np.mean(1 / lengths), 1 / lengths.mean(), lengths.mean()
            )  # fmt: skip
    frame = reordering(robust03, each=True)
    summary = reordering(robust03).set_index("change")
    print("\n", summary.round(3).to_string())
    counts = [better_by_loops(values, lower) for values, lower in zip(steps, [0, 0, 0, 1])]
    rates = [values.mean(axis=1) for values in steps[:3]] + [1 / steps[3].mean(axis=1)]
    for change, old, new in (
        ("atomize P", 0, 1), ("documents", 1, 2), ("queries", 2, 3), ("cumulative", 0, 3)
    ):  # fmt: skip
        part = frame[frame["change"] == change]
        assert part["better_before"].tolist() == counts[old]
        assert part["better_after"].tolist() == counts[new]
        assert np.allclose(part["old"], rates[old]) and np.allclose(part["new"], rates[new])
        moves = 100 * np.abs(np.subtract(counts[old], counts[new])) / 17
        assert np.allclose(part["dSort"], moves)
        assert summary.loc[change, "dSort"] == pytest.approx(moves.max())
        tau = scipy.stats.kendalltau(rates[old], rates[new]).statistic
        assert summary.loc[change, "tau"] == pytest.approx(tau)
        assert summary.loc[change, "dValue"] == pytest.approx(np.mean(rates[new] / rates[old]))


def test_reordering_is_within_what_the_paper_prints(trec8, dl20, robust03):
    """Table 2 gives mean ± one standard deviation over 76 tracks; these are three of them."""
    printed = {
        "atomize P": ((26, 60), (0.7, 0.9), (0.3, 0.6)),
        "documents": ((37, 77), (0.4, 0.8), (0.03, 0.4)),
        "queries": ((29, 78), (0.4, 0.9), (0.1, 0.9)),
        "cumulative": ((26, 60), (0.6, 0.9), (0.004, 0.06)),
        "P@20 to ASL@g1-10": ((40, 76), (0.4, 0.8), None),
        "RR to ASL@g1": ((49, 85), (0.3, 0.7), None),
    }
    frame = reordering({"TREC-8": trec8, "DL 2020": dl20, "Robust 2003": robust03})
    print("\n", frame.round(3).to_string())
    for row in frame.to_dict("records"):
        for value, within in zip((row["dSort"], row["tau"], row["dValue"]), printed[row["change"]]):
            if within is not None:
                assert within[0] <= value <= within[1], row


def test_who_is_better_counts_weights():
    values = np.array([[0.5, 0.6, 0.7, 0.0], [0.1, 0.2, 0.4, 0.9]])
    assert num_better(Scored(values), Queries(np.arange(4))).tolist() == [0, 0]
    ignored = Queries(np.arange(4), np.array([1.0, 1.0, 1.0, 0.0]))
    assert num_better(Scored(values), ignored).tolist() == [0, 1]
    assert num_better(Scored(values, lower_is_better=True), ignored).tolist() == [1, 0]
    with pytest.raises(ValueError, match="a search length of 0 has no reciprocal"):
        reordering({"r": {"q1": {"a": 1}}, "s": RUNS["one"]}, QRELS, missing="eq3")


# --- Appendix A.1 ---------------------------------------------------------------------------------


def test_equivalents_of_the_paper_s_example():
    lengths = [1, 1, 1, 2, 4, 5, 10, 10000, 10000]
    expected = [1, 1, 1, 2.111, 2.667, 2.778, 3, 3.222, 3.222]
    assert equivalents(lengths).round(3).tolist() == expected
    # Their plain mean is what the mean of precisions makes of the lengths.
    assert equivalents(lengths).mean() == pytest.approx(1 / np.mean([1 / n for n in lengths]))
    with pytest.raises(ValueError, match="numbers from 1 on"):
        equivalents([0.5])


@given(st.lists(st.sampled_from([0, 0.01, 0.1, 0.25, 0.5, 1]), min_size=1, max_size=8))
def test_effective_documents_are_those_of_a_search(values):
    above = sorted((p for p in values if p > 0), reverse=True)
    if not above:
        assert effective_documents(values) == 0
        return
    target = len(values) / sum(values)
    gaps = [abs(np.mean([1 / p for p in above[:n]]) - target) for n in range(1, len(above) + 1)]
    assert gaps[effective_documents(values) - 1] == pytest.approx(min(gaps))


def test_effective_share_beside_the_paper_s_57_percent(trec8, dl20, robust03):
    frame = effective_share({"TREC-8": trec8, "Robust 2003": robust03, "DL 2020": dl20})
    by_track = frame.groupby("track", sort=False)[["share", "pooled"]].agg(["mean", "std"])
    print("\n", by_track.round(3).to_string(), "\npaper, over 76 tracks: 57 % ± 16")
    assert by_track.xs("mean", axis=1, level=1).to_numpy().min() > 0.57 - 0.16
    assert by_track.xs("mean", axis=1, level=1).to_numpy().max() < 0.57 + 0.16
    named = frame[frame["track"] == "TREC-8"].set_index("run")
    ap = dict(zip(trec8.names, trec8.values("AP").mean(axis=1)))
    assert all(named.loc[name, "AP"] == pytest.approx(value) for name, value in ap.items())


# --- Lengths by rank ------------------------------------------------------------------------------


def test_lengths_by_rank_by_hand():
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}
    runs = {"r": {"q1": {"b": 2, "a": 1}, "q2": {"c": 3, "b": 2, "a": 1}}}
    lengths = DocLengths.from_dict({"a": 10, "b": 100, "c": 40})
    frame = lengths_by_rank(runs, qrels, lengths=lengths, cutoff=2)
    expected = [
        (1, "not relevant", 70.0, 2), (1, "all", 70.0, 2),
        (2, "relevant", 10.0, 1), (2, "not relevant", 100.0, 1), (2, "all", 55.0, 2),
    ]  # fmt: skip
    assert list(frame.drop(columns="run").itertuples(index=False, name=None)) == expected
    weighted = lengths_by_rank(runs, qrels, lengths=lengths, cutoff=1, weights=[3, 1])
    assert weighted["length"].tolist() == [85.0, 85.0]
    short = DocLengths.from_dict({"a": 10})
    with pytest.raises(ValueError, match="run 'r': 3 of 4 retrieved.*\\(e.g. 'b'\\)"):
        lengths_by_rank(runs, qrels, lengths=short, cutoff=2)
    filled = lengths_by_rank(runs, qrels, lengths=short, cutoff=1, missing_length=5)
    assert filled["length"].tolist() == [5.0, 5.0]


# --- Time -----------------------------------------------------------------------------------------


def test_all_of_trec8_s_tables_take_seconds(data):
    start = time.perf_counter()
    runs = JudgedRuns.of(data / "trec8-adhoc" / "runs", data / "trec8-adhoc" / "qrels.txt.gz")
    read = time.perf_counter() - start
    headroom(runs), reordering(runs), effective_share(runs), search_length_distribution(runs)
    search_length_changes(runs)
    total = time.perf_counter() - start
    print(f"\nTREC-8, 129 runs: read and judged {read:.1f} s, with all tables {total:.1f} s")
    assert total < 90


# --- Grades ---------------------------------------------------------------------------------------


def test_grades_may_be_floats_but_standard_measures_want_whole_ones():
    assert with_options(ir_measures.AP, rel=np.float64(2.0)) == ir_measures.AP(rel=2)
    assert headroom(RUNS, QRELS, rel=2.0)["value"].tolist() == headroom(RUNS, QRELS, rel=2)[
        "value"
    ].tolist()
    with pytest.raises(ValueError, match="AP does not take rel=1.5"):
        with_options(ir_measures.AP, rel=1.5)
