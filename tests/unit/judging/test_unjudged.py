"""The unjudged documents of several runs: common numbers, and the best rank of each."""

from __future__ import annotations

import numpy as np
import pytest

from pyterrier_asl.judging.judged_run import judge
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.judging.unjudged import Unjudged

RUNS = [
    {"1": {"x": 9, "a": 8, "y": 7}, "2": {"z": 1}},
    {"1": {"y": 9, "x": 8, "b": 7}, "2": {"a": 2, "z": 1}},
    {"1": {"a": 3}},
]
#: No run answers the last two queries; these are more queries than runs.
JUDGED = {"1": {"a": 1, "b": -1}, "2": {"c": 0}, "3": {"c": 1}, "4": {"c": 1}}


def best_ranks(runs):
    """The best rank of each unjudged document, by query and id."""
    best: dict = {}
    for run in runs:
        for qid, scores in run.items():
            for rank, docno in enumerate(sorted(scores, key=scores.get, reverse=True), 1):
                if JUDGED[qid].get(docno, -1) < 0:
                    best[qid, docno] = min(rank, best.get((qid, docno), rank))
    return best


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)], ids=str)
def test_best_rank_of_each_document_over_all_runs(order):
    judgements = Judgements(JUDGED)
    shown = Unjudged([judge(judgements, RUNS[number]) for number in order])
    best = best_ranks(RUNS)
    found: dict = {}
    for number, documents in zip(order, shown.retrieved):
        rows = judge(judgements, RUNS[number]).table
        for row, code in zip(documents.rows, documents.codes):
            key = rows.qid[int(row)].as_py(), rows.docno[int(row)].as_py()
            found.setdefault(int(code), set()).add(key)
    assert len(shown) == len(best) == len(found)
    assert np.diff(shown.offsets).tolist() == [sum(q == qid for q, _ in best) for qid in JUDGED]
    for code, keys in found.items():
        (key,) = keys  # one number per document
        assert shown.best[code] == best[key]
    assert np.all(np.diff(shown.queries) >= 0)


def test_documents_are_numbered_alike_where_runs_come_one_by_one():
    judgements = Judgements(JUDGED)
    whole = Unjudged([judge(judgements, run) for run in RUNS])
    passing = Unjudged((judge(judgements, run) for run in RUNS), keep_rows=False)
    assert [len(run.table) for run in passing.runs] == [1, 1, 1]
    assert passing.best.tolist() == whole.best.tolist()
    for documents, expected in zip(passing.retrieved, whole.retrieved):
        assert documents.codes.tolist() == expected.codes.tolist()
        assert documents.ranks.tolist() == expected.ranks.tolist()


def test_documents_shown_down_to_a_depth_include_those_at_it():
    documents = Unjudged([judge(Judgements(JUDGED), run) for run in RUNS])
    for depth in (1, 2, 3):
        assert (documents.best[documents.shown(depth)] <= depth).all()
        assert len(documents.shown(depth)) == sum(best <= depth for best in documents.best)
    assert len(documents.shown(None)) == len(documents)


@pytest.mark.parametrize("cutoff", [None, 0, 1, 2, 3, 4])
def test_a_cut_keeps_the_documents_down_to_it(cutoff):
    for documents in Unjudged([judge(Judgements(JUDGED), run) for run in RUNS]).retrieved:
        columns = (documents.queries, documents.ranks, documents.rows, documents.codes)
        rows = list(zip(*map(np.ndarray.tolist, columns)))
        kept = documents.cut(cutoff)
        columns = (kept.queries, kept.ranks, kept.rows, kept.codes)
        expected = [row for row in rows if cutoff is None or row[1] <= cutoff]
        assert list(zip(*map(np.ndarray.tolist, columns))) == expected
        assert len(kept.offsets) == len(JUDGED) + 1


def test_labelled_runs_match_qrels_with_the_labels():
    documents = Unjudged([judge(Judgements(JUDGED), run) for run in RUNS])
    numbers = {
        docno: code for code, docno in enumerate(documents.docnos(np.arange(len(documents))))
    }
    codes, grades = np.array([numbers["z"], numbers["x"]]), np.array([0.0, 2.0])
    qrels = {qid: dict(judged) for qid, judged in JUDGED.items()}
    for query, docno, grade in zip(documents.queries[codes], documents.docnos(codes), grades):
        qrels[list(qrels)[query]][docno] = grade
    labelled = documents.labelled(codes, grades)
    for run, judged, unjudged in zip(RUNS, labelled.runs, labelled.retrieved):
        expected = judge(Judgements(qrels), run)
        assert judged.queries.tolist() == expected.queries.tolist()
        assert judged.ranks.tolist() == expected.ranks.tolist()
        found = judged.judgements.grades[judged.pairs]
        assert found.tolist() == expected.judgements.grades[expected.pairs].tolist()
        assert not set(unjudged.codes) & set(codes.tolist())
