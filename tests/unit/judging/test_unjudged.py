"""The unjudged documents of several runs as judgements of grade -1."""

import pickle

import numpy as np
import pytest

from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.judging.matching import judge
from pyterrier_asl.judging.unjudged import Unjudged

RUNS = [
    {"1": {"x": 9, "a": 8, "y": 7}, "2": {"z": 1}},
    {"1": {"y": 9, "x": 8, "b": 7}, "2": {"a": 2, "z": 1}},
    {"1": {"a": 3}},
]
#: No run answers the last two queries; these are more queries than runs.
JUDGED = {"1": {"a": 1, "b": -1, "e": -1}, "2": {"c": 0}, "3": {"c": 1}, "4": {"c": 1}}


def ranked(scores, depth):
    return sorted(scores, key=scores.get, reverse=True)[:depth]


@pytest.mark.parametrize("depth", [None, 1, 2])
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)], ids=str)
def test_every_document_is_an_entry_and_has_its_best_rank(order, depth):
    judgements = Judgements(JUDGED)
    found = Unjudged([judge(judgements, RUNS[number]) for number in order], depth)
    qids, docnos = found.judgements.qids, found.judgements.docnos.to_pylist()
    keys = [(qids[query], docno) for query, docno in zip(found.judgements.queries, docnos)]
    best = dict.fromkeys([(qid, docno) for qid in JUDGED for docno in JUDGED[qid]], np.inf)
    for number, run in zip(order, found.runs):
        tops = {qid: ranked(RUNS[number].get(qid, {}), depth) for qid in JUDGED}
        entries = [(qid, rank, d) for qid, top in tops.items() for rank, d in enumerate(top, 1)]
        shown = zip(run.queries, run.ranks, run.pairs)
        assert [(qids[query], rank, keys[pair][1]) for query, rank, pair in shown] == entries
        assert run.retrieved.tolist() == [*map(len, tops.values())]
        for qid, rank, docno in entries:
            best[qid, docno] = min(rank, best.get((qid, docno), np.inf))
    assert len(set(keys)) == len(keys) and set(keys) == set(best)
    assert np.all(np.diff(found.judgements.queries) >= 0)
    for key, grade, rank in zip(keys, found.judgements.grades, found.best(range(len(order)))):
        assert grade == JUDGED[key[0]].get(key[1], -1)
        assert rank == best[key] or best[key] == np.inf
    for most in (1, 2, None):
        seen = {(qid, d) for (qid, d), rank in best.items() if rank <= (most or 99)}
        unjudged = {(qid, d) for qid, d in seen if JUDGED[qid].get(d, -1) < 0}
        assert {keys[place] for place in found.shown(most)} == unjudged


def test_documents_are_numbered_alike_where_runs_come_one_by_one():
    judgements = Judgements(JUDGED)
    whole = Unjudged([judge(judgements, run) for run in RUNS])
    passing = Unjudged((judge(judgements, run) for run in RUNS), keep_rows=False)
    assert [len(run.table) for run in passing.runs] == [1, 1, 1]
    assert passing.best(range(3)).tolist() == whole.best(range(3)).tolist()
    for run, expected in zip(passing.runs, whole.runs):
        assert run.pairs.tolist() == expected.pairs.tolist()


def test_copies_of_the_judgements_hold_the_unjudged_documents():
    extended = Unjudged([judge(Judgements(JUDGED), run) for run in RUNS]).judgements
    for other in (pickle.loads(pickle.dumps(extended)), extended.regraded({1: 2})):
        assert other.docnos.to_pylist() == extended.docnos.to_pylist()
        assert other.offsets.tolist() == extended.offsets.tolist()
        assert (other.grades < 0).tolist() == (extended.grades < 0).tolist()
