"""search_lengths: the values behind ASL, one row per relevant document."""

import pandas as pd
import pytest
from _files import write_qrels, write_run

from pyterrier_asl import ASL, preference_matrix, preferences, search_lengths

RUN = {"q1": {"x": 6, "a": 5, "y": 4, "n": 3, "b": 2, "z": 1}, "q2": {"x": 1}}
QRELS = {"q1": {"a": 2, "b": 1, "c": 1, "n": 0, "m": -1}, "q2": {"a": 1}, "q3": {"a": 1}}


def rows(frame):
    return [tuple(None if v is pd.NA else v for v in row) for row in frame.itertuples(index=False)]


def test_by_hand():
    frame = search_lengths(RUN, QRELS, cutoff=10)
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
    assert search_lengths(run, QRELS)["unjudged_above"].tolist()[0] == 2


@pytest.mark.parametrize("missing", ["pad", "after", "eq3"])
@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("cutoff", [None, 3, 10])
@pytest.mark.parametrize("rel", [1, 2])
def test_the_mean_is_asl(missing, judged_only, cutoff, rel):
    options = dict(missing=missing, judged_only=judged_only, rel=rel)
    frame = search_lengths(RUN, QRELS, cutoff=cutoff, **options)
    means = frame.groupby("qid")["search_length"].mean().to_dict()
    for metric in ASL(cutoff=cutoff, **options).iter_calc(QRELS, RUN):
        assert metric.value == pytest.approx(means.get(metric.query_id, 1)), metric


def test_judged_only_leaves_nothing_unjudged_above():
    assert (search_lengths(RUN, QRELS, judged_only=True)["unjudged_above"] == 0).all()


def test_query_ids_stay_as_the_qrels_hold_them():
    run = pd.DataFrame({"qid": ["1"], "docno": ["a"], "score": [1.0]})
    qrels = pd.DataFrame({"qid": [1], "docno": ["a"], "label": [1.5]})
    frame = search_lengths(run, qrels)
    assert frame.loc[0, "qid"] == 1 and frame.loc[0, "grade"] == 1.5


def test_files_are_read_as_evaluate_reads_them(tmp_path):
    run, qrels = write_run(RUN, tmp_path / "a.run"), write_qrels(QRELS, tmp_path / "qrels")
    expected = search_lengths(RUN, QRELS, cutoff=10)
    for given in ((run, qrels), (str(run), str(qrels)), (RUN, qrels)):
        assert search_lengths(*given, cutoff=10).equals(expected)
    assert preferences(run, RUN, qrels).equals(preferences(RUN, RUN, QRELS))
    matrix = preference_matrix({"a": run, "b": RUN}, str(qrels))
    assert matrix.wins.equals(preference_matrix({"a": RUN, "b": RUN}, QRELS).wins)
