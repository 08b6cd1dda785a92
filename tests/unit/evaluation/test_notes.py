"""Notes on runs: means that depend on the order of ties, and queries among the documents."""

from __future__ import annotations

import re
import warnings
from functools import partial

import pytest
from _files import write_run
from hypothesis import assume, given
from hypothesis import strategies as st

from pyterrier_asl import (
    TBG,
    DocLengths,
    Qrels,
    bounds,
    compare,
    evaluate,
    holes,
    judges,
    report,
    ties,
)
from pyterrier_asl.evaluation.evaluation import Evaluation
from pyterrier_asl.judging.judged_run import judge

QRELS = {f"q{n}": {"a": 1, "c": 0, "d": 1} for n in range(5)}
MEASURES = ["AP", "RR", "ASL@10", "nDCG@3", "P@1"]
TIED = "ordered by id, descending, as in trec_eval: mean "


def run_of(scores: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    return dict(zip(QRELS, scores))


def tie_notes(call) -> dict[str, tuple[float, float, float]]:
    """Measure -> its mean, the least and the greatest mean, from the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    text = " ".join(str(each.message) for each in caught if TIED in str(each.message))
    number = r"([\d.]+)"
    sentence = rf"mean (\S+) is {number}, and in another order between {number} and {number}"
    return {measure: tuple(map(float, means)) for measure, *means in re.findall(sentence, text)}


scores = st.dictionaries(st.sampled_from("abcdxyz"), st.sampled_from([1.0, 2.0]), min_size=1)


@given(st.lists(scores, min_size=5, max_size=5))
def test_a_mean_is_noted_where_another_order_of_ties_changes_it(drawn):
    assume(any(docs.keys() & QRELS["q0"].keys() for docs in drawn))  # otherwise the run is refused
    assume(any(len(set(docs.values())) > 1 for docs in drawn))  # constant scores have another note
    run = {"x": run_of(drawn)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = ties(run, QRELS, MEASURES).set_index("measure")
    expected = {
        measure: pytest.approx((row["value"], row["low"], row["high"]), abs=2e-3)
        for measure, row in table.iterrows()
        if max(row["high"] - row["value"], row["value"] - row["low"]) > 0.01 * max(1, row["value"])
    }
    judged = Evaluation.of(run, QRELS)
    for call in (partial(evaluate, run, QRELS, MEASURES), partial(judged.frame, MEASURES)):
        assert tie_notes(call) == expected


def test_a_file_is_noted_like_a_frame(tmp_path):
    run = run_of([{"a": 1, "b": 1, "c": 1}, {"d": 2, "x": 2}] + 3 * [{"a": 3, "b": 2}])
    for name in ("x.run", "y.run"):
        write_run(run, tmp_path / name)
    expected = tie_notes(lambda: evaluate({"x": run}, QRELS, ["AP"]))
    assert expected == {"AP": (0.383, 0.383, 0.5)}  # the mean of 1/6, 1/4 and three times 1/2
    for workers in ({"jobs": 1}, {"jobs": 2, "backend": "threading"}):
        call = partial(evaluate, tmp_path, QRELS, ["AP"], progress=False, **workers)
        assert tie_notes(call) == expected


def test_notes_of_a_kind_on_several_runs_are_one_line():
    constant = {qid: {f"d{i}": 0.0 for i in range(12)} | {"a": 0.0} for qid in QRELS}
    own = {qid: {qid: 9.0, "a": 2.0} for qid in [*QRELS][:4]}
    fewer = {qid: own[qid] for qid in [*own][:3]}
    runs = {"c": constant, "o": own, "c2": constant, "f": fewer, "c3": constant}
    for call in (partial(evaluate, runs, QRELS, ["RR"]), partial(Evaluation.of, runs, QRELS)):
        with pytest.warns(UserWarning) as caught:
            call()
        first, second = sorted(str(warning.message) for warning in caught)
        assert first.startswith("run 'c': all doc") and first.endswith(" (likewise c2 and c3)")
        assert second.startswith("run 'o': 4 of 4 queries") and second.endswith(" (likewise f)")


@pytest.mark.parametrize(
    "call",
    [
        compare,
        partial(compare, conditions=["AP worse", "RR worse p<.05"]),
        pytest.param(report, marks=pytest.mark.slow),
        lambda *given: Evaluation.of(*given[:2]).frame(given[2]),
    ],
)
def test_the_measures_of_a_run_with_ties_are_in_one_sentence(call):
    tied, falling = run_of(5 * [{"a": 1, "b": 1}]), run_of(5 * [{"a": 2, "b": 1}])
    with pytest.warns(UserWarning) as caught:
        call({"x": tied, "y": falling, "z": tied}, QRELS, ["AP", "RR", "AP_Rareness@5", "P@2"])
    order = "documents with equal scores are ordered by id, descending, as in trec_eval: "
    [note] = [str(warning.message) for warning in caught if order in str(warning.message)]
    assert note == (
        f"run 'x': {order}mean AP is 0.250, and in another order between 0.250 and 0.500 (0.375 on "
        "average), mean RR is 0.500, and in another order between 0.500 and 1.000 (0.750 on "
        "average) (likewise z)"
    )


def test_no_tie_of_judged_documents_is_no_note():
    falling = run_of(5 * [{"a": 3, "x": 2, "y": 2, "d": 1}])
    constant = run_of(5 * [{f"a{n}"[: n + 1]: 1 for n in range(20)}])  # has another warning
    lengths = DocLengths.from_dict({name: 9 for name in "ab"})
    tied = run_of(5 * [{"a": 1, "b": 1}])
    for run, measure in ((falling, "AP"), (constant, "AP"), (tied, TBG(lengths=lengths))):
        assert tie_notes(partial(evaluate, {"x": run}, QRELS, [measure])) == {}


# Queries among the documents


def own_notes(run, qrels) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluate({"x": run}, qrels, ["RR"])
    return [str(each.message) for each in caught if "own id" in str(each.message)]


def test_queries_that_retrieve_themselves_are_counted():
    run = {qid: {qid: 9.0, "a": 2.0} for qid in [*QRELS][:3]} | {"q4": {"a": 1.0}}
    [note] = own_notes(run, QRELS)
    assert note.startswith("run 'x': 3 of 4 queries retrieve a document with the query's own id")
    assert "--drop-self" in note
    with pytest.warns(UserWarning, match="run 'x': 3 of 4 queries retrieve"):
        Evaluation.of({"x": run}, QRELS)
    assert own_notes(run, Qrels(QRELS, drop_self=True)) == []


def test_a_document_that_is_relevant_or_has_its_number_by_chance_is_no_note():
    known_item = {qid: {qid: 1} for qid in QRELS}
    assert own_notes({qid: {qid: 2.0, "x": 1.0} for qid in QRELS}, known_item) == []
    qrels = {str(n): {"d": 1} for n in range(40)}
    by_chance = {qid: {"d": 9.0, "7": 1.0} for qid in qrels}
    assert own_notes(by_chance, qrels) == []
    assert len(own_notes({qid: {qid: 9.0, "d": 1.0} for qid in qrels}, qrels)) == 1


def test_dropping_them_is_evaluating_without_them():
    run = {"q0": {"q0": 9.0, "a": 2.0}, "q1": {"q1": 1.0}, "q2": {"q1": 3.0, "a": 2.0}}
    without = {"q0": {"a": 2.0}, "q2": {"q1": 3.0, "a": 2.0}}
    dropping = Qrels(QRELS, drop_self=True)
    found, expected = (
        evaluate({"x": each}, Qrels(QRELS, drop_self=drop), [*MEASURES, "NumRet"])
        for each, drop in ((run, True), (without, False))
    )
    assert found.equals(expected)
    bounded = bounds({"x": run}, dropping, ["RR"], by_query=True)
    assert bounded["value"].tolist() == expected["RR"].tolist()
    with_other = {"x": run, "y": without}
    compared = compare(with_other, dropping, MEASURES).table
    assert (compared["difference"] == 0).all()
    assert holes(with_other, dropping, "AP").difference.difference == 0
    gains = judges(dropping, {"m": QRELS}, with_other).gains
    assert gains["value"].tolist() == [expected["AP"].mean()] * 2
    assert (
        report(with_other, dropping, "AP").findings.first.means.tolist()
        == [expected["AP"].mean()] * 2
    )
    assert judge(dropping.judgements, run).retrieved.tolist() == [1, 0, 2, 0, 0]
