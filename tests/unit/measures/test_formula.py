"""Properties of measures: whether their bounds are exact, and the columns that they read.
Tests of kinds.py."""

import ir_measures
import pytest

from pyterrier_asl import ASL, TBG, DocLengths
from pyterrier_asl.measures.formula import formula
from pyterrier_asl.measures.standard import measures_with_bounds

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
