"""Fractional grades: a threshold in every measure with ``rel`` (measuring.py)."""

import pytest
import small

import pyterrier_asl as asl
from pyterrier_asl.measures.parsing import parse_measure, parse_measures

RUN = small.frame(small.RUN)
QRELS = small.frame(small.QRELS, "label")
QRELS["label"] = QRELS["label"] * 0.55 + QRELS.index % 5 / 10
MEASURES = "AP AP@5 P@3 R@4 RR RR@2 Success@1 RBP SetR ASL ASL(g=2)@5 nASL@5 LexiP".split()
MEASURES += ["AP_Rareness", "P_Rareness@5", "infAP", "Bpref"]


@pytest.mark.parametrize("rel", [0.25, 0.8, 1.5])
def test_a_threshold_is_that_of_binary_grades(rel):
    binary = QRELS.assign(label=(QRELS["label"] >= rel).astype(int))
    names = [named.with_params(rel=rel).name for named in parse_measures(MEASURES)]
    expected = asl.evaluate({"r": RUN}, binary, [m.replace("RBP", "RBP(rel=1)") for m in MEASURES])
    for given in (names, [parse_measure(name) for name in names]):
        found = asl.evaluate({"r": RUN}, QRELS, given).set_index("qid")
        assert found.columns.tolist() == ["name", *names]
        for name, measure in zip(names, MEASURES):
            column = "RBP(rel=1)" if measure == "RBP" else measure
            other = expected.set_index("qid")[column].reindex(found.index)
            assert found[name].to_numpy() == pytest.approx(other.to_numpy(), abs=1e-12), name


def test_where_nothing_is_relevant_it_is_said():
    low = QRELS.assign(label=QRELS["label"] / 4)
    message = "no judged document has a grade of 1 or more .* by AP: give"
    with pytest.warns(UserWarning, match=message):
        assert asl.evaluate({"r": RUN}, low, ["AP", "nDCG@10"])["AP"].sum() == 0
    asl.evaluate({"r": RUN}, low, ["AP(rel=0.25)"])  # and no warning


def test_fractional_grades_of_judges():
    """A judge with twice the grades agrees at twice the threshold."""
    exam = QRELS.assign(label=QRELS["label"] * 2)
    alike = asl.judges(QRELS, {"exam": exam}, rel=0.75, judge_rel={"exam": 1.5}).agreement
    assert "kappa" in set(alike["agreement"]) and set(alike["value"]) == {1}
    other = asl.judges(QRELS, {"exam": exam}, rel=0.75).agreement
    assert set(other["value"]) != {1}
