"""Favours of a judge: the worked examples, and what has no test."""

import numpy as np
import pytest
import scipy

from pyterrier_asl.statistics.favour import favours


def test_worked_cases(favoured_theil_sen_vectors):
    for case in favoured_theil_sen_vectors["cases"]:
        slope, favour, p = favours(case["judge"], case["people"])
        assert slope == pytest.approx(case["slope"], abs=1e-12)
        assert favour == pytest.approx(case["favour"], abs=1e-12)
        assert p == pytest.approx(case["p"], abs=1e-12)


def test_random_signs_follow_the_seed():
    people = np.random.default_rng(0).random((6, 15))
    judge = people + np.random.default_rng(1).random((6, 15)) / 2
    judge[0] += 0.03
    drawn = {seed: favours(judge, people, draws=200, seed=seed)[2][0] for seed in (0, 1)}
    signs = 1 - 2 * np.random.default_rng(1).integers(0, 2, (200, 15))

    def favour_of(kept):
        m, p = judge[:, kept].mean(axis=1), people[:, kept].mean(axis=1)
        above = m - scipy.stats.theilslopes(m, p).slope * p
        return above - above.mean()

    favour = favour_of(np.arange(15))
    without = np.array([favour_of(np.delete(np.arange(15), q)) for q in range(15)]).T
    residuals = (favour[:, None] - without) * 14 / 15 * np.sqrt(15 / 14)
    residuals -= residuals.mean(axis=1, keepdims=True)
    own = (residuals**2).sum(axis=1)
    largest = []
    for s in signs:
        total = residuals @ s
        error = (own - total**2 / 15) / 4 + 0.75 * own.mean()
        largest.append((total / np.sqrt(error)).max())
    observed = (favour / np.sqrt(own / 4 + 0.75 * own.mean()))[0]
    assert favour.argmax() == 0
    assert drawn[1] == np.mean(np.array(largest) >= observed) != drawn[0]


def test_a_favour_without_variance_has_no_p():
    people = np.repeat([[0.25], [0.5], [0.75]], 10, axis=1)
    slope, favour, p = favours(people + [[0.0], [0.5], [0.0]], people)
    assert slope == 1
    assert favour == pytest.approx([-1 / 6, 1 / 3, -1 / 6])
    assert np.isnan(p).tolist() == [False, True, False]
    assert favours(people, people * 0 + 0.5)[0] == 0  # people see no difference
