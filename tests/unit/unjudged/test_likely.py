"""The model of the relevance of unjudged documents, on data drawn from such a model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from scipy.special import expit
from statsmodels.tools.numdiff import approx_hess

from pyterrier_asl import holes
from pyterrier_asl.unjudged import likely as module
from pyterrier_asl.unjudged.likely import Likely, Model, calibration


def made(seed, queries=20, depth=30, hide=0.3):
    """Runs with relevant documents at the top, and judgements of a part of the documents."""
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
    model = Model.fit(found.runs, found.labelled)
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
    """a has documents that b and c do not have; b and c have the same documents."""
    a = {"q": {f"d{rank}": -rank for rank in range(30)}}
    b = {"q": {f"d{rank}": -rank for rank in range(few, 30)}}
    qrels = {"q": {f"d{rank}": rank % 2 for rank in range(30)}}
    found = holes(a, b, qrels, "P@30", runs={"c": b})
    model = Model.fit(found.runs, found.labelled)
    assert (len(model.calibration) > 0) == (few >= 10)
    # One group is too few to estimate the shift of others.
    assert (model.shift, model.shift_groups) == ((0.0, 1.0), 0)


def test_the_better_run_is_likely():
    runs, qrels, truth = made(1)
    others = {name: run for name, run in runs.items() if name not in "ab"}
    likely = holes(runs["a"], runs["b"], qrels, "ASL@20", runs=others).likely(draws=200)
    assert likely.probability > 0.9  # lower ASL is better
    full = holes(runs["a"], runs["b"], truth, "ASL@20").difference.difference
    assert full < 0 and likely.low < likely.high < 0
    other = holes(runs["b"], runs["a"], qrels, "ASL@20", runs=others).likely(draws=200)
    assert other.probability < 0.1


def test_the_same_seed_gives_the_same():
    runs, qrels, _ = made(2, queries=5)
    found = holes(runs["a"], runs["b"], qrels, "AP@10")
    assert found.likely(draws=50).low == found.likely(draws=50).low


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


@pytest.mark.parametrize("some", [0.0, 1.0], ids=["alone", "added to other logits"])
def test_weights_have_the_greatest_penalised_likelihood(some):
    """Against a general minimiser and second derivatives by differences."""
    rng = np.random.default_rng(4)
    x = np.column_stack((np.ones(40), rng.normal(size=(40, 2)) * [1, 8]))
    relevant, penalty = rng.random(40) < 0.3, np.array([1e-3, 0.5, 2.0])
    logits = some * rng.normal(size=40)

    def loss(weights):
        log_odds = logits + x @ weights
        return np.sum(np.logaddexp(0, log_odds) - relevant * log_odds) + penalty @ weights**2 / 2

    weights, information = module._regression(x, relevant, penalty, logits)
    assert weights == pytest.approx(optimize.minimize(loss, np.zeros(3)).x, abs=1e-4)
    assert information == pytest.approx(approx_hess(weights, loss), rel=1e-3, abs=1e-3)


def test_data_that_separate_have_a_fit():
    x = np.column_stack((np.ones(6), np.arange(6)))
    weights, _ = module._regression(x, np.arange(6) > 2, np.array([1e-3, 1e-3]))
    assert np.array_equal(x @ weights > 0, np.arange(6) > 2) and np.abs(weights).max() < 100


def test_the_features_of_a_document():
    """The features of three documents, with two queries and two groups."""
    finders = np.array([[True, False], [True, True], [False, True]])
    documents = module._Documents(np.array([0, 0, 1]), np.array([1, 4, 9]), finders)
    model = module._Predictor.of(documents, np.array([True, False, True]), 2)
    # The share of relevant documents, smoothed by one document with the mean relevance.
    shares = np.array([(1 + 2 / 3) / 3, (1 + 2 / 3) / 2])
    assert np.exp(model.queries) == pytest.approx(shares, abs=1e-2)
    # Each group retrieved one relevant and one irrelevant document.
    assert model.groups == pytest.approx([0, 0])
    x = module._features(documents, np.array([-1.0, -2.0]), np.array([0.5, 3.0]))
    assert x == pytest.approx(
        np.array(
            [
                [1, 0, 1, -1, 0.5],
                [1, np.log(4), 2, -1, (0.5 + 3) / 2],
                [1, np.log(9), 1, -2, 3],
            ]
        )
    )


@pytest.mark.parametrize(
    ("shifts", "mean", "variance"),
    [
        # The variance of true shifts is the variance of the estimates minus their mean error,
        # 3 - 1. The weight of an estimate is 1 / (its error + this variance): 1/4, 1/2.5, 1/2.5.
        ([(0, 2), (3, 0.5), (3, 0.5)], 2.4 / 1.05, 2.0),
        ([(1, 0.5), (2, 0.5), (6, 0.5)], 3.0, 6.5),
        ([(1, 9), (1, 9), (1, 9)], 1.0, 0.01),  # errors alone explain a larger variance
        ([(0, 0.1), (1, 0.1), (2, 0.1), (3, 0.1)], 1.5, 5 / 3 - 0.1),
        ([(1, 0.5), (6, 0.5)], 0.0, 1.0),  # too few groups
    ],
)
def test_the_spread_of_shifts_over_groups(shifts, mean, variance):
    assert module._spread(shifts) == pytest.approx((mean, np.sqrt(variance)))


def test_the_shift_of_a_group_is_estimated_from_its_unique_documents():
    """Against a general minimiser, with the shifts of all groups as the prior."""
    runs, qrels, _ = made(3)
    others = {name: run for name, run in runs.items() if name not in "ab"}
    # c and its copy retrieve the same documents, so neither has unique documents.
    found = holes(runs["a"], runs["b"], qrels, "P@30", runs=others | {"copy": runs["c"]})
    names = list(found.runs.names)
    model = Model.fit(found.runs, found.labelled)
    assert model.shift_groups == 5
    judged, relevant = module._judged_documents(found.labelled, np.arange(len(names)))
    logits = module._Predictor.of(judged, relevant, len(qrels)).logits(judged)
    for column, name in enumerate(names):
        own = judged.finders[:, column] & (judged.finders.sum(axis=1) == 1)
        mean, spread = model.shifts[sorted(names).index(name)]
        if not own.any():
            assert name in ("c", "copy") and (mean, spread) == model.shift
            continue

        def loss(shift, log_odds=logits[own], truth=relevant[own]):
            moved = log_odds + shift
            likelihood = np.sum(truth * moved - np.logaddexp(0, moved))
            return shift**2 / (2 * model.shift[1] ** 2) - likelihood

        assert mean == pytest.approx(optimize.minimize_scalar(loss).x, abs=1e-5)
        p = expit(logits[own] + mean)
        assert spread == pytest.approx((np.sum(p * (1 - p)) + 1 / model.shift[1] ** 2) ** -0.5)


def test_documents_of_one_run_are_relevant_together():
    """Documents of A, A, B and both; the shift of both is the mean of the shifts of A and B."""
    finders = np.array([[True, False], [True, False], [False, True], [True, True]])
    logits, shifts = np.array([0.0, 0.5, -1.0, 0.0]), np.array([[1.0, 3.0], [-2.0, 0.5]])
    model = Model(np.zeros(5), (0.0, 1.0), 0, calibration([]), shifts, logits, finders)
    labels = model.sample(np.arange(4), 40_000, np.random.default_rng(0))

    def expected(value, mean, spread):
        normal = stats.norm(mean, spread)
        return integrate.quad(lambda s: value(s) * normal.pdf(s), mean - 30, mean + 30)[0]

    of_both = np.mean(shifts[:, 0]), np.hypot(*shifts[:, 1]) / 2
    for document, shift in enumerate([shifts[0], shifts[0], shifts[1], of_both]):
        share = expected(lambda s, logit=logits[document]: expit(logit + s), *shift)
        assert labels[:, document].mean() == pytest.approx(share, abs=0.01)
    together = expected(lambda s: expit(s) * expit(0.5 + s), *shifts[0])
    assert (labels[:, 0] & labels[:, 1]).mean() == pytest.approx(together, abs=0.01)
    assert model.sample(np.array([2]), 9, np.random.default_rng(0)).shape == (9, 1)


def test_what_is_likely_is_what_labellings_of_the_model_give():
    """P@10 counted by hand under other labellings drawn from the model."""
    runs, qrels, _ = made(5, queries=6)
    found = holes(runs["a"], runs["b"], qrels, "P@10", runs={"c": runs["c"], "d": runs["d"]})
    model, unjudged = Model.fit(found.runs, found.labelled), found.labelled.unjudged
    codes = np.flatnonzero(unjudged.best <= 10)
    labels = model.sample(codes, 2000, np.random.default_rng(9))
    weights = np.zeros(len(codes))  # the effect of a relevant document on P@10 of A minus P@10 of B
    now = 0.0
    for sign, run in ((1, runs["a"]), (-1, runs["b"])):
        top = {
            (qid, docno)
            for qid, scores in run.items()
            for docno in sorted(scores, key=scores.get, reverse=True)[:10]
        }
        now += sign * sum(qrels[qid].get(docno, 0) for qid, docno in top) / 60
        for place, (query, docno) in enumerate(
            zip(unjudged.queries[codes], unjudged.docnos(codes))
        ):
            weights[place] += sign * ((found.runs.qids[query], docno) in top) / 60
    differences = now + labels @ weights
    likely = found.likely(draws=2000)
    low, high = np.quantile(differences, [0.025, 0.975])
    assert (likely.low, likely.high) == pytest.approx((low, high), abs=0.01)
    better = (differences > 1e-9).mean() + (np.abs(differences) <= 1e-9).mean() / 2
    assert likely.probability == pytest.approx(better, abs=0.04)
    of_ab = codes[np.isin(codes, found.labelled.documents)]
    assert likely.expected == pytest.approx(
        labels[:, np.isin(codes, of_ab)].sum(axis=1).mean(), 0.1
    )


def test_equal_runs_are_as_likely():
    runs, qrels, _ = made(6, queries=3)
    likely = holes(runs["a"], runs["a"], qrels, "AP@10").likely(draws=20)
    assert (likely.probability, likely.low, likely.high) == (0.5, 0.0, 0.0)


@pytest.mark.parametrize(("groups", "basis"), [(0, "(assumed)"), (4, "(from 4 runs)")])
def test_the_model_is_said_with_the_probability(groups, basis):
    likely = Likely(0.9, -0.01, 0.2, 50, 3.0, {}, (0.25, 1.5), groups, calibration([]))
    said = likely.sentence("mine")
    assert said.startswith("P(mine is better) = 0.900, 95 % of A - B from -0.0100 to +0.2000")
    assert f"a shift for each run of +0.25 +- 1.50 {basis}; 50 draws" in said
