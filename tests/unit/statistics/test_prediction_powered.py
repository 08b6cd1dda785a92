"""Prediction-powered estimates, against the formulas by hand and against simulated populations."""

import tracemalloc

import numpy as np
import pytest

from pyterrier_asl.statistics.prediction_powered import TARGETS, interval_widths, prediction_powered


def needed_queries(people, machine, unaudited, width, **options):
    """The least number of queries with an interval of at most this width, from 3."""
    enough = np.flatnonzero(interval_widths(people, machine, unaudited, **options) <= width)
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


def test_with_every_query_judged_by_people_the_machine_adds_nothing():
    """One query left to the machine has an interval."""
    h, f = [0.1, 0.6, 0.3, 0.5], [0.2, 0.5, 0.3, 0.6]
    one = prediction_powered(h, f, [0.4])
    assert np.isfinite([one.both.low, one.both.high]).all()
    like = prediction_powered(h, f, [])
    assert like.lambda_ == 0 and like.both.low == like.people.low
    these = prediction_powered(h, f, [], target="these queries")
    assert these.both.mean == pytest.approx(0.375) and these.both.variance == 0


@pytest.mark.parametrize("target", TARGETS)
def test_coverage_and_width_whatever_the_machines_bias(target):
    draw = np.random.default_rng(11)
    size, n, draws = 50, 20, 1500
    h = draw.random((draws, size))
    truth = 0.5 if target == "queries like these" else h.mean(axis=1)
    f = 0.3 + 0.6 * h + 0.1 * draw.normal(size=h.shape)  # too lenient by .1
    found = prediction_powered(h[:, :n], f[:, :n], f[:, n:], target=target)

    def covers(estimate):
        return np.mean((estimate.low <= truth) & (truth <= estimate.high))

    assert 0.93 <= covers(found.both) <= 0.97
    assert 0.93 <= covers(found.people) <= 0.97
    widths = (found.both.high - found.both.low) / (found.people.high - found.people.low)
    assert widths.mean() < 0.8
    assert covers(found.machine) < 0.4 or target == "these queries"
    assert np.isnan(found.machine.low).all() == (target == "these queries")


@pytest.mark.parametrize("target", TARGETS)
def test_a_large_pilot_of_many_queries_takes_little_memory(target):
    draw = np.random.default_rng(3)
    h = draw.random(2_000)
    tracemalloc.start()
    needed = needed_queries(h, h, draw.random(100_000), 0.01, target=target)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert needed is not None and most < 50e6


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


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (([0.1, 0.2], [0.1, 0.2], [0.3]), "judged 2 of the machine's queries: at least 3"),
        (([0.1, 0.2, 0.3], [0.1, 0.2], [0.3]), "have shape"),
        (([0.1, 0.2, np.nan], [0.1, 0.2, 0.3], [0.3]), "finite"),
        (([1, 2, 3], [1, 2, 3], [1], "all"), "target 'all' is unknown"),
    ],
)
def test_what_cannot_be(given, says):
    with pytest.raises(ValueError, match=says):
        prediction_powered(*given[:3], target=(*given, TARGETS[0])[3])
