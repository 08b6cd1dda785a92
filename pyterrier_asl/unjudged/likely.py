"""Probability that a run is better, by a model of the relevance of unjudged documents.

The bounds show possible results. Their probability needs a model and is only as good as the model:
a logistic regression on the judged documents of the same runs, with one shift of the logit for each
run, because the relevance of the unjudged documents of one run is correlated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from ..evaluation.evaluation import Evaluation
from ..evaluation.labellings import Labelled
from ..io.names import check_names
from ..judging.judged_run import JudgedRun
from ..measures.directions import higher_is_better
from ..scoring.arrays import Bools, Floats, Ints
from ..statistics.inputs import check_draws
from ..statistics.rounding import signs
from .pairs import sample_values

FEATURES = ("log best rank", "groups", "query's share", "finders' log-odds")

#: The least number of unique judged documents from which the shift of a group is estimated.
_MIN_UNIQUE = 10

#: The variance of the prior of a shift.
_PRIOR_VARIANCE = 9.0

#: The least number of groups from which the shift of the others is estimated.
_MIN_GROUPS = 3

#: Mean and standard deviation of the shift where fewer groups have unique judged documents: 95 % of
#: odds ratios are between 1/7 and 7.
_UNKNOWN_SHIFT = (0.0, 1.0)


@dataclass(frozen=True)
class Likely:
    """The probability that A is better, under the model.

    Attributes:
        probability: the share of sampled labellings in which A is better; ties count half.
        low: the 2.5th percentile of the mean difference A - B.
        high: the 97.5th.
        draws: the number of sampled labellings.
        expected: the mean number of relevant documents among the unjudged documents.
        coefficients: the model, by feature; the intercept is first.
        shift: mean and standard deviation of the shift of a run's logit.
        shift_groups: the number of groups from which it was estimated; 0: it is assumed.
        calibration: of documents that only one group retrieved, predicted without this group:
            ``bin``, ``documents``, ``predicted``, ``relevant`` (shares).
    """

    probability: float
    low: float
    high: float
    draws: int
    expected: float
    coefficients: dict[str, float]
    shift: tuple[float, float]
    shift_groups: int
    calibration: pd.DataFrame

    def sentence(self, a: str) -> str:
        """The probability and the model in words; ``a`` is the name of A."""
        mean, spread = self.shift
        basis = f"from {self.shift_groups} runs" if self.shift_groups else "assumed"
        return (
            f"P({a} is better) = {self.probability:.3f}, 95 % of A - B from {self.low:+.4f} to "
            f"{self.high:+.4f}, by a logistic regression on the judged documents of these runs and "
            f"a shift for each run of {mean:+.2f} +- {spread:.2f} ({basis}); {self.draws} draws"
        )


@dataclass(frozen=True)
class _Documents:
    """Retrieved documents: their queries, best ranks, and which groups retrieve them."""

    queries: Ints
    best: Ints
    finders: Bools  # (documents, groups)

    def where(self, keep: Bools) -> _Documents:
        return _Documents(self.queries[keep], self.best[keep], self.finders[keep])


def how_likely(
    runs: Evaluation,
    labelled: Labelled,
    *,
    groups: Mapping[str, str] | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> Likely:
    """Estimates how likely A is better, by a model of the compared runs' judged documents.

    Args:
        runs: A, B, and the other runs; more runs make a better model.
        labelled: the same runs in a measure.
        groups: run -> group; errors in one group are correlated. A run without a group is a group.
        draws: the number of labellings to draw.
        seed: seed of the draws.

    Raises:
        ValueError: where no document of the compared runs is judged, or for a number of draws
            that is not a whole number from 1 on.

    >>> from .pairs import labelled_runs
    >>> a, b = {"q": {"d": 3, "n": 2, "x": 1}}, {"q": {"y": 3, "d": 2, "n": 1}}
    >>> runs = Evaluation.of({"A": a, "B": b}, {"q": {"d": 1, "n": 0}})
    >>> 0.5 < how_likely(runs, labelled_runs(runs, "RR")).probability < 1
    True
    """
    check_draws(draws, seed)
    model = Model.fit(runs, labelled, groups)
    codes = labelled.documents
    rng = np.random.default_rng(seed)
    labels = model.sample(codes, draws, rng)
    a, b = (sample_values(labelled, labelled.side(run), codes, labels) for run in (0, 1))
    difference = (a - b).mean(axis=1)
    better = -difference if higher_is_better(labelled.measure) is False else difference
    low, high = np.quantile(difference, [0.025, 0.975])
    return Likely(
        float((1 + signs(better)).mean() / 2),
        float(low),
        float(high),
        draws,
        float(labels.sum(axis=1).mean()),
        dict(zip(("intercept", *FEATURES), model.coefficients.tolist())),
        model.shift,
        model.shift_groups,
        model.calibration,
    )


@dataclass(frozen=True)
class Model:
    """A model of the relevance of unjudged documents.

    Attributes:
        coefficients: the weights of the intercept and of :data:`FEATURES`.
        shift: mean and standard deviation of the shift of a group without unique judged documents.
        shift_groups: the number of groups from which it was estimated; 0: it is assumed.
        calibration: predicted and observed shares.
        shifts: mean and standard deviation for each group, from its unique judged documents, if
            any.
        logits: the logit of each unjudged document, before the shift.
        finders: the groups that retrieve each document, shape (documents, groups).
    """

    coefficients: Floats
    shift: tuple[float, float]
    shift_groups: int
    calibration: pd.DataFrame
    shifts: Floats
    logits: Floats
    finders: Bools

    @classmethod
    def fit(
        cls, runs: Evaluation, labelled: Labelled, groups: Mapping[str, str] | None = None
    ) -> Model:
        """Fits the model to the judged documents of the compared runs."""
        check_names("groups", groups or {}, runs.names, "runs")
        names = [(groups or {}).get(name, name) for name in runs.names]
        numbers = np.unique(names, return_inverse=True)[1].astype(np.int64)
        judged, relevant = _judged_documents(labelled, numbers)
        if not len(relevant):
            raise ValueError("no document of the compared runs is judged: there is no model")
        predictor = _Predictor.of(judged, relevant, len(runs.qids))
        is_unique = judged.finders & (judged.finders.sum(axis=1) == 1)[:, None]
        own = {
            group: unique
            for group, unique in enumerate(is_unique.T)
            if unique.sum() >= _MIN_UNIQUE and not unique.all()
        }
        tests = []
        for unique in own.values():  # by a model without these documents
            others = _Predictor.of(judged.where(~unique), relevant[~unique], len(runs.qids))
            tests.append((others.logits(judged.where(unique)), relevant[unique]))
        shift = _spread([_shift(logits, truth, _PRIOR_VARIANCE) for logits, truth in tests])
        shifts = np.tile(shift, (judged.finders.shape[1], 1))
        logits = predictor.logits(judged)
        for group, unique in own.items():
            mean, variance = _shift(logits[unique], relevant[unique], shift[1] ** 2)
            shifts[group] = mean, np.sqrt(variance)
        unjudged = _unjudged_documents(labelled, numbers)
        return cls(
            predictor.coefficients,
            shift,
            len(tests) if len(tests) >= _MIN_GROUPS else 0,
            calibration([(expit(logits), truth) for logits, truth in tests]),
            shifts,
            predictor.logits(unjudged),
            unjudged.finders,
        )

    def sample(self, codes: Ints, draws: int, rng: np.random.Generator) -> Bools:
        """Labellings of documents, shape (draws, documents)."""
        finders = self.finders[codes].astype(np.float64)
        share = finders / np.maximum(finders.sum(axis=1, keepdims=True), 1)
        mean, spread = self.shifts.T
        shifts = rng.normal(mean, spread, size=(draws, len(mean))) @ share.T
        drawn: Bools = rng.random(shifts.shape) < expit(self.logits[codes] + shifts)
        return drawn


@dataclass(frozen=True)
class _Predictor:
    """Shares of relevant documents per query and group, and the weights of features."""

    queries: Floats
    groups: Floats
    coefficients: Floats

    @classmethod
    def of(cls, documents: _Documents, relevant: Bools, queries: int) -> _Predictor:
        """Fits a logistic regression, whose penalty matters where the data are separable."""
        number = np.bincount(documents.queries, minlength=queries)
        some = np.bincount(documents.queries, weights=relevant, minlength=queries)
        good = (documents.finders & relevant[:, None]).sum(axis=0)
        bad = (documents.finders & ~relevant[:, None]).sum(axis=0)
        share = (some + relevant.mean()) / (number + 1)
        query_logs, group_odds = np.log(share + 1e-3), np.log((good + 0.5) / (bad + 0.5))
        x = _features(documents, query_logs, group_odds)
        penalty = np.maximum(x.std(axis=0), 0.1) ** 2  # a feature may be the same for all
        penalty[0] = 1e-3
        return cls(query_logs, group_odds, _regression(x, relevant, penalty)[0])

    def logits(self, documents: _Documents) -> Floats:
        return _features(documents, self.queries, self.groups) @ self.coefficients


def _features(documents: _Documents, queries: Floats, groups: Floats) -> Floats:
    """Features of documents: 1 for the intercept, then :data:`FEATURES`."""
    count = documents.finders.sum(axis=1)
    odds = documents.finders @ groups / np.maximum(count, 1)
    query_log = queries[documents.queries]
    return np.column_stack((np.ones(len(odds)), np.log(documents.best), count, query_log, odds))


def _judged_documents(labelled: Labelled, groups: Ints) -> tuple[_Documents, Bools]:
    """The judged documents of the compared runs, and which are relevant."""
    judgements = labelled.judgements
    size = len(judgements.docnos)
    best = np.full(size, np.iinfo(np.int64).max)
    finders = np.zeros((size, groups.max() + 1), dtype=bool)
    for run, group in zip(labelled.unjudged.runs, groups):
        view: JudgedRun = run.view(labelled.seen)
        np.minimum.at(best, view.pairs, view.ranks)
        finders[view.pairs, group] = True
    kept = finders.any(axis=1) & (judgements.grades >= 0)
    documents = _Documents(judgements.queries[kept], best[kept], finders[kept])
    return documents, judgements.grades[kept] >= labelled.rel


def _unjudged_documents(labelled: Labelled, groups: Ints) -> _Documents:
    """All unjudged documents, by their numbers."""
    unjudged = labelled.unjudged
    finders = np.zeros((len(unjudged), groups.max() + 1), dtype=bool)
    for documents, group in zip(unjudged.retrieved, groups):
        finders[documents.cut(labelled.seen).codes, group] = True
    return _Documents(unjudged.queries, unjudged.best, finders)


def _shift(logits: Floats, relevant: Bools, variance: float) -> tuple[float, float]:
    """The shift of logits that fits best, and its variance, by a prior with this variance."""
    intercept = np.ones((len(logits), 1))
    shift, information = _regression(intercept, relevant, np.array([1 / variance]), logits)
    return float(shift[0]), float(1 / information[0, 0])


def _regression(
    x: Floats, relevant: Bools, penalty: Floats, logits: Floats | float = 0.0
) -> tuple[Floats, Floats]:
    """Penalised logistic regression by Newton's method with bounded steps.

    Statsmodels' GLM takes 13 to 28 times as long for a few features and thousands of documents.

    Args:
        x: features, shape (n, m).
        relevant: the labels to predict, shape (n,).
        penalty: the penalty of each weight, shape (m,).
        logits: added to the weighted sum of features.

    Returns:
        The weights, shape (m,), and the information matrix, shape (m, m).
    """
    weights, scale = np.zeros(x.shape[1]), np.maximum(x.std(axis=0), 1)
    for _ in range(50):
        p = expit(logits + x @ weights)
        gradient = x.T @ (relevant - p) - penalty * weights
        information = (x * (p * (1 - p))[:, None]).T @ x + np.diag(penalty)
        step = np.linalg.solve(information, gradient)
        weights += step / max(1.0, float(np.abs(step * scale).max() / 2))
        if np.abs(step).max() < 1e-9:
            break
    return weights, information


def _spread(shifts: list[tuple[float, float]]) -> tuple[float, float]:
    """Mean and standard deviation of the groups' true shifts."""
    if len(shifts) < _MIN_GROUPS:
        return _UNKNOWN_SHIFT
    means, error = np.array(shifts).T
    variance = max(float(means.var(ddof=1) - error.mean()), 0.01)
    weights = 1 / (error + variance)
    return float((weights * means).sum() / weights.sum()), float(np.sqrt(variance))


def calibration(tests: list[tuple[Floats, Bools]], bins: int = 10) -> pd.DataFrame:
    """Predicted against observed shares of relevant documents, in bins of equal size.

    Args:
        tests: predicted probabilities and relevance of documents, for each group.
        bins: the number of bins.
    """
    if not tests:
        return pd.DataFrame(columns=["bin", "documents", "predicted", "relevant"])
    predicted, relevant = map(np.concatenate, zip(*tests))
    frame = pd.DataFrame({"predicted": predicted, "relevant": relevant})
    position = frame["predicted"].rank(method="first").astype(np.int64) - 1
    table = frame.groupby((position * bins // len(frame)).rename("bin")).agg(
        documents=("predicted", "size"),
        predicted=("predicted", "mean"),
        relevant=("relevant", "mean"),
    )
    return table.reset_index()
