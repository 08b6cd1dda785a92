"""Measures as objects: parameters, values, bounds (asl.py, base.py, kinds.py, lexip.py, tbg.py)."""

import ir_measures
import numpy as np
import pytest

from pyterrier_asl import ASL, TBG, AP_Rareness, DocLengths, LexiP, RarenessPool, evaluate, nASL
from pyterrier_asl.judging.judged_run import JudgedRun
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.measures._base import DEEPEST, count, flag, grade, one_of, real
from pyterrier_asl.measures.directions import value_range
from pyterrier_asl.measures.formula import formula
from pyterrier_asl.measures.standard import measures_with_bounds

#: Each parameter off its default.
OPTIONS = {"p_click_rel": 0.3, "p_save": 0.5, "time_summary": 2, "time_base": 9, "halflife": 60}


@pytest.mark.parametrize("option", [None, *OPTIONS])
@pytest.mark.parametrize("cutoff", [1, 4, None])
def test_the_range_ends_at_the_best_value(option, cutoff):
    changed = {name: value for name, value in OPTIONS.items() if option in (None, name)}
    measure = TBG(cutoff=cutoff, missing_length=0, p_click_nonrel=0.9, time_per_word=2, **changed)
    run = {"q": {f"d{n}": -n for n in range(cutoff or 3000)}}
    best = measure.calc_aggregate({"q": dict.fromkeys(run["q"], 1)}, run)
    assert value_range(measure) == (0, pytest.approx(best, rel=1e-9))


#: Without the unjudged x and u, the ranking is n1, a, n2; b and c are missing.
RUN = {"q": {"x": 9, "n1": 8, "a": 7, "u": 6, "n2": 5}}
QRELS = {"q": {"n4": 0, "b": 1, "a": 2, "n2": 0, "u": -1, "n1": 0, "c": 1, "n3": 0}}


@pytest.mark.parametrize(("cutoff", "missing"), [(2, 2), (4, 4), (5, 5), (9, 5), (None, 5)])
def test_judged_only_fills_with_the_irrelevant_judgements_down_to_the_cutoff(cutoff, missing):
    """A missing document is below four irrelevant ones if the cut-off admits them."""
    asl = ASL(judged_only=True, cutoff=cutoff)
    assert asl.calc_aggregate(QRELS, RUN) == pytest.approx((2 + 2 * missing) / 3)
    two = nASL(judged_only=True, g=2) @ (cutoff or 1000)
    expected = 1 - ((2 + missing) / 2 - 1) / (cutoff or 1000)
    assert two.calc_aggregate(QRELS, RUN) == pytest.approx(expected)


@pytest.mark.parametrize(("rel", "value"), [(1, (2 + 2 * 5) / 3), (2, 2)])
def test_what_is_below_the_minimum_grade_is_irrelevant(rel, value):
    assert ASL(judged_only=True, rel=rel).calc_aggregate(QRELS, RUN) == pytest.approx(value)
    fewer = {"q": {"n1": 8}}
    missing = {1: 5, 2: 7}[rel]  # n1 to n4, or these, b and c
    assert ASL(judged_only=True, rel=rel).calc_aggregate(QRELS, fewer) == missing


def lexip(ranks, retrieved, measure=LexiP):
    """LexiP of a run with the two relevant documents of a query at these ranks."""
    judgements = Judgements({"q": {"a": 1, "b": 1}})
    found = np.array(ranks, dtype=np.int64)
    run = JudgedRun.from_entries(
        judgements, np.array([retrieved]), np.zeros_like(found), found, np.arange(len(found))
    )
    return measure.values(run)[0]


def test_it_never_inverts_beyond_a_million():
    missing = lexip([1], 2_000_000)
    assert lexip([1, 1_500_001], 2_000_000) == missing
    assert lexip([1, 1_000_000], 2_000_000) > missing
    assert lexip([1, 999_999], 2_000_000) > lexip([1, 1_000_000], 2_000_000)


@pytest.mark.parametrize("ranks", [[], [3], [2, 7], [2, 1_000_001]])
def test_it_is_lexip_at_a_million(ranks):
    assert lexip(ranks, 2_000_000) == lexip(ranks, 2_000_000, LexiP @ 1_000_000)


#: Whether labellings reach the bounds of a run, and the bounds of a difference.
EXACT = {
    **dict.fromkeys("P@5 R@5 RR Success@5 nDCG@5 RBP(rel=1) ASL@5 nASL@5".split(), (True, True)),
    **dict.fromkeys("AP@5 ASL(g=2)@5 nASL(g=2)@5 LexiP TBG".split(), (True, False)),
    **{"P_Rareness@5": (True, True), "AP_Rareness@5": (False, False)},
}


@pytest.mark.parametrize("text", EXACT)
def test_which_bounds_are_exact(text):
    measure = formula(ir_measures.parse_measure(text))
    assert (measure.is_exact(), measure.is_exact(pair=True)) == EXACT[text]


def test_all_measures_with_bounds_are_among_these():
    names = {text.partition("(")[0].partition("@")[0] for text in EXACT}
    assert set(measures_with_bounds()) == names


def test_what_a_measure_reads_of_a_run():
    """Whether a measure needs all rows, and a column of lengths unless it has lengths."""
    lengths = DocLengths.from_dict({"d": 1})
    assert not formula(ir_measures.AP).needs_rows() and not ASL.needs_rows()
    assert TBG.needs_rows()
    assert TBG.run_columns() == ["doc_len"] and ASL.run_columns() == []
    assert TBG(lengths=lengths).run_columns() == TBG(missing_length=9).run_columns() == []


@pytest.mark.parametrize(("text", "rel"), [("AP(rel=2)", 2), ("AP", 1), ("nDCG", 1)])
def test_the_least_relevant_grade_is_1_where_none_is_given(text, rel):
    assert formula(ir_measures.parse_measure(text)).rel == rel


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (count, [1, np.int64(7), DEEPEST], [0, -1, DEEPEST + 1, 1.0, "1", True, np.nan]),
        (real(0, 1), [0, 0.5, 1, np.float32(1)], [-1e-9, 1 + 1e-9, "1", True, np.nan, 10**400]),
        (real(0), [0, 1e300], [-1e-9, np.inf, "inf", [1]]),
        (real(0, above=True), [1e-9, 7], [0, -1, "7"]),
        (grade, [0, 1, 2.5], [-1, "2", False, np.inf]),
        (flag, [True, False, np.True_], [1, 0, "True"]),
        (one_of("a", "b"), ["a", "b"], ["c", "", 1, ["a"]]),
    ],
)
def test_what_a_parameter_takes(check, good, bad):
    for value in good:
        assert check(value) == value
    for value in bad:
        with pytest.raises(ValueError, match="number|True or False|one of"):
            check(value)


def test_values_become_plain_ones():
    assert type(count(np.int64(7))) is int and type(grade(2.0)) is int
    assert type(real(0)(1)) is float and type(flag(np.True_)) is bool


def test_the_note_on_queries_without_relevant_documents_is_true(caplog):
    """For any run: 1 by ASL and nASL, 0 by LexiP, TBG and rareness."""
    qrels = {f"nothing {n}": {"a": 1} for n in range(7)}
    run = {qid: {"a": 2.0, "b": 1.0} for qid in qrels}
    pool = RarenessPool.from_runs({f"r{n}": run for n in range(8)})
    ones = [ASL(rel=5) @ 10, nASL(rel=5) @ 10]
    zeros = [LexiP(rel=5), TBG(rel=5, missing_length=9), AP_Rareness(rel=5, pool=pool) @ 10]
    frame = evaluate({"x": run}, qrels, [*ones, *zeros])
    assert [set(frame[str(measure)]) for measure in (*ones, *zeros)] == [{1}] * 2 + [{0}] * 3
    assert "no document with a grade of 5 or more" in frame.attrs["notes"][-1]
    assert not caplog.records  # said once: the log is for results without notes
    ir_measures.calc_aggregate([*ones, *zeros], qrels, run)
    [note] = {record.getMessage() for record in caplog.records}
    assert note == (
        "queries without a document with a grade of 5 or more: 7 of 7; for every system their "
        "value is 1 by ASL and nASL, and 0 by LexiP, TBG and rareness with this grade"
    )
