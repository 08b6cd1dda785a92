"""Input and options that a function cannot use are refused with a remedy (sources.py)."""

from inspect import signature

import pandas as pd
import pytest
import small

import pyterrier_asl as asl
from pyterrier_asl.evaluation.evaluate import measured
from pyterrier_asl.evaluation.printing import printed_columns

RUN, QRELS = small.ONE_RUN, small.ONE_QRELS
RUNS, JUDGED = small.RUNS, small.QRELS
LENGTHS = asl.DocLengths.from_dict({"x": 30, "a": 10, "b": 20}, name="words")
FRAME = small.frame(RUN)


@pytest.mark.parametrize("call", [asl.bounds, asl.evaluate])
@pytest.mark.parametrize("run", [RUN, FRAME], ids=["dicts", "frame"])
def test_one_run_needs_no_name(call, run):
    pd.testing.assert_frame_equal(call(run, QRELS, "AP"), call({"run": run}, QRELS, "AP"))


def test_advice_names_what_the_function_has():
    with pytest.raises(ValueError, match=r"give a DocLengths, .* as in TBG\(lengths=\.\.\.\)"):
        asl.evaluate({"x": RUN}, QRELS, ["TBG"])
    assert asl.evaluate({"x": RUN}, QRELS, ["TBG"], lengths=LENGTHS)["TBG"].tolist() > [0.0]


@pytest.mark.filterwarnings("ignore")
def test_a_minimum_grade_is_for_the_measures_that_have_one():
    qrels = {"q": {"a": 1, "b": 2}}
    alone = asl.evaluate(RUN, qrels, ["AP(rel=2)", "nDCG"])
    assert asl.evaluate(RUN, qrels, ["AP", "nDCG"], rel=2).equals(alone)
    for call in (asl.evaluate, asl.bounds, asl.ranks, lambda *of, rel: asl.holes(*of, rel=rel)):
        with pytest.raises(ValueError, match="rel=1 is for measures without a minimum grade of th"):
            call(RUNS, JUDGED, ["AP(rel=2)"], rel=1)
    with pytest.raises(ValueError, match="is for measures without document lengths .* unlike mine"):
        asl.evaluate(RUN, qrels, {"mine": asl.TBG(lengths=LENGTHS)}, lengths=LENGTHS)
    pool = asl.RarenessPool.from_runs({"a": RUN})
    with pytest.raises(ValueError, match="pool is for measures without a pool of their own"):
        asl.evaluate(RUN, qrels, [asl.P_Rareness(pool=pool) @ 5], pool=pool)


@pytest.mark.filterwarnings("ignore")
def test_columns_keep_the_names_that_callers_give_them():
    qrels = {"q": {"a": 1, "b": 2}}
    named = {"mine": "AP", "two": "AP(rel=2)", "map": "RR"}
    found = asl.evaluate(RUN, qrels, named, rel=2)
    plain = asl.evaluate(RUN, qrels, ["map", "RR"], rel=2)
    assert list(found.columns[2:]) == list(named)
    assert list(plain.columns[2:]) == ["AP(rel=2)", "RR(rel=2)"]
    assert found["mine"].tolist() == found["two"].tolist() == plain["AP(rel=2)"].tolist()
    both = {"x": RUN, "y": {"q": {"b": 2, "a": 1}}}
    how = {"rel": 2, "conditions": ["two worse", "RR worse"]}
    compared = asl.compare(both, qrels, {"mine": "AP", "two": "AP(rel=2)"}, **how)
    assert list(dict.fromkeys(compared.table["measure"])) == ["mine", "two", "RR(rel=2)"]


@pytest.mark.filterwarnings("ignore")
def test_runs_are_sorted_by_a_measure_without_its_minimum_grade():
    qrels = {"q": {"a": 1, "b": 2}}
    runs = {"x": {"q": {"a": 2, "b": 1}}, "y": {"q": {"b": 1}}}
    of = measured(runs, qrels, "ASL@9 AP", rel=2)[""]
    for sort in ("ASL@9", "asl@9", "ASL(rel=2)@9", "map"):
        assert printed_columns(of, sort=sort)["run"] == ["y", "x"]
    with pytest.raises(ValueError, match="cannot sort by 'ASL@8'"):
        printed_columns(of, sort="ASL@8")


#: Options of runs, with values that are not the default.
OF_RUNS = {"qrels": JUDGED, "judges": {"m": JUDGED}, "docs": {"a": "text"}, "rel": 2}
OF_RUNS |= {"pool": RUNS, "lengths": LENGTHS, "unjudged": True, "cutoff": 5}


@pytest.mark.parametrize("function", [asl.compare, asl.ranks])
def test_options_of_runs_are_refused_for_scores(function):
    scores = asl.read_scores(asl.evaluate(RUNS, JUDGED, "AP"))
    for option in OF_RUNS.keys() & signature(function).parameters.keys():
        message = rf"^{option}(=.*)? is for runs and qrels, not for scores"
        with pytest.raises(ValueError, match=message):
            function(scores, **{option: OF_RUNS[option]})


@pytest.mark.filterwarnings("ignore")
def test_default_measures_of_collections_have_the_minimum_grade():
    qrels = {qid: {**JUDGED[qid], "a": 2} for qid in JUDGED}
    found = [*asl.evaluate(dict.fromkeys("AB", (RUNS, qrels)), rel=2)]
    assert "AP(rel=2)" in found and "AP" not in found
