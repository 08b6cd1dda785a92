"""Unknown names in arguments by name are errors, because defaults would replace them silently."""

import pytest
import small

from pyterrier_asl.common.choices import check_names

RUNS, QRELS = small.RUNS, small.QRELS


def test_names_are_compared_as_text_and_the_first_unknown_one_is_named():
    check_names("groups", {1: "g"}, ["1", "2"], "runs")
    with pytest.raises(ValueError, match=r"of 0, 1, 2, 3, 4, 5, 6, 7, and 2 more\)"):
        check_names("groups", {"z": "g"}, range(10), "runs")
    with pytest.raises(ValueError, match="groups names 'bm52', .*: did you mean 'bm25'"):
        check_names("groups", ["bm25", "bm52", "plh"], ["bm25", "dph", "pl2"], "runs")
