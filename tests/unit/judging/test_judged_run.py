"""A run from its parts."""

import pytest

from pyterrier_asl.judging.judged_run import join_parts
from pyterrier_asl.judging.judgements import Judgements

JUDGEMENTS = Judgements({"p": {"a": 1}, "q": {"b": 1, "c": 0}})


def test_parts_of_a_run_have_its_judged_rows():
    run = {"q": {"x": 3, "b": 2, "c": 1}, "p": {"a": 1}}
    parts = [JUDGEMENTS.judge_part({qid: run[qid]}) for qid in run]
    joined, expected = join_parts(parts), JUDGEMENTS.judge(run)
    for name in ("queries", "ranks", "pairs", "retrieved"):
        assert getattr(joined, name).tolist() == getattr(expected, name).tolist(), name
    with pytest.raises(ValueError, match="two batches answer query 'q'"):
        join_parts([*parts, parts[0]])
