"""The tables and figures of the paper on atomized search length, against loops and the paper.
Tests of best_runs, collections_and_lengths, reordered_systems, search_lengths and techniques.py."""

import ir_measures
import numpy as np
import pandas as pd
import pytest
from brute_force import precisions
from hypothesis import given
from hypothesis import strategies as st

from pyterrier_asl import ASL, DocLengths, search_lengths
from pyterrier_asl.analysis.best_runs import headroom, run_quality
from pyterrier_asl.analysis.collections_and_lengths import lengths_by_rank
from pyterrier_asl.analysis.reordered_systems import num_better, reordering
from pyterrier_asl.analysis.search_lengths import (
    effective_documents,
    effective_share,
    equivalents,
    search_length_changes,
    search_length_distribution,
)
from pyterrier_asl.analysis.success_at_n import satisfaction
from pyterrier_asl.analysis.techniques import compare_techniques, relative_error_reduction
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.evaluation.relevant_documents import RelevantDocuments
from pyterrier_asl.measures.parsing import with_options

QRELS = {"q1": {"a": 1, "b": 2, "c": 1, "n": 0}, "q2": {"a": 1, "n": 0}, "q3": {"n": 0}}
RUNS = {
    # q1: a at 1, b at 3 below x, c missing; q2: a at 2; q3: nothing is relevant.
    "one": {"q1": {"a": 9, "x": 8, "b": 7}, "q2": {"n": 9, "a": 8}, "q3": {"n": 1}},
    # q1: unjudged y above all three; q2: unanswered.
    "two": {"q1": {"y": 9, "a": 8, "b": 7, "c": 6}},
}


@pytest.mark.parametrize("missing", ["pad", "after", "eq3"])
def test_relevant_documents_match_search_lengths(missing):
    for name, run in RUNS.items():
        judged = Evaluation.of({name: run}, QRELS)
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
    assert changes["share"].tolist() == [0.25, 0, 0.25, 0.25, 0, 0, 0.25], "of four documents"
    assert changes["from_missing"].tolist() == [1, 0, 0, 0, 0, 0, 1]
    assert [changes.attrs[key] for key in ("wins", "losses", "same")] == [2, 1, 1]


def test_documents_that_neither_run_retrieved_are_no_wins():
    qrels = {"q": {"both": 1, "deep": 1, "shallow": 1, "gone": 1}}
    runs = {
        "deep": {"q": {"x": 9, "y": 8, "z": 7, "both": 6, "deep": 5}},
        "shallow": {"q": {"both": 9, "shallow": 8}},
    }
    changes = search_length_changes(runs, qrels, a="deep", b="shallow", missing="after")
    kinds = ["both", "only_a", "only_b"]
    assert [changes.attrs[kind] for kind in [*kinds, "neither"]] == [1, 1, 1, 1]
    assert changes[kinds].sum().tolist() == [1, 1, 1]
    assert changes[kinds].sum(axis=1).tolist() == changes["documents"].tolist()
    # deep: both at length 4, deep 4; shallow: both at 1, shallow 1. Missed documents follow the
    # ranking at 4 in deep and 1 in shallow, so even the document missed by both seems to differ.
    assert [changes.attrs[key] for key in ("wins", "losses", "same")] == [0, 3, 0]
    assert changes["documents"].sum() == 3 and changes["share"].sum() == pytest.approx(1)
    drawn = search_length_changes.draw(changes)
    told = " ".join(drawn.title.subtitle)
    assert "0 are shorter in deep, 3 longer, 0 equal. Not shown: 1 that neither run ret" in told
    assert drawn.data["count"].sum() == 3, "the bars are of the documents of the caption"


def test_labels_say_the_minimum_grade():
    """The name of P(rel=2)@20 keeps its parameter."""
    names = ["P(rel=2)@20", "ASL(rel=2)@g1-10", "AP(rel=2)", "ASL(rel=2)"]
    assert headroom(RUNS, QRELS, rel=2)["measure"].tolist() == names
    assert headroom(RUNS, QRELS)["measure"].tolist() == ["P@20", "ASL@g1-10", "AP", "ASL"]
    quality = run_quality(RUNS, QRELS, rel=2, cutoff=10)
    assert list(quality)[1:7] == [*names, "R(rel=2)@10", "missing_share"]
    run_quality.draw(quality)
    changes = reordering(RUNS, QRELS, rel=2)
    assert "P(rel=2)@20 to ASL(rel=2)@g1-10" in changes["change"].tolist()
    assert changes["from"].tolist()[:2] == ["AP(rel=2)", "mean 1/ASL(q,d)"]
    compared = compare_techniques(RUNS, QRELS, old=list(RUNS)[0], new=list(RUNS)[1], rel=2)
    assert compared["measure"].tolist() == names


def test_of_equal_means_the_first_run_is_the_best():
    """The means of 1/7, 1/3, 1/5 and 1/6 differ by rounding in another order."""
    runs = {
        name: {
            q: {"d": 1.5 - rank} | {f"x{n}": -n for n in range(7)} for q, rank in zip("pqrs", of)
        }
        for name, of in {"one": (3, 5, 6, 7), "two": (7, 3, 5, 6)}.items()
    }
    for names in ("one", "two"), ("two", "one"):
        found = headroom({name: runs[name] for name in names}, dict.fromkeys("pqrs", {"d": 1}))
        assert found["best_run"].tolist() == [names[0]] * 4


def test_run_quality_by_hand():
    frame = run_quality(RUNS, QRELS, cutoff=10).set_index("run")
    one = (1 + 2 + 9) / 3, 2, 1  # q3 has no relevant document: 1
    assert frame.loc["one", "ASL"] == pytest.approx(np.mean(one))
    assert frame.loc["one", "missing_share"] == pytest.approx(9 / 3 / sum(one))
    assert frame.loc["one", "R@10"] == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert frame.loc["one", "Judged@10"] == pytest.approx(np.mean([2 / 3, 1, 1]))
    # One unjudged irrelevant document above b, one judged irrelevant document above a of q2.
    assert frame.loc["one", "unjudged_share"] == pytest.approx(1 / 2)
    assert frame.loc["two", "ASL"] == pytest.approx(np.mean([2, 11, 1]))
    deep = {"q": {f"d{n:04}": -n for n in range(1001)}}
    judged = {"q": dict.fromkeys([*deep["q"]][:1000], 1)}
    assert run_quality({"deep": deep}, judged)["Judged@1000"].tolist() == [1]


def test_documents_with_a_negative_grade_are_unjudged():
    run = {"q": {"m": 5, "y": 4, "a": 3, "n": 2, "b": 1}}
    qrels = {"q": {"m": -1, "a": 1, "n": 0, "b": 1}}
    (row,) = run_quality({"x": run}, qrels, cutoff=10).to_dict("records")
    assert row["Judged@10"] == pytest.approx(3 / 5)
    # Above a: the unjudged m and y; above b: these and the judged n.
    assert row["unjudged_share"] == pytest.approx(4 / 5)


def test_relative_error_reduction_of_the_printed_values():
    old, new = [14, 51, 39, 264], [5, 6, 27, 215]
    printed = [0.692, 0.900, 0.316, 0.186]
    assert relative_error_reduction(old, new, 1).round(3).tolist() == printed
    assert np.isnan(relative_error_reduction(1, 2, 1))


def test_who_is_better():
    values = np.array([[0.5, 0.6, 0.7, 0.0], [0.1, 0.2, 0.4, 0.9]])
    assert num_better(values).tolist() == [0, 0]
    assert num_better(values[:, :3]).tolist() == [0, 1]
    assert num_better(values[:, :3], is_cost=True).tolist() == [1, 0]
    with pytest.raises(ValueError, match="a search length of 0 has no reciprocal"):
        reordering({"r": {"q1": {"a": 1}}, "s": RUNS["one"]}, QRELS, missing="eq3")


def test_the_mean_of_the_equivalents_corresponds_to_the_mean_of_the_precisions():
    lengths = [1, 1, 1, 2, 4, 5, 10, 10000, 10000]
    assert equivalents(lengths).mean() == pytest.approx(1 / np.mean([1 / n for n in lengths]))
    with pytest.raises(ValueError, match="numbers from 1 on"):
        equivalents([0.5])


@given(st.lists(st.sampled_from([0, 0.01, 0.1, 0.25, 0.5, 1]), min_size=1, max_size=8))
def test_effective_documents_match_a_search(values):
    above = sorted((p for p in values if p > 0), reverse=True)
    if not above:
        assert effective_documents(values) == 0
        return
    target = len(values) / sum(values)
    gaps = [abs(np.mean([1 / p for p in above[:n]]) - target) for n in range(1, len(above) + 1)]
    assert gaps[effective_documents(values) - 1] == pytest.approx(min(gaps))


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
    short = DocLengths.from_dict({"a": 10})
    filled = lengths_by_rank(runs, qrels, lengths=short, cutoff=1, missing_length=5)
    assert filled["length"].tolist() == [5.0, 5.0]


def test_grades_may_be_floats_and_fractions_of_other_providers_too():
    assert with_options(ir_measures.AP, rel=np.float64(2.0)) == ir_measures.AP(rel=2)
    floats, whole = (headroom(RUNS, QRELS, rel=rel)["value"].tolist() for rel in (2.0, 2))
    assert floats == whole
    for measure in (ir_measures.AP, ir_measures.infAP):
        assert str(with_options(measure, rel=1.5)) == f"{measure.NAME}(rel=1.5)"


GRADED = {"q1": {"a": 2, "b": 1}, "q2": {"a": 2, "b": 1}, "q3": {"z": 1}}
RUN = {"q1": {"b": 2, "a": 1}, "q2": {"b": 3, "x": 2, "a": 1}, "q3": {"z": 1}}
OTHER_RUN = {"q1": {"a": 2, "b": 1}, "q2": {"b": 3, "a": 2}, "q3": {"y": 2, "z": 1}}
BOTH = {"one": RUN, "two": OTHER_RUN}
BINARY = {qid: dict.fromkeys(documents, 1) for qid, documents in GRADED.items()}
TRACKS = {"graded": (BOTH, GRADED), "binary": (BOTH, BINARY)}
PER_TRACK = {
    headroom: {},
    effective_share: {},
    satisfaction: {"depth": 2},
    compare_techniques: {"old": "one", "new": "two"},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("analysis", PER_TRACK)
def test_each_track_has_a_minimum_grade(analysis):
    """The values of a track are as if it were alone, by its grade."""
    options = PER_TRACK[analysis]
    both = analysis(TRACKS, rel={"graded": 2}, **options)
    for name, rel in (("graded", 2), ("binary", 1)):
        alone = analysis(*TRACKS[name], rel=rel, **options)
        rows = both[both["track"] == name]
        for column in ("value", "share", "S@n", "RRIE", "old", "p"):
            if column in alone:
                assert rows[column].tolist() == pytest.approx(alone[column].tolist(), nan_ok=True)
    assert both.attrs["rel"] == {"graded": 2, "binary": 1}
    with pytest.raises(ValueError, match="rel names 'Graded'"):
        analysis(TRACKS, rel={"Graded": 2}, **options)


@pytest.mark.parametrize("analysis", PER_TRACK)
def test_a_track_without_a_relevant_document_has_no_values(analysis):
    with pytest.warns(UserWarning, match="binary: no document is relevant: the highest grade is 1"):
        both = analysis(TRACKS, rel=2, **PER_TRACK[analysis])
    blank = both["track"] == "binary"
    values = both.select_dtypes("float64")
    assert values[blank].isna().all(axis=None) and values[~blank].notna().any(axis=None)
    assert analysis is not headroom or both.loc[blank, "best_run"].eq("").all()
    analysis.draw(both)


def test_orders_are_of_tracks_with_relevant_documents():
    with pytest.warns(UserWarning, match="binary: no document is relevant"):
        both = reordering(TRACKS, rel=2, cutoff=10)
    alone = reordering(*TRACKS["graded"], rel=2, cutoff=10)
    columns = ["change", "dSort", "tau", "dValue", "tracks", "systems"]
    pd.testing.assert_frame_equal(both[columns], alone[columns])
    with pytest.warns(UserWarning, match="no document is relevant"):
        nothing = reordering(BOTH, BINARY, rel=2)
    assert nothing[["dSort", "tau", "dValue"]].isna().all(axis=None)
    assert nothing["moved"].eq("").all()
    reordering.draw(nothing).to_dict()
