"""A run from its parts."""

import pytest

from pyterrier_asl.judging.judged_run import SplitQuery, complete_run
from pyterrier_asl.judging.judgements import Judgements

JUDGEMENTS = Judgements({"p": {"a": 1}, "q": {"b": 1, "c": 0}})


def test_a_run_of_one_part_keeps_all_rows_and_a_run_of_several_the_judged_rows():
    run = {"q": {"x": 3, "b": 2, "c": 1}, "p": {"a": 1}}
    parts = [JUDGEMENTS.judge_part({qid: run[qid]}) for qid in run]
    assert complete_run(parts[:1]) is parts[0]
    joined, expected = complete_run(parts), JUDGEMENTS.judge(run)
    for name in ("queries", "ranks", "pairs", "retrieved"):
        assert getattr(joined, name).tolist() == getattr(expected, name).tolist(), name
    with pytest.raises(SplitQuery, match="the rows of query 'q' are not adjacent"):
        complete_run([*parts, parts[0]])
