"""Input and options that a function cannot use are refused with a remedy."""

from __future__ import annotations

import pandas as pd
import pytest

from pyterrier_asl import DocLengths, bounds, evaluate, holes, search_lengths

QRELS = {"q": {"a": 1}}
RUN = {"q": {"a": 1.0, "b": 2.0}}
FRAME = pd.DataFrame({"qid": ["q"], "docno": ["a"], "score": [1.0]})


@pytest.mark.parametrize("run", [RUN, FRAME], ids=["dicts", "frame"])
def test_runs_by_name_are_not_one_run(run):
    wrong = "a dict from name to run, where one run is wanted: pass the one called 'x'"
    for call in (
        lambda: search_lengths({"x": run}, QRELS),
        lambda: holes({"x": run}, RUN, QRELS, "AP"),
    ):
        with pytest.raises(ValueError, match=wrong):
            call()


@pytest.mark.parametrize("call", [bounds, evaluate])
@pytest.mark.parametrize("run", [RUN, FRAME], ids=["dicts", "frame"])
def test_one_run_needs_no_name(call, run):
    pd.testing.assert_frame_equal(call(run, QRELS, "AP"), call({"run": run}, QRELS, "AP"))


def test_qrels_by_name_are_not_one_set_of_qrels():
    with pytest.raises(ValueError, match="a dict from name to qrels, where one qrels is wanted"):
        evaluate({"x": RUN}, {"nist": QRELS}, "AP")


@pytest.mark.parametrize("arguments", [(3, 4, "AP"), (RUN, 4, "AP"), ({"x": 3}, QRELS, "AP")])
def test_numbers_are_neither_runs_nor_qrels(arguments):
    with pytest.raises((TypeError, ValueError), match="int|dict"):
        evaluate(*arguments)


def test_advice_names_what_the_function_has():
    with pytest.raises(ValueError, match=r"write TBG\(lengths=\.\.\.\) with a DocLengths"):
        evaluate({"x": RUN}, QRELS, ["TBG"])
    lengths = DocLengths.from_dict({"a": 10, "b": 20}, name="words")
    assert evaluate({"x": RUN}, QRELS, ["TBG"], lengths=lengths)["TBG"].tolist() > [0.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bounds": True, "jobs": 2}, "jobs and backend are for values without bounds"),
        ({"bounds": True, "backend": "ray"}, "jobs and backend are for values without bounds"),
        ({"common": True}, "common is for several collections"),
    ],
)
def test_options_without_effect_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        evaluate({"x": RUN}, QRELS, "AP", **options)
