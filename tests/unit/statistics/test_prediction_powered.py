"""Prediction-powered estimates, against the formulas by hand and against simulated populations."""

import numpy as np
import pytest
import scipy.stats

from pyterrier_asl.statistics.prediction_powered import TARGETS, interval_widths, prediction_powered


def needed_queries(people, machine, unaudited, width, **options):
    """The least number of queries whose upper limit is at most this width, from 3."""
    enough = np.flatnonzero(interval_widths(people, machine, unaudited, **options)[2] <= width)
    return int(enough[0]) + 3 if len(enough) else None


def test_many_at_once_are_what_each_is_alone():
    draw = np.random.default_rng(5)
    h, f, rest = draw.random((4, 3, 8)), draw.random((4, 3, 8)), draw.random((4, 3, 5))
    for target in TARGETS:
        many = prediction_powered(h, f, rest, target=target)
        one = prediction_powered(h[2, 1], f[2, 1], rest[2, 1], target=target)
        assert many.both.mean.shape == (4, 3)
        assert many.both.low[2, 1] == pytest.approx(float(one.both.low))
        assert many.machine.mean[2, 1] == pytest.approx(float(one.machine.mean))
        assert np.isnan(many.machine.low).all() == (target == "these-queries")


def test_with_every_query_judged_by_people_the_machine_adds_nothing():
    """One query left to the machine has an interval."""
    h, f = [0.1, 0.6, 0.3, 0.5], [0.2, 0.5, 0.3, 0.6]
    one = prediction_powered(h, f, [0.4])
    assert np.isfinite([one.both.low, one.both.high]).all()
    like = prediction_powered(h, f, [])
    assert like.lambda_ == 0 and like.both.low == like.people.low
    these = prediction_powered(h, f, [], target="these-queries")
    assert these.both.mean == pytest.approx(0.375) and these.both.variance == 0


@pytest.mark.parametrize(("sign", "target"), [(1, TARGETS[0]), (1, TARGETS[1]), (-1, TARGETS[0])])
def test_widths_follow_from_the_line_through_the_pilot(sign, target):
    """SciPy's line; a machine that contradicts people has the slope 0. No width rises."""
    draw = np.random.default_rng(8)
    f, rest = draw.random(9), draw.random(14)
    h = sign * f + 0.3 * draw.normal(size=9)
    line, every = scipy.stats.linregress(f, h), np.append(f, rest)
    slope = max(line.slope, 0)
    assert (slope == 0) == (sign < 0)
    squares = np.sum((h - h.mean() - slope * (f - f.mean())) ** 2)
    widths = interval_widths(h, f, rest, target=target, alpha=0.1)
    assert widths.shape == (3, 21) and (np.diff(widths) <= 0).all()
    divisors = scipy.stats.chi2.ppf(0.8, 7), 7, scipy.stats.chi2.ppf(0.2, 7)
    for own, divisor in zip(widths, divisors):
        for n, width in zip(range(3, 24), own):
            of_mean = squares / divisor / n + slope**2 * np.var(every, ddof=1) / 23
            if target == "these-queries":
                of_mean = (1 - n / 23) * squares / divisor / (n - 2)
            assert width == pytest.approx(2 * scipy.stats.t.ppf(0.95, n - 2) * np.sqrt(of_mean))
    assert (widths[0, :-1] < widths[1, :-1]).all() and (widths[1, :-1] < widths[2, :-1]).all()


@pytest.mark.parametrize(("target", "share"), [(TARGETS[0], 5 / 13), (TARGETS[1], 1)])
def test_saved_queries_have_the_limits_of_the_correlation(target, share):
    draw = np.random.default_rng(6)
    f, rest = draw.random((2, 8)), draw.random((2, 5))
    h = f * [[1], [-1]] + 0.2 * draw.normal(size=(2, 8))
    limits = prediction_powered(h, f, rest, target=target, alpha=0.2).saved_limits
    for row, own in enumerate(limits.T):
        r = scipy.stats.pearsonr(h[row], f[row]).confidence_interval(0.8)
        saved = [8 / (1 - share * max(end, 0) ** 2) - 8 for end in r]
        assert own.tolist() == pytest.approx(saved)
    assert limits[1, 0] > limits[0, 0] > 0 == limits[1, 1]  # the second machine contradicts people
    alike = prediction_powered(np.ones(8), f[0], rest[0], target=target)
    assert np.isnan(alike.saved_limits).all()


@pytest.mark.parametrize("target", TARGETS)
def test_a_machine_with_constant_labels_costs_nothing(target):
    """Also with rounding errors, by which the variance of equal values may differ from 0."""
    people = np.random.default_rng(5).random(7)
    for width in (0.3, 0.5, 0.7):
        by_value = {
            needed_queries(people, np.full(7, one), np.full(13, one), width, target=target)
            for one in (0.0, 0.1, 0.3, 0.5, 0.7)
        }
        assert len(by_value) == 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("target", TARGETS)
def test_a_system_that_the_machine_gives_one_value_is_estimated_as_by_people_alone(target):
    """Together with another system, and without warnings about divisions by 0."""
    draw = np.random.default_rng(7)
    h, f, rest = draw.random((2, 6)), draw.random((2, 6)), draw.random((2, 4))
    f[1] = 0.5
    found = prediction_powered(h, f, rest, target=target)
    assert found.lambda_[1] == found.saved[1] == 0
    assert found.both.low[1] == found.people.low[1] and found.both.mean[1] == h[1].mean()
    assert np.isfinite(found.both.high).all()


@pytest.mark.parametrize("target", TARGETS)
def test_values_that_differ_by_rounding_alone_have_no_interval(target):
    people = [0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2]
    found = prediction_powered(people, [0.1, 0.5, 0.4, 0.2], [0.3, 0.6], target=target)
    assert found.differing == 0
    unknown = (found.both.low, found.both.high, found.people.low, found.people.high, found.saved)
    assert np.isnan(unknown).all()
    assert found.both.mean == pytest.approx(0.3)
    with pytest.raises(ValueError, match="people's values of all 4 queries are 0.3"):
        needed_queries(people, [0.1, 0.5, 0.4, 0.2], [0.3, 0.6], 0.1, target=target)
