"""Conditions of a guard and their verdicts, also with certainly and possibly."""

import re

import numpy as np
import pytest
from scipy import stats

from pyterrier_asl import compare
from pyterrier_asl.comparison import guard
from pyterrier_asl.comparison.checks import answered_by_neither
from pyterrier_asl.comparison.conditions import parse_condition
from pyterrier_asl.comparison.differences import RunDifference
from pyterrier_asl.comparison.sentences import planned_p
from pyterrier_asl.statistics.tests import PairedTest

QUERIES = [f"q{i}" for i in range(6)]
QRELS = {qid: {"a": 1, "b": 1, "n": 0} for qid in QUERIES}
LIVE = {qid: {"a": 3, "b": 2, "n": 1} for qid in QUERIES}
#: A judged document above one or both relevant documents: worse for all labellings.
WORSE = {qid: {"n": 4 if i % 3 else 2.5, "a": 3, "b": 2} for i, qid in enumerate(QUERIES)}
#: Unjudged documents above or below the relevant documents: possibly better.
OTHER = {qid: {f"x{i % 2}": 4 if i % 3 else 1, "a": 3, "b": 2} for i, qid in enumerate(QUERIES)}


def verdict(new, condition, **options):
    runs = {"live": LIVE, "new": new}
    (found,) = compare(runs, QRELS, conditions=[condition], **options).verdicts
    return found


@pytest.mark.parametrize(
    ("new", "condition", "outcome", "says"),
    [
        (WORSE, "RR worse certainly", "FAIL", "under all labels"),
        (WORSE, "RR worse p<.05 certainly", "FAIL", "under all labels"),
        (OTHER, "RR worse", "FAIL", ""),
        (OTHER, "RR worse certainly", "PASS", "possible, not certain"),
        (WORSE, "RR better certainly", "PASS", ""),
        (LIVE, "RR worse p<.05", "PASS", "equal values in every query, so there is no difference"),
    ],
)
def test_what_is_certain_and_what_is_possible(new, condition, outcome, says):
    found = verdict(new, condition, measures=["RR"])
    assert found.outcome.name == outcome and says in found.message
    assert ("possible" in found.message) is ("possible" in says)
    assert ("p =" in found.message) is (new is WORSE and "p<" in condition)


@pytest.mark.parametrize(
    "text, difference, higher, expected",
    [("AP worse", -0.01, True, True), ("AP worse", 0.01, True, False)]
    + [("ASL worse", 0.01, False, True), ("ASL better", -0.01, False, True)]
    + [("AP lower by .01", -0.01, True, True), ("AP lower by 0.011", -0.01, True, False)]
    + [("AP worse by 2%", -0.01, True, True), ("AP worse by 2.1 %", -0.01, True, False)]
    + [("AP different by 1e-3 p < 0.05", 0.01, True, True)]
    + [("AP different p<.04", 0.01, True, False), ("Judged@10 higher", 0.01, None, True)]
    + [("ASL(g=10, rel=2)@20 worse p<.05", 0.01, False, True)]
    + [("AP different", 1e-17, True, False)],
)
def test_what_conditions_mean(text, difference, higher, expected):
    assert guard.holds(parse_condition(text), graded([difference], higher)) is expected


def graded(values, higher=True, p=0.04, correction="holm", family=1):
    """A difference from a baseline whose mean is .5, by query."""
    difference = np.asarray(values, float)
    a, qids = np.full(len(difference), 0.5), list(range(len(difference)))
    by_query = a, a + difference, difference, qids
    options = {"options": PairedTest(correction=correction), "p_corrected": p, "family": family}
    return RunDifference("new", "AP", higher, *by_query, **options)


def test_levels_are_not_divided_where_nothing_is_corrected():
    condition, values = parse_condition("AP worse p<.05"), [-0.1, 0.02, -0.05]
    several = [graded(values, correction="none", family=family) for family in (1, 3)]
    one, three = (guard.verdict_on(condition, of_run) for of_run in several)
    assert one == three


# Queries that must not get worse


def shifted(qids):
    """A run with the second relevant document of some queries one rank lower."""
    return {q: {"a": 3, "n": 2, "b": 1} if q in qids else LIVE[q] for q in QUERIES}


@pytest.mark.parametrize("measure", ["AP", "ASL@10", "rrLP"])
@pytest.mark.parametrize("amount", [0.05, 0.2, 0.5])
def test_a_loss_is_rejected_as_by_scipy_whichever_way_is_better(measure, amount):
    new = shifted(QUERIES[:2])
    text = f"{measure} possibly worse by {amount} p<.05"
    found = compare({"live": LIVE, "new": new}, QRELS, ["AP", "ASL@10"], conditions=[text])
    rows = found.by_query[found.by_query["measure"] == measure]
    gains = rows["difference"] * (-1 if measure == "ASL@10" else 1)
    assert gains.mean() < 0
    p = stats.ttest_1samp(gains, -amount, alternative="greater").pvalue
    (result,) = found.verdicts
    assert result.numbers["p"] == pytest.approx(p)
    assert result.outcome is (guard.Outcome.PASS if p < 0.05 else guard.Outcome.FAIL)
    which = "rejected" if p < 0.05 else "not rejected"
    assert (
        f"a loss of {amount:.4g} or more is {which}, one-sided {planned_p(p, 0.05)}"
        in result.message
    )


def test_p_is_corrected_over_the_runs_and_not_over_the_conditions():
    """A condition has the p of the table; with possibly its own, over the same runs."""
    texts = ["AP possibly worse by .3 p<.05", "AP worse p<.05", "RR worse p<.05"]
    runs = {"live": LIVE, "one": shifted(QUERIES[:1]), "three": shifted(QUERIES[:3])}
    compared = compare(runs, QRELS, ["AP", "RR"], conditions=texts, correction="bonferroni")
    table = compared.table.set_index(["run", "measure"])["p_corrected"]
    numbers = [verdict.numbers["p"] for verdict in compared.verdicts]
    for at, (run, lost) in enumerate((("one", 1), ("three", 3))):
        gains = np.array([-1 / 6] * lost + [0.0] * (6 - lost))
        p = stats.ttest_1samp(gains, -0.3, alternative="greater").pvalue
        assert numbers[3 * at] == pytest.approx(2 * p)
        of_table = min(1, 2 * stats.ttest_1samp(gains, 0).pvalue)
        assert numbers[3 * at + 1] == table[run, "AP"] == pytest.approx(of_table)
    assert "corrected (bonferroni) over 2 runs" in compared.verdicts[0].message
    [alone] = compare({k: runs[k] for k in ("live", "three")}, QRELS, conditions=texts[1]).verdicts
    assert " over " not in alone.message.partition(", p = ")[2].partition(",")[0]


def test_rareness_without_a_pool_is_counted_among_all_runs():
    """Every document is judged, so no label could change what the plain condition says."""
    qrels = {q: {**dict.fromkeys("abcd", 1), **dict.fromkeys("mn", 0)} for q in QUERIES}
    ranks = {"base": "abm", "new": "cdm", "o1": "abn", "o2": "bam", "o3": "abm"}
    runs = {
        name: {q: {d: -float(i) for i, d in enumerate(docs)} for q in QUERIES}
        for name, docs in ranks.items()
    }
    runs["new"]["q0"] = {"c": 3.0, "m": 2.0, "a": 1.0}
    texts = ["P_Rareness@2 better", "P_Rareness@2 better certainly"]
    with pytest.warns(UserWarning, match="fewer than 8|8 or more"):
        compared = compare(runs, qrels, conditions=texts)
        plain, certain = compared.verdicts[:2]
    assert plain.run == certain.run == "new" and plain.outcome is guard.Outcome.FAIL
    assert certain.outcome is guard.Outcome.FAIL and "under all labels" in certain.message


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "randomization"])
def test_without_variance_no_test_can_be_made(test):
    """Two queries, both -.5."""
    runs = {"live": {q: {"a": 2, "n": 1} for q in "xy"}, "new": {q: {"a": 1, "n": 2} for q in "xy"}}
    qrels, texts = {q: {"a": 1} for q in "xy"}, ["RR worse p<.05", "RR worse"]
    compared = compare(runs, qrels, conditions=texts, test=test)
    row = compared.table.iloc[0]
    assert row["difference"] == -0.5 and np.isnan([row["p"], row["effect"], row["ci_low"]]).all()
    tested, plain = compared.verdicts
    assert tested.outcome is guard.Outcome.ERROR and plain.outcome is guard.Outcome.FAIL
    assert "no test can be made: the difference is -0.5 in each of 2 queries" in tested.message
    said = ["No test can be made of new by RR: the difference is -0.5 in each of 2 queries."]
    assert compared.sentences() == said


def test_an_equal_run_passes_and_an_equally_bad_one_fails():
    text = "RR possibly worse by .02 p<.05"
    equal = verdict(LIVE, text, measures=["RR"])
    assert equal.outcome is guard.Outcome.PASS and "p =" not in equal.message
    assert "a loss of 0.02 or more is rejected, equal values in every query" in equal.message
    assert verdict(WORSE, text, measures=["RR"]).outcome is guard.Outcome.FAIL


def test_limits_belong_to_the_baseline_and_the_difference():
    """A label of x changes both bounds: LIVE ranks a, b, n, and OTHER ranks x, a, b."""
    inputs = compare({"live": LIVE, "new": OTHER}, QRELS, ["AP"]).inputs
    found = guard.limits_of(inputs, "new", "AP")
    live, other = (1, (1 + 1) / 3), ((1 / 2 + 2 / 3) / 2, (1 + 1 + 1) / 3)
    assert (found.most, found.least) == pytest.approx(live)
    above = [1, 2, 4, 5]  # the queries in which x is above
    assert found.low[above] == pytest.approx([other[0] - live[0]] * 4)
    assert found.high[above] == pytest.approx([other[1] - live[1]] * 4)


def test_a_loss_that_labels_could_show_fails():
    # By the qrels the new run is better; it is worse if the top document that it lacks is relevant.
    runs, text = {"live": OTHER, "new": LIVE}, "AP possibly worse by .1 p<.05"
    asked = [text, f"{text} certainly"]
    plain, certain = compare(runs, QRELS, ["AP"], conditions=asked).verdicts
    assert (plain.outcome, certain.outcome) == (guard.Outcome.PASS, guard.Outcome.FAIL)
    assert "which the unjudged documents could change" in certain.message


@pytest.mark.parametrize("higher", [True, False])
def test_without_unjudged_documents_a_certain_rejection_is_the_test_at_the_corrected_level(higher):
    gains = np.array([-0.02, 0.01, 0.0, 0.02])
    p = stats.ttest_1samp(gains, -0.02, alternative="greater").pvalue
    values = gains if higher else -gains
    limits = guard.Limits(values, values, 0.5, 0.5)
    for share, family, expected in [(1.5, 1, True), (0.9, 1, False), (1.5, 2, False)]:
        condition = parse_condition(f"AP possibly worse by .02 p<{share * p}")
        assert guard.rejected_certainly(condition, limits, higher, family=family) is expected


@pytest.mark.parametrize("amount", [0.01, 0.05, 0.08, 0.1, 0.15, 0.3])
@pytest.mark.parametrize("higher", [True, False])
def test_a_loss_is_certainly_rejected_where_every_corner_rejects_it(amount, higher):
    draw = np.random.default_rng(7)
    low = draw.normal(0, 0.02, 6)
    high = low + draw.uniform(0, 0.04, 6) * (draw.random(6) < 0.5)
    limits = guard.Limits(low, high, 0.5) if higher else guard.Limits(-high, -low, 0.5)
    condition = parse_condition(f"AP possibly worse by {amount} p<.01")
    found = guard.rejected_certainly(condition, limits, higher, family=2)
    corners = np.where(np.arange(64)[:, np.newaxis] >> np.arange(6) & 1, high, low)
    p = stats.ttest_1samp(corners, -amount, axis=1, alternative="greater").pvalue.max()
    assert p < 0.01 / 2 if found else p > 0.01 / 4  # the bound of t is near the smallest value


def test_the_bounds_of_a_cost_are_exchanged_to_be_those_of_a_gain():
    """With its bounds negated alone these differences would seem to be certain."""
    low, high = np.array([[-0.36, -1.32, -0.8], [-0.24, -0.84, -0.8]])
    corners = [-np.choose([n & 1, n & 2 == 2, 0], [low, high]) for n in range(4)]
    p = max(stats.ttest_1samp(gains, -0.1, alternative="greater").pvalue for gains in corners)
    condition, limits = (
        parse_condition("ASL possibly worse by .1 p<.05"),
        guard.Limits(low, high, 0.5),
    )
    assert p > 0.05 and not guard.rejected_certainly(condition, limits, False)


def test_a_certain_loss_is_tested_at_the_corrected_level():
    limits = guard.Limits(np.array([-0.3, -0.2, -0.1]), np.array([-0.3, -0.2, -0.1]), 0.5)
    p = stats.ttest_1samp([-0.3, -0.2, -0.1], 0).pvalue  # .074
    condition = parse_condition(f"AP worse p<{1.5 * p} certainly")
    assert guard.holds_certainly(condition, limits, True, family=1)
    assert not guard.holds_certainly(condition, limits, True, family=2)
    # The same from the verdict, whose p is small enough.
    for by, outcome in (("holm", "PASS"), ("none", "FAIL")):
        found = graded(limits.low, p=p, correction=by, family=2)
        assert guard.verdict_on(condition, found, limits=limits).outcome.name == outcome


# Floors: the mean of the run alone


@pytest.mark.parametrize(
    ("text", "outcome"),
    [("RR below .6", "FAIL"), ("RR < .6", "FAIL"), ("RR below .5", "PASS"), ("RR above .5", "PASS")]
    + [("RR > .4", "FAIL"), ("ASL@10 above 1.9", "FAIL"), ("ASL@10 below 2", "PASS")],
)
def test_a_floor_is_on_the_mean_of_the_run(text, outcome):
    """RR is .5 in every query, where differences have no test; the baseline has 1."""
    new = {q: {"n": 3, "a": 2, "b": 1} for q in QUERIES}
    found = verdict(new, text)
    assert found.outcome.name == outcome and found.message.startswith("mean ")
    assert found.numbers["mean"] == (2.0 if "ASL" in text else 0.5)
    fewer = {q: LIVE[q] for q in QUERIES[1:]}  # a baseline does not matter
    [about, *_] = compare({"live": fewer, "new": new}, QRELS, conditions=text).verdicts
    assert about.outcome.name == outcome


@pytest.mark.parametrize(
    ("text", "said"),
    [("R@10 below 85", "every mean is below 85: R@10 lies between 0 and 1"), ("R@10 below 1", "")]
    + [("nDCG@10 above 1", "no mean is above 1: nDCG@10 lies between 0 and 1")]
    + [("ASL@10 below 0.5", "no mean is below 0.5: ASL@10 lies between 1 and 11")]
    + [("ASL@10 above .5", "every mean is above 0.5"), ("ASL@10 above 1", ""), ("RR below 0", "no")]
    + [("NumRet above 5", ""), ("NumRet above -1", "every mean is above -1")],
)
def test_a_floor_beyond_the_range_of_the_measure_is_an_error(text, said):
    found = verdict(LIVE, text)
    assert (found.outcome is guard.Outcome.ERROR) is bool(said) and said in found.message


# Facts that are errors


def test_ties_that_reverse_a_significant_difference_are_an_error():
    qids = [f"q{n:02}" for n in range(20)]
    qrels = {q: {"b": 1, "a": 0} for q in qids}
    live = {q: {"a": 2, "b": 1} if n % 10 else {"b": 2, "a": 1} for n, q in enumerate(qids)}
    tied = {q: {"a": 1, "b": 1} if n % 10 else {"b": 1, "x": 0} for n, q in enumerate(qids)}
    back = tied | {q: {"x": 3, "y": 2, "b": 1} for q in qids[::10]}
    for new, outcome in ((tied, "PASS"), (back, "ERROR")):
        runs = {"live": live, "new": new}
        [about] = compare(runs, qrels, ["RR"], conditions="RR worse p<.05").verdicts
        assert about.outcome.name == outcome
        assert ("other orders of equal scores" in about.message) is (outcome == "ERROR")
        [untested] = compare(runs, qrels, ["RR"], conditions="RR worse").verdicts
        assert untested.outcome is guard.Outcome.PASS


def test_ties_of_both_runs_can_reverse_a_difference_that_ties_of_one_cannot():
    """The relevant document b is first in live, or second; in new it is at ranks 1 to 3."""
    qids = [f"q{n:02}" for n in range(20)]
    tied = {"a": 1, "b": 1, "z": 0}
    new = dict.fromkeys(qids, tied | {"c": 1}) | dict.fromkeys(qids[:5], {"a": 2, "b": 1})
    new |= dict.fromkeys(qids[-2:], {"b": 2, "a": 1})
    runs = {"live": dict.fromkeys(qids, tied), "new": new}
    qrels = {q: {"b": 1, "a": 0} for q in qids}
    [verdict] = compare(runs, qrels, ["RR"], conditions="RR worse p<.05").verdicts
    low_a, high_a, low_b, high_b = 1 / 2, 1, (13 / 3 + 5 / 2 + 2) / 20, (13 + 5 / 2 + 2) / 20
    assert low_b < low_a and high_b < high_a  # so that exchanged ends reverse nothing
    assert verdict.outcome is guard.Outcome.ERROR
    assert f"between {low_b - high_a:+.4g} and {high_b - low_a:+.4g};" in verdict.message


def test_ties_that_reverse_the_difference_of_a_group_are_an_error_of_conditions_on_groups():
    """In the group `tied` b is first or third in new, second in live; over all queries, most of
    which have no ties, new is better in any order."""
    qids = [f"q{n:02}" for n in range(30)]
    groups = {q: "tied" if n % 3 else "plain" for n, q in enumerate(qids)}
    second, third = {"b": 2, "x": 3}, {"b": 1, "x": 3, "y": 2}
    live = {q: second if of == "tied" else third for q, of in groups.items()}
    tied, plain = {"b": 1, "a": 1, "a2": 1}, {"b": 4, "x": 3}
    qrels = {q: {"b": 1, "x": 0} for q in qids}
    conditions = ["RR better in any group p<.05", "RR better p<.05", "RR better in any group"]
    for in_tied, outcome in ((tied, "ERROR"), (plain, "FAIL")):
        new = {q: in_tied if of == "tied" else plain for q, of in groups.items()}
        options = {"conditions": conditions, "groups": groups}
        verdicts = compare({"live": live, "new": new}, qrels, ["RR"], **options).verdicts
        assert [about.outcome.name for about in verdicts] == [outcome, "FAIL", "FAIL"]
        reversed_sign = (
            "no test can be made: in the group 'tied' in other orders of equal scores the "
            f"difference is between {1 / 3 - 1 / 2:+.4g} and +0.5;"
        )
        assert verdicts[0].message.startswith(reversed_sign) is (outcome == "ERROR")


# Untestable conditions


@pytest.mark.parametrize(
    "text, rel, grade",
    [("AP(rel=99) worse", None, 1), ("AP worse", 9, 1), ("nDCG@10 worse p<.05", None, 0)]
    + [("rrLP worse", 9, 1), ("AP possibly worse by .02 p<.05", 9, 1)],
)
def test_where_nothing_is_relevant_no_test_can_be_made(text, rel, grade):
    qrels = {q: {"a": grade, "n": grade - 1} for q in QUERIES}
    found = compare({"live": LIVE, "new": WORSE}, qrels, ["RR"], conditions=[text], rel=rel)
    (result,) = found.verdicts
    assert result.outcome is guard.Outcome.ERROR
    assert re.search("no judged document is relevant to it .*check the qrels", result.message)


@pytest.mark.parametrize(
    "text, is_error",
    [("RR possibly worse by .5 p<.05", False), ("RR possibly worse by .51 p<.05", True)]
    + [("RR worse by .51", True), ("RR better by .5", False), ("RR better by .51", True)]
    + [("RR different by .51", True), ("rrLP worse by 1", False), ("rrLP worse by 1.1", True)]
    + [("ASL@3 worse by 2", False), ("ASL@3 worse by 2.1", True)]
    + [("ASL@3 better by 101% p<.05", True)],
)
def test_a_difference_that_the_baseline_rules_out_is_an_error(text, is_error):
    """The mean of A by RR is 1/2, by ASL 2, of which the highest value is 4."""
    live = {q: {"n": 2, "a": 1} for q in QUERIES}
    qrels = {q: {"a": 1, "n": 0} for q in QUERIES}
    runs = {"live": live, "new": {q: {"a": 2, "n": 1} for q in QUERIES} | {"q0": live["q0"]}}
    (found,) = compare(runs, qrels, ["RR"], conditions=text).verdicts
    assert (found.outcome is guard.Outcome.ERROR) is is_error
    what = "rrLP" if "rrLP" in text else "the mean of A"
    assert (f"as {what} allows" in found.message) is is_error


def test_queries_that_neither_run_answers_are_counted():
    qrels = QRELS | {f"lost{number}": {"a": 1} for number in range(3)}
    runs = {"live": LIVE, "new": shifted(QUERIES[:1]), "half": shifted(QUERIES)}
    found = compare(runs, qrels, ["AP"], conditions="AP worse").verdicts
    assert all(", over 9 queries (3 of them answered by neither run)" in v.message for v in found)
    assert answered_by_neither(compare(runs, QRELS, ["AP"]).inputs, "half") == 0


@pytest.mark.parametrize(
    "text, queries, test, least",
    [("AP worse p<.05", 5, "sign", 2 / 2**5), ("AP worse p<.05", 6, "sign", 0)]
    + [("AP worse p<.01", 7, "wilcoxon", 2 / 2**7), ("AP worse p<.01", 8, "wilcoxon", 0)]
    + [("AP worse p<.05", 5, "randomization", 2 / 2**5), ("AP worse p<.5", 2, "t", 0)],
)
def test_a_test_that_no_runs_can_pass_is_an_error(text, queries, test, least):
    """Of n queries the smallest p of all signs is 2 of 2^n."""
    qids = [f"q{i}" for i in range(queries)]
    new = {q: {"n": 2, "a": 1} | {"m": 2 - 2 * (i % 2)} for i, q in enumerate(qids)}
    runs = {"live": {q: {"a": 2, "n": 1} for q in qids}, "new": new}
    qrels = {q: {"a": 1, "n": 0} for q in qids}
    (found,) = compare(runs, qrels, ["AP"], conditions=text, test=test).verdicts
    assert found.outcome is (guard.Outcome.ERROR if least else guard.Outcome.FAIL)
    said = f"no test can be made: p cannot be below {least:.3g} over {queries} queries"
    assert (said in found.message) is bool(least)


def test_the_smallest_p_is_corrected_and_not_of_equal_runs():
    runs = {"live": LIVE, "new": WORSE, "same": LIVE}
    conditions = ["sgnLP worse p<.05", "AP worse p<.05"]
    options = {"conditions": conditions, "test": "sign", "correction": "bonferroni"}
    found = compare(runs, QRELS, ["AP"], **options).verdicts
    assert [v.outcome.name for v in found] == ["ERROR", "ERROR", "PASS", "PASS"]


def test_a_percentage_of_bounds_is_of_the_value_that_is_hardest_to_reach():
    """Certainly: of the baseline's highest value; possibly: of its lowest."""
    limits = guard.Limits(np.array([-0.07, -0.06]), np.array([-0.05, -0.05]), most=0.5, least=0.1)
    for by, expected in ((8, True), (12, False)):
        condition = parse_condition(f"AP worse by {by}% certainly")
        assert guard.holds_certainly(condition, limits, True) is expected
    limits = guard.Limits(
        np.array([-0.01, -0.01, 0.0]), np.array([0.0, 0.01, 0.0]), most=0.5, least=0.1
    )
    for by, expected in ((10, False), (20, True)):
        condition = parse_condition(f"AP possibly worse by {by}% p<.05")
        assert guard.rejected_certainly(condition, limits, True) is expected
