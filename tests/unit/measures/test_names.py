"""Properties of measures by name: direction, sum, pool, default (directions.py, parsing.py)."""

import ir_measures
import numpy as np
import pytest

from pyterrier_asl import ASL, TBG, DocLengths, P_Rareness, RarenessPool, evaluate, nASL
from pyterrier_asl.measures.defaults import default_measures
from pyterrier_asl.measures.directions import higher_is_better
from pyterrier_asl.measures.parsing import named_measures, needs_pool, parse_measure, parse_measures


@pytest.mark.parametrize(
    ("measure", "higher"),
    [(ASL @ 10, False), *((one, True) for one in (nASL @ 10, ir_measures.AP, ir_measures.Compat))]
    + [(one, None) for one in (ir_measures.NumRet, ir_measures.NumQ, ir_measures.NumRelRet)]
    + [(ir_measures.NumRel(rel=2), None), (ir_measures.Judged @ 10, None)],
)
def test_direction(measure, higher):
    assert higher_is_better(measure) is higher


@pytest.mark.parametrize(
    ("written", "measure"),
    [("ndcg@10", ir_measures.nDCG @ 10), ("NDCG@10", ir_measures.nDCG @ 10)]
    + [("ndcg_cut_10", ir_measures.nDCG @ 10), ("map", ir_measures.AP)]
    + [("map@100", ir_measures.AP @ 100), ("mrr@10", ir_measures.RR @ 10)]
    + [("recall@100", ir_measures.R @ 100), ("precision@5", ir_measures.P @ 5)]
    + [("hit@10", ir_measures.Success @ 10), ("hit_rate@10", ir_measures.Success @ 10)]
    + [("asl(rel=2)@10", ASL(rel=2) @ 10), ("ASL@g1-10", ASL(g=10))]
    + [("ASL(rel=2)@g1", ASL(rel=2, g=1))],
)
def test_names_as_people_and_tables_write_them(written, measure):
    [named] = parse_measures(written)
    assert named.name == written
    assert named.measure == measure and named.measure.params == measure.params


def test_numbers_of_numpy_are_numbers_and_truth_is_not():
    for given in (ir_measures.AP @ np.int64(5), ir_measures.AP(rel=np.int64(2)) @ 5):
        [named] = named_measures([given])
        assert named.measure["cutoff"] == 5 and type(named.measure["cutoff"]) is int
    for wrong in ("AP@True", "AP(rel=True)", "RBP(p=True)", ir_measures.AP @ True, "ASL@True"):
        with pytest.raises(ValueError, match="must be a"):
            named_measures([wrong])


@pytest.mark.parametrize("key", ["track", "name", "qid", "measure", "value", "run"])
@pytest.mark.parametrize("long", [False, True])
def test_the_name_of_another_column_is_refused(key, long):
    with pytest.raises(ValueError, match=f"'{key}' cannot be the name of a measure"):
        evaluate({"a": {"q": {"d": 1}}}, {"q": {"d": 1}}, {key: "AP"}, long=long)


def test_names_of_one_and_of_many():
    assert parse_measure("map") == ir_measures.AP
    with pytest.raises(ValueError, match="names several"):
        parse_measure("AP RR")
    names = [one.name for one in named_measures("AP, ASL(g=10, rel=2)@5")]
    assert names == ["AP", "ASL(g=10, rel=2)@5"]
    assert [str(one.measure) for one in named_measures({"x": "map", "y": ASL})] == ["AP", "ASL"]
    for twice in ([ir_measures.AP, "AP"], ["AP", "map"], "AP map", ["AP map", "map"]):
        assert [one.name for one in named_measures(twice)] == ["AP"]
    for wrong, message in (
        ([ir_measures.AP, ir_measures.AP(rel=1)], "'AP' is the name of two measures"),
        ({"x": "map", "y": ir_measures.AP}, "the measure of 'y' has another name"),
        ([], "no measure was given"),
    ):
        with pytest.raises(ValueError, match=message):
            named_measures(wrong)


def test_measures_that_need_a_pool():
    asked = [P_Rareness @ 10, parse_measure("AP_Rareness(depth=30)@20"), ASL @ 1000]
    assert [needs_pool(one) for one in asked] == [True, True, False]
    with pytest.warns(UserWarning, match="pool"):
        pool = RarenessPool.from_runs({"a": {"q": {"d": 1}}})
    assert not needs_pool(P_Rareness(pool=pool) @ 10)


def test_the_default_measures_of_a_report_are_some_of_all():
    brief = [one.name for one in default_measures(several=True, cutoff=100, brief=True)]
    assert " ".join(brief) == (
        "ASL@100 ASL(g=10)@100 LexiP AP_Rareness@100 AP nDCG@10 RR R@100 Judged@10"
    )


def test_a_measure_made_elsewhere_is_checked_too():
    for measure in (ir_measures.INST, ir_measures.P @ 0):
        with pytest.raises(ValueError, match="needs max_rel|cutoff must be"):
            named_measures([measure])
    assert parse_measure(ir_measures.INST(T=2, max_rel=3))["T"] == 2.0


@pytest.mark.parametrize(
    "name",
    ["ASL(rel=2,g=10)@1000", "nDCG(gains={1:2})@10", "SetF(beta=2.0)", "RBP(rel=1,p=0.5)"]
    + ["AP(judged_only=True)", "nDCG(dcg='exp-log2')@5", "IPrec@0.5", "TBG(missing_length=500.0)"],
)
def test_names_are_read_as_ir_measures_reads_them(name):
    assert str(parse_measure(name)) == str(ir_measures.parse_measure(name)) == name


@pytest.mark.parametrize(
    "name",
    ["P@1", "P@2147483647", "AP(rel=0)", "IPrec@0.0", "IPrec@1.0", "SetF(beta=0.0)"]
    + ["RBP(rel=1,p=0.0)", "RBP(rel=1,p=1.0)", "AP(rel=2147483647)"],
)
def test_the_ends_of_ranges_are_in_them(name):
    assert str(parse_measure(name)) == name


def test_parameters_are_given_to_the_measures_that_leave_them_open():
    """``rel`` becomes part of the name, because it changes the measure; lengths do not."""
    lengths = DocLengths.from_dict({"d": 1}, name="words")
    ap, asl, tbg, ndcg = parse_measures("map ASL(rel=3)@5 TBG nDCG@10")
    given = [named.with_params(rel=2.0, lengths=lengths) for named in (ap, asl, tbg, ndcg)]
    of_tbg = f"TBG(rel=2,lengths='{lengths.id}')"
    assert [named.name for named in given] == ["AP(rel=2)", "ASL(rel=3)@5", of_tbg, "nDCG@10"]
    assert given[2].measure["lengths"] == lengths and given[3].measure == ir_measures.nDCG @ 10
    unnamed = tbg.with_params(lengths=lengths, rel=None)
    assert unnamed.name == "TBG" and unnamed.measure == TBG(lengths=lengths)
    assert ap.with_params(rel=1.5).name == "AP(rel=1.5)"
    [other] = parse_measures("infAP")
    with pytest.raises(ValueError, match=r"'infAP' does not take rel=-1.5 .*as in AP\(rel=2\)"):
        other.with_params(rel=-1.5)


def test_one_measure_by_two_names_is_kept_by_the_first():
    asked = parse_measures("map AP ASL@5 ASL(missing='pad')@5 AP(rel=1) AP(rel=2)")
    assert [named.name for named in asked] == ["map", "ASL@5", "AP(rel=1)", "AP(rel=2)"]
