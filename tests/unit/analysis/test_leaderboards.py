"""Leaderboards under several judges, against loops."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import pyterrier_asl as asl
from pyterrier_asl.analysis.assessors import assessor_scores, compare_with_assessors
from pyterrier_asl.analysis.judges import (
    judge_agreement,
    judge_confusion,
    leaderboard_agreement,
    leaderboard_swaps,
    leaderboards,
)
from pyterrier_asl.analysis.registry import Queries
from pyterrier_asl.assessment.judges import Judges, shared_pairs
from pyterrier_asl.assessment.system_pairs import PairedTest, compared_systems
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.judging.judgements import Judgements


@pytest.fixture(scope="module")
def toy():
    """Six systems of seeded scores on twelve topics, and two judges who differ at random."""
    rng = np.random.default_rng(3)
    docs = [f"d{i}" for i in range(12)]
    topics = [f"t{i}" for i in range(12)]
    truth = {t: dict(zip(docs, rng.integers(0, 3, len(docs)).tolist())) for t in topics}
    other = {
        t: {d: int(rng.integers(0, 3)) if rng.random() < 0.7 else g for d, g in grades.items()}
        for t, grades in truth.items()
    }
    runs = {
        f"s{level}": {
            t: {d: truth[t][d] * level / 20 + float(rng.normal()) for d in docs} for t in topics
        }
        for level in range(6)
    }
    return runs, {"person": truth, "model": dict(reversed(other.items()))}


def values(runs, qrels, topics, measure="AP"):
    judged = Evaluation.of(runs, qrels)
    return judged.values(measure)[:, [judged.qids.index(t) for t in topics]]


def test_every_system_under_every_judge(toy):
    runs, judges = toy
    frame = leaderboards(runs, judges)
    topics = list(judges["person"])
    person, model = (values(runs, judges[name], topics) for name in judges)
    board = frame[frame["judge"] == "model"].set_index("run").loc[list(runs)]
    gain = model.mean(axis=1) - person.mean(axis=1)
    assert np.allclose(board["value"], model.mean(axis=1))
    assert np.allclose(board["gain"], gain)
    # Differences of adjusted gains equal differences of gains, and their mean is 0.
    own = board["own_gain"].to_numpy()
    assert np.allclose(np.subtract.outer(own, own), np.subtract.outer(gain, gain))
    assert own.sum() == pytest.approx(0)
    by_rank = scipy.stats.rankdata(-model.mean(axis=1), method="min")
    assert board["rank"].tolist() == by_rank.tolist()
    before = scipy.stats.rankdata(-person.mean(axis=1), method="min")
    assert board["rank_change"].tolist() == (before - by_rank).tolist()
    difference = model - person
    p = scipy.stats.ttest_rel(difference, difference.mean(axis=0)[None, :], axis=1).pvalue
    assert np.allclose(board["p"], p)
    assert frame.attrs["family"] == 6 and frame.attrs["dropped"] == 6  # the reference has no gains
    turned = leaderboards(runs, judges, reference="model")
    assert np.allclose(
        turned[turned["judge"] == "person"].set_index("run")["gain"].loc[list(runs)], -gain
    )
    with pytest.raises(ValueError, match="reference names 'crowd', which is none of the judges"):
        leaderboards(runs, judges, reference="crowd")


@pytest.mark.parametrize("measure", ["AP", "ASL@20"])
def test_swaps_against_loops(toy, measure):
    runs, judges = toy
    topics = list(judges["person"])
    both = [values(runs, judges[name], topics, measure) for name in judges]
    sign = -1 if measure.startswith("ASL") else 1
    p = np.array(
        [
            [scipy.stats.ttest_rel(v[a], v[b]).pvalue for a, b in combinations(range(6), 2)]
            for v in both
        ]
    )
    swapped = []
    for place, (a, b) in enumerate(combinations(range(6), 2)):
        first, second = (sign * (v[a].mean() - v[b].mean()) for v in both)
        if first * second < 0 and p[:, place].min() <= 0.5:
            pair = (a, b) if first > 0 else (b, a)
            swapped.append(tuple(f"s{system}" for system in pair))
    assert swapped, "the toy should have some"
    options = {"measure": measure, "test": "t", "correction": "none", "alpha": 0.5}
    frame = leaderboard_swaps(runs, judges, **options)
    assert sorted(zip(frame["better"], frame["worse"])) == sorted(swapped)
    # In units of the measure: the mean of the better run minus the mean of the worse run.
    assert (sign * frame["difference_a"] > 0).all() and (sign * frame["difference_b"] < 0).all()
    agreement = leaderboard_agreement(runs, judges, measure=measure, draws=20)
    means = [sign * v.mean(axis=1) for v in both]
    assert agreement["value"][0] == pytest.approx(scipy.stats.kendalltau(*means).statistic)
    reversals = judge_report(runs, judges, measure, draws=2).reversals
    both_judges = leaderboard_swaps(runs, judges, measure=measure)
    significant = both_judges["significant_a"] & both_judges["significant_b"]
    assert reversals["reversed_significant"][0] == len(both_judges)
    assert reversals["reversed_both"][0] == significant.sum()


def test_the_correction_of_swaps_is_named_where_judges_leave_different_numbers_of_tests():
    """By the second judge both systems are equal, so that their difference cannot be tested."""
    runs = {
        "a": {"p": {"d": 2, "e": 1}, "q": {"d": 2, "e": 1}},
        "b": {"p": {"e": 1}, "q": {"d": 1}},
    }
    judges = {"one": {"p": {"d": 1}, "q": {"d": 1}}, "two": {"p": {"x": 1}, "q": {"d": 1}}}
    for test, correction in (("t", "holm"), ("tukey-two-way", "none")):
        assert leaderboard_swaps(runs, judges, test=test).attrs["correction"] == correction


def judge_report(runs, judges, measure="AP", draws=1000):
    """The report of the second judge, with the first for the reference."""
    reference, model = judges.items()
    return asl.judges(
        reference[1], dict([model]), runs, measure, reference=reference[0], draws=draws
    )


def test_the_analyses_show_the_tables_of_judges(toy):
    runs, judges = toy
    report = judge_report(runs, judges)
    shared = ["judge", "reference", "agreement", "value", "ci_low", "ci_high", "pairs", "queries"]
    on_documents, on_systems = judge_agreement(judges, rel=1), leaderboard_agreement(runs, judges)
    both = pd.concat([on_documents.head(2), on_systems], ignore_index=True)
    pd.testing.assert_frame_equal(report.agreement[shared], both[shared])
    pd.testing.assert_frame_equal(report.confusion, judge_confusion(judges), check_like=True)
    board = leaderboards(runs, judges)
    gains = report.gains.sort_values("rank", kind="stable").reset_index(drop=True)
    of_model = board[board["judge"] == "model"].reset_index(drop=True)
    columns = ["judge", "measure", "run", "value", "rank", "rank_change", "gain", "own_gain", "p"]
    pd.testing.assert_frame_equal(gains[columns], of_model[columns], check_dtype=False)


def test_a_judge_agrees_with_himself(toy):
    runs, judges = toy
    frame = leaderboard_agreement(runs, {"a": judges["person"], "b": dict(judges["person"])})
    assert frame["agreement"].tolist() == ["tau", "tau_AP", "RBO"]
    assert frame["value"].tolist() == pytest.approx([1, 1, 1])
    sliced = leaderboard_agreement(
        runs,
        judges,
        by=pd.Series({t: int(t[1:]) % 2 for t in judges["person"]}, name="half"),
        weights={t: 1 + int(t[1:]) for t in judges["person"]},
    )
    assert sliced["half"].tolist() == [0] * 3 + [1] * 3
    assert sliced["queries"].tolist() == [6] * 6 and set(sliced["pairs"]) == {72}


def test_weights_and_costs_count_in_agreement_and_ranks(toy):
    runs, judges = toy
    topics = list(judges["person"])
    weights = {t: 1 + 3 * (int(t[1:]) % 3) for t in topics}
    both = [values(runs, judges[name], topics, "ASL@20") for name in judges]
    means = [np.average(v, axis=1, weights=list(weights.values())) for v in both]
    options = {"measure": "ASL@20", "weights": weights}
    tau = leaderboard_agreement(runs, judges, **options)["value"][0]
    assert tau == pytest.approx(scipy.stats.kendalltau(*means).statistic)
    assert tau != pytest.approx(leaderboard_agreement(runs, judges, measure="ASL@20")["value"][0])
    board = leaderboards(runs, judges, **options)
    person = board[board["judge"] == "person"].set_index("run").loc[list(runs)]
    assert person["rank"].tolist() == scipy.stats.rankdata(means[0], method="min").tolist()


def test_one_judge_is_compared_with_every_other(toy):
    runs, judges = toy
    several = {**judges, "third": judges["person"]}
    every_judge = Judges.of(several, runs)
    queries = Queries(np.arange(len(every_judge.qids)))
    given = every_judge, "AP", queries, PairedTest("tukey-two-way", "auto")
    found = list(compared_systems(*given, reference="third"))
    assert [two for *two, _ in found] == [["third", judge] for judge in judges]
    every = {(a, b): both for a, b, both in compared_systems(*given)}
    assert len(every) == len(several) * (len(several) - 1) / 2
    for _, judge, both in found:
        assert both["reversed"].sum() == every[judge, "third"]["reversed"].sum()


def test_only_topics_that_all_judged_count(toy):
    runs, judges = toy
    some = {t: grades for t, grades in judges["model"].items() if t != "t0"}
    frame = leaderboards(runs, {"person": judges["person"], "model": some})
    means = values(runs, judges["person"], [t for t in judges["person"] if t != "t0"]).mean(axis=1)
    board = frame[frame["judge"] == "person"].set_index("run").loc[list(runs)]
    assert np.allclose(board["value"], means)
    with pytest.raises(ValueError, match="comparing takes at least two judges, not 1"):
        leaderboards(runs, {"person": judges["person"]})


def test_agreement_of_judges_by_hand():
    a = {"q1": {"d1": 0, "d2": 1, "d3": 2, "d4": 1}, "q2": {"d1": 1}}
    b = {"q2": {"d1": 0, "d9": 1}, "q1": {"d3": 1, "d2": 1, "d1": 0}}
    one, other = Judgements(a), Judgements(b)
    places = shared_pairs(one, other)
    grades = one.grades[places[0]], other.grades[places[1]]
    assert sorted(zip(*grades)) == [(0, 0), (1, 0), (1, 1), (2, 1)]
    table = judge_agreement({"a": a, "b": b}).set_index("agreement")
    assert set(table["pairs"]) == {4} and set(table["queries"]) == {2}
    assert table.loc["agreement", "value"] == 0.75
    by_chance = 0.75 * 0.5 + 0.25 * 0.5  # a finds 3 of 4 relevant documents, b finds 2
    assert table.loc["kappa", "value"] == pytest.approx((0.75 - by_chance) / (1 - by_chance))
    strict = judge_agreement({"a": a, "b": b}, judge_rel={"a": 2}).set_index("agreement")
    assert strict.loc["agreement", "value"] == 0.75  # d3 is relevant for both, d2 only for b
    table = judge_confusion({"a": a, "b": b})
    assert table["pairs"].tolist() == [1, 0, 1, 1, 0, 1] and table["pairs"].sum() == 4
    with pytest.raises(ValueError, match="no query and document in common"):
        judge_agreement({"a": a, "b": {"q1": {"other": 1}}})


GRADED = {"q": {"a": 3, "b": 2, "c": 1, "d": 0}}
BINARY = {"q": {"a": 1, "b": 1, "c": 0, "d": 0}}


def test_judges_on_other_scales_have_minimum_grades_of_their_own():
    judges = {"person": GRADED, "model": BINARY}
    message = r"judge 'model' finds nothing relevant at rel=2: its largest grades are 0, 1"
    runs = {"x": {"q": {"a": 2, "c": 1}}, "y": {"q": {"c": 2, "a": 1}}}
    for called in (
        lambda **rel: judge_agreement(judges, **rel),
        lambda **rel: leaderboards(runs, judges, **rel),
        lambda **rel: assessor_scores(GRADED, {"model": BINARY}, **rel),
        lambda **rel: compare_with_assessors(runs, GRADED, judges={"model": BINARY}, **rel),
    ):
        with pytest.raises(ValueError, match=message):
            called(rel=2)
        assert len(called(rel=2, judge_rel={"model": 1}))
        with pytest.raises(ValueError, match="judge_rel names 'nobody'"):
            called(rel=2, judge_rel={"nobody": 1})
    found = judge_agreement(judges, rel=2, judge_rel={"model": 1}).set_index("agreement")["value"]
    assert (found["agreement"], found["kappa"]) == (1, 1)
    assert np.isnan(found["kappa_quadratic"]), "0 to 3 and 0 to 1 are two scales"
    board = leaderboards(runs, judges, rel=2, judge_rel={"model": 1})
    assert board["value"].tolist() == [0.5, 0.25, 0.5, 0.25]
    scores = assessor_scores(GRADED, {"model": BINARY}, rel=2, judge_rel={"model": 1})
    assert scores[["judge", "common", "upper"]].to_numpy().tolist() == [["model", 2, 1]]


def test_confusion_of_fractional_grades_has_bins_and_says_so():
    judges = {"person": GRADED, "mean": {"q": {"a": 2.7, "b": 2.2, "c": 0.9, "d": 0}}}
    table = judge_confusion(judges)
    counted = table[table["pairs"] > 0][["grade_a", "grade_b", "pairs"]].to_numpy().tolist()
    assert counted == [[0, 0, 1], [1, 0, 1], [2, 2, 1], [3, 2, 1]]
    assert table.attrs["binned"] == "mean"
    caption = " ".join(judge_confusion.draw(table).title.subtitle)
    assert "Fractional grades (mean) are in bins" in caption
    whole = judge_confusion({"person": GRADED, "model": BINARY})
    assert "binned" not in whole.attrs
    assert "in bins" not in str(judge_confusion.draw(whole).to_dict())
