"""The model of which unjudged documents are relevant, on data made by such a model."""

from __future__ import annotations

import numpy as np
import pytest

from pyterrier_asl import holes
from pyterrier_asl.unjudged.likely import Model, calibration


def made(seed, queries=20, depth=30, hide=0.3):
    """Runs whose relevant documents stand at the top, and judgements of a part of them."""
    rng = np.random.default_rng(seed)
    runs = {name: {} for name in "abcdef"}
    qrels, truth = {}, {}
    for q in range(queries):
        relevant = rng.random(100) < 0.3
        for strength, name in zip((2.0, 1.0, 1.5, 1.5, 0.5, 1.0), runs):
            scores = rng.normal(size=100) + strength * relevant
            top = np.argsort(-scores)[:depth]
            runs[name][str(q)] = {f"d{d}": float(scores[d]) for d in top}
        grades = {f"d{d}": int(relevant[d]) for d in range(100)}
        qrels[str(q)] = {doc: grades[doc] for doc in grades if rng.random() > hide}
        truth[str(q)] = grades
    return runs, qrels, truth


def test_the_model_finds_what_is_relevant():
    runs, qrels, truth = made(0)
    others = {name: run for name, run in runs.items() if name not in "ab"}
    found = holes(runs["a"], runs["b"], qrels, "P@10", runs=others)
    model = Model.fitted(found.runs, found.labelled)
    unjudged = found.labelled.unjudged
    codes = np.flatnonzero(unjudged.best <= 10)
    labels = [
        truth[str(found.runs.qids[query])][docno]
        for query, docno in zip(unjudged.queries[codes], unjudged.docnos(codes))
    ]
    expected = model.sample(codes, 400, np.random.default_rng(0)).mean(axis=0)
    assert np.corrcoef(expected, labels)[0, 1] > 0.2
    assert abs(expected.mean() - np.mean(labels)) < 0.1


@pytest.mark.parametrize("few", [9, 10])
def test_groups_with_ten_documents_of_their_own_are_tested(few):
    """Those of a are documents that b and c do not have; b and c have the same."""
    a = {"q": {f"d{rank}": -rank for rank in range(30)}}
    b = {"q": {f"d{rank}": -rank for rank in range(few, 30)}}
    qrels = {"q": {f"d{rank}": rank % 2 for rank in range(30)}}
    found = holes(a, b, qrels, "P@30", runs={"c": b})
    assert Model.fitted(found.runs, found.labelled).shift_groups == (few >= 10)


def test_the_better_run_is_likely():
    runs, qrels, truth = made(1)
    others = {name: run for name, run in runs.items() if name not in "ab"}
    likely = holes(runs["a"], runs["b"], qrels, "ASL@20", runs=others).likely(samples=200)
    assert likely.probability > 0.9  # less ASL is better
    full = holes(runs["a"], runs["b"], truth, "ASL@20").difference.difference
    assert full < 0 and likely.low < likely.high < 0
    other = holes(runs["b"], runs["a"], qrels, "ASL@20", runs=others).likely(samples=200)
    assert other.probability < 0.1


@pytest.mark.slow
def test_the_same_seed_gives_the_same():
    runs, qrels, _ = made(2, queries=5)
    found = holes(runs["a"], runs["b"], qrels, "AP@10")
    assert found.likely(samples=50).low == found.likely(samples=50).low


def test_without_judgements_there_is_no_model():
    run = {"q": {"x": 2, "a": 1}}
    found = holes(run, run, {"q": {"a": 1}}, "P@1")
    with pytest.raises(ValueError, match="no document of the compared runs is judged"):
        found.likely()


def test_calibration_in_bins():
    predicted = np.array([0.1, 0.1, 0.9, 0.9])
    table = calibration([(predicted, predicted > 0.5)], bins=2)
    assert table["predicted"].tolist() == pytest.approx([0.1, 0.9])
    assert table["relevant"].tolist() == [0.0, 1.0]
