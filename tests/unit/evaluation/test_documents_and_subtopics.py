"""Relevant documents of a run, and qrels with subtopics (relevant_documents.py, judgements.py)."""

import warnings

import ir_measures
import numpy as np
import pandas as pd
import pytest
from _files import write_qrels, write_run

import pyterrier_asl as asl

RUN = {"q1": {"x": 6, "a": 5, "y": 4, "n": 3, "b": 2, "z": 1}, "q2": {"x": 1}}
QRELS = {"q1": {"a": 2, "b": 1, "c": 1, "n": 0, "m": -1}, "q2": {"a": 1}, "q3": {"a": 1}}


def rows(frame):
    return [tuple(None if v is pd.NA else v for v in row) for row in frame.itertuples(index=False)]


def test_by_hand():
    frame = asl.search_lengths(RUN, QRELS, cutoff=10)
    assert list(frame) == ["qid", "docno", "grade", "rank", "search_length", "unjudged_above"]
    assert rows(frame) == [
        ("q1", "a", 2, 2, 2, 1),  # x above
        ("q1", "b", 1, 5, 4, 2),  # x, y and the judged n above
        ("q1", "c", 1, None, 9, 3),  # 10 - 2 retrieved relevant documents, plus 1
        ("q2", "a", 1, None, 11, 1),
        ("q3", "a", 1, None, 11, 0),
    ]


def test_documents_with_a_negative_grade_are_not_judged():
    run = {"q1": {"m": 3, "x": 2, "a": 1}}
    assert asl.search_lengths(run, QRELS)["unjudged_above"].tolist()[0] == 2


@pytest.mark.parametrize("missing", ["pad", "after", "eq3"])
@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("cutoff", [None, 3, 10])
@pytest.mark.parametrize("rel", [1, 2])
def test_the_mean_is_asl(missing, judged_only, cutoff, rel):
    options = dict(missing=missing, judged_only=judged_only, rel=rel)
    frame = asl.search_lengths(RUN, QRELS, cutoff=cutoff, **options)
    means = frame.groupby("qid")["search_length"].mean().to_dict()
    for metric in asl.ASL(cutoff=cutoff, **options).iter_calc(QRELS, RUN):
        assert metric.value == pytest.approx(means.get(metric.query_id, 1)), metric


def test_judged_only_leaves_nothing_unjudged_above():
    assert (asl.search_lengths(RUN, QRELS, judged_only=True)["unjudged_above"] == 0).all()


def test_query_ids_stay_as_the_qrels_hold_them():
    run = pd.DataFrame({"qid": ["1"], "docno": ["a"], "score": [1.0]})
    qrels = pd.DataFrame({"qid": [1], "docno": ["a"], "label": [1.5]})
    frame = asl.search_lengths(run, qrels)
    assert frame.loc[0, "qid"] == 1 and frame.loc[0, "grade"] == 1.5


def test_files_are_read_as_evaluate_reads_them(tmp_path):
    run, qrels = write_run(RUN, tmp_path / "a.run"), write_qrels(QRELS, tmp_path / "qrels")
    expected = asl.search_lengths(RUN, QRELS, cutoff=10)
    for given in ((run, qrels), (str(run), str(qrels)), (RUN, qrels)):
        assert asl.search_lengths(*given, cutoff=10).equals(expected)
    assert asl.preferences(run, RUN, qrels).equals(asl.preferences(RUN, RUN, QRELS))
    matrix = asl.preference_matrix({"a": run, "b": RUN}, str(qrels))
    assert matrix.wins.equals(asl.preference_matrix({"a": RUN, "b": RUN}, QRELS).wins)


pytest.importorskip("pyndeval", reason="needs pyterrier-asl[test]")

MEASURES = (
    "alpha_nDCG@5 alpha_DCG@5 ERR_IA@5 nERR_IA@5 NRBP nNRBP AP_IA P_IA@5 StRecall@5 "
    "alpha_nDCG(alpha=0.2)@10"
).split()
OTHERS = ["AP", "nDCG@5", "ASL@9"]


def judged(seed=1, queries=12):
    """Documents with two subtopics or one, grades 0 and 1, in no order."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"q{q}", f"d{d}", int(rng.random() < 0.5), str(subtopic))
        for q in range(queries)
        for d in range(6)
        for subtopic in rng.choice(4, 1 + d % 2, replace=False)
    ]
    frame = pd.DataFrame(rows, columns=["qid", "docno", "label", "iteration"])
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


def run_of(seed, queries=12):
    rng = np.random.default_rng(seed)
    rows = [
        (f"q{q}", f"d{d}", float(score))
        for q in range(queries)
        for score, d in enumerate(rng.permutation(9)[: 5 + q % 3])
    ]
    return pd.DataFrame(rows, columns=["qid", "docno", "score"])


RUNS = {name: run_of(seed) for seed, name in enumerate(["b", "a"], 5)}
NAMES = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}


def expected(qrels):
    """The values of ir_measures, and those by the highest grade of each document."""
    highest = qrels.groupby(["qid", "docno"], as_index=False)["label"].max()
    return {
        (name, m.query_id, str(m.measure)): m.value
        for name, run in RUNS.items()
        for measure in MEASURES + OTHERS
        for m in ir_measures.iter_calc(
            [ir_measures.parse_measure(measure)],  # of several with subtopics some are 0
            (qrels if measure in MEASURES else highest).rename(columns=NAMES),
            run.rename(columns=NAMES),
        )
    }


def values_of(frame):
    return {(n, q, m): v for n, q, m, v in frame.itertuples(index=False)}


@pytest.mark.filterwarnings("ignore:the qrels give .* different grades")
def test_values_are_those_of_ir_measures(tmp_path):
    qrels = judged()
    values = expected(qrels)
    wanted = pytest.approx(values, abs=1e-12)
    lines = qrels[["qid", "iteration", "docno", "label"]].to_csv(sep=" ", header=False, index=False)
    (tmp_path / "qrels").write_text(lines)
    rows = [ir_measures.Qrel(*row) for row in qrels.itertuples(index=False)]
    numbered = qrels.assign(iteration=qrels["iteration"].astype(int)).rename(columns=NAMES)
    read = asl.read_qrels(tmp_path / "qrels")
    pd.testing.assert_frame_equal(read, qrels, check_dtype=False)
    assert values_of(asl.evaluate(RUNS, qrels, MEASURES + OTHERS, long=True)) == wanted
    some = {"ERR_IA@5", "alpha_nDCG@5", "AP"}
    few = {key: value for key, value in values.items() if key[2] in some}
    for source in (numbered, rows, tmp_path / "qrels", read, asl.Qrels(qrels)):
        found = asl.evaluate(RUNS, source, [*some], long=True)
        assert values_of(found) == pytest.approx(few, abs=1e-12)
    topics = pd.DataFrame({"qid": sorted(qrels["qid"].unique())[:5], "query": "x"})
    table = asl.Experiment(RUNS, topics, qrels, MEASURES + OTHERS, perquery=True)
    kept = {key: value for key, value in values.items() if key[1] in set(topics["qid"])}
    assert values_of(table) == pytest.approx(kept, abs=1e-12)
    compared = asl.compare(RUNS, tmp_path / "qrels", "alpha_nDCG@5").by_query
    alone = [values["b", qid, "alpha_nDCG@5"] for qid in compared["qid"]]  # of the baseline
    assert compared["a"].tolist() == pytest.approx(alone)
    board = asl.ranks(RUNS, qrels, "alpha_nDCG@5").table.set_index("name")["mean"]
    means = asl.evaluate(RUNS, qrels, "alpha_nDCG@5").groupby("name")["alpha_nDCG@5"].mean()
    assert board.to_dict() == pytest.approx(means.to_dict())
    report = asl.judges(qrels, {"other": judged(2)}, RUNS, "alpha_nDCG@5", draws=20)
    assert "alpha_nDCG@5" in set(report.agreement["measure"])


def test_labels_beside_subtopics_count_for_measures_without_subtopics():
    qrels, asked = judged(), ["ERR_IA@5", "AP"]
    labels = pd.DataFrame({"qid": "q0", "docno": ["d6", "d7", "d8"], "label": 1})
    highest = qrels.groupby(["qid", "docno"], as_index=False)["label"].max()
    sources = qrels, asl.Qrels(qrels, labels=labels), pd.concat([highest, labels])
    before, after = (values_of(asl.evaluate(RUNS, of, asked, long=True)) for of in sources[:2])
    ap = values_of(asl.evaluate(RUNS, sources[2], "AP", long=True))
    assert after == before | ap and ap.items() - before.items()


def test_different_grades_are_noted_and_are_no_contradiction():
    rows = [("q", "d", 1, "1"), ("q", "d", 0, "2"), ("q", "e", 1, "1"), ("q", "e", 1, "2")]
    qrels = pd.DataFrame(rows, columns=["qid", "docno", "label", "iteration"])
    runs = {"x": {"q": {"d": 2, "e": 1}}, "y": {"q": {"z": 2, "e": 1}}}
    note = "give 1 document different grades for subtopics of one query .e.g. 'd'.: .* the highest"
    with pytest.warns(UserWarning, match=note):
        assert asl.evaluate(runs, qrels, "P@1")["P@1"].tolist() == [1, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asl.evaluate(runs, qrels.iloc[2:], "P@1")
        asl.compare(runs, qrels.iloc[2:], "P@1", conditions="P@1 worse")
    twice = pd.concat([qrels, qrels.head(1).assign(label=0)])
    with pytest.warns(UserWarning, match="give 1 document different grades"):
        found = asl.evaluate(runs, twice, "P@1")
    assert found["P@1"].tolist() == [1, 0]
    same = qrels.assign(iteration="0")
    with pytest.warns(UserWarning, match="judge 1 document twice, differently: the last label"):
        assert asl.evaluate(runs, same, "P@1")["P@1"].tolist() == [0, 0]
