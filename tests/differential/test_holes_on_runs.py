"""Bounds on real runs contain the values with the hidden judgements of a group."""

from dataclasses import replace

import numpy as np
import pytest

from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.evaluation.labellings import labelled_measures
from pyterrier_asl.judging.remembered import copy_of
from pyterrier_asl.measures.parsing import named_measures
from pyterrier_asl.unjudged.holes import holes

DEPTH = 100
#: Published runs; the first two belong to one group.
RUNS = ["Mer8Adtd1", "Mer8Adtd2", "fub99a", "att99atc", "UB99T", "isa25", "GE8ATDN1", "1"]


@pytest.fixture(scope="module")
def judged(data):
    folder = data / "trec8-adhoc"
    files = {name: folder / "runs" / f"input.{name}.gz" for name in RUNS}
    files = {name: path for name, path in files.items() if path.exists()}
    assert len(files) >= 5
    return Evaluation.of(files, folder / "qrels.txt.gz")


@pytest.fixture(scope="module")
def hidden(judged):
    """The qrels without documents that only the first of these runs retrieved."""
    known = judged.judgements
    shown = np.zeros((len(judged), len(known.grades)), dtype=bool)
    for row, run in enumerate(judged.runs):
        shown[row, run.pairs[run.ranks <= DEPTH]] = True
    unique = shown[-1] & ~shown[:-1].any(axis=0)
    assert unique.sum() > 100
    fewer = copy_of(known)
    fewer.grades = np.where(unique, -1.0, known.grades)
    runs = [replace(run, judgements=fewer) for run in judged.runs]
    return Evaluation(judged.names, runs, fewer)


@pytest.mark.parametrize(
    "measure", ["ASL@100", "nDCG@10", "AP@100", "P@20", "LexiP@100", "R@100", "RR@100"]
)
def test_values_and_differences_by_full_judgements_are_within(judged, hidden, measure):
    [named] = named_measures(measure)
    [labelled] = labelled_measures(hidden, {measure: named.measure}, depth=DEPTH).values()
    low, high = np.array([side.bounds for side in labelled.sides]).swapaxes(0, 1)
    truth = judged.values(named.measure)
    assert (low - 1e-9 <= truth).all() and (truth <= high + 1e-9).all()
    assert (high - low).max() > 0
    found, full = (
        holes(runs, None, measure, depth=DEPTH).table.set_index(["a", "b"]).sort_index()
        for runs in (hidden, judged)
    )
    truth, low, high = full["difference"], found["low"], found["high"]
    assert (low - 1e-9 <= truth).all() and (truth <= high + 1e-9).all()
