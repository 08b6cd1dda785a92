"""Values of parameters: numbers and their limits, text, truth values, and other types.
Tests of _base.py."""

import ir_measures
import numpy as np
import pytest

from pyterrier_asl import ASL, TBG, AP_Rareness, LexiP, RarenessPool, evaluate, nASL
from pyterrier_asl.measures._base import DEEPEST, count, flag, grade, one_of, real


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
