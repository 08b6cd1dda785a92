"""Unknown names in arguments by name are errors, because defaults would replace them silently."""

import pytest
import small

import pyterrier_asl as asl
from pyterrier_asl.analysis import compare_techniques, rare_finds, rareness_without_own_group
from pyterrier_asl.common.choices import check_names

RUNS, QRELS = small.RUNS, small.QRELS
TRACKS = {"t": (RUNS, QRELS)}


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: asl.judges(QRELS, {"m": QRELS}, judge_rel={"M": 3}), "judge_rel names 'M'"),
        (lambda: rare_finds(RUNS, QRELS, groups={"z": "g"}), "groups names 'z'"),
        (lambda: rareness_without_own_group(RUNS, QRELS, {"z": "g"}), "groups names 'z'"),
        (
            lambda: compare_techniques(TRACKS, old={"t": "alpha", "T": "bravo"}, new="bravo"),
            r"old names 'T', which is none of the tracks: did you mean 't'\?",
        ),
    ],
)
def test_an_unknown_name_is_an_error(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def test_names_are_compared_as_text_and_the_first_unknown_one_is_named():
    check_names("groups", {1: "g"}, ["1", "2"], "runs")
    with pytest.raises(ValueError, match=r"of 0, 1, 2, 3, 4, 5, 6, 7, and 2 more\)"):
        check_names("groups", {"z": "g"}, range(10), "runs")
    with pytest.raises(ValueError, match="groups names 'bm52', .*: did you mean 'bm25'"):
        check_names("groups", ["bm25", "bm52", "plh"], ["bm25", "dph", "pl2"], "runs")
