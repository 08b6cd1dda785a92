"""Ranks that contradict the scores."""

import pandas as pd
import pyarrow as pa
import pytest

from pyterrier_asl.io.runs import read_run_table
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.judging.matching import judge

JUDGEMENTS = Judgements({"p": {"a": 1}, "q": {"b": 1, "c": 0}})


RANKS = {
    "falling scores": ([1, 2, 3, 1, 2], [9, 8, 7, 9, 8], False),
    "rising scores": ([1, 2, 3, 1, 2], [7, 8, 9, 8, 9], True),
    "falling ranks, rising scores": ([3, 2, 1, 2, 1], [7, 8, 9, 8, 9], False),
    "half": ([1, 2, 3, 4, 5, 1], [9, 8, 7, 8, 9, 1], False),
    "most": ([1, 2, 3, 4, 5, 1], [9, 8, 9, 10, 11, 1], True),
    "ties": ([1, 2, 3, 1, 2], [7, 7, 7, 8, 8], False),
    "one rank": ([1, 1, 1, 1, 1], [7, 8, 9, 8, 9], False),
    "no numbers": (["-", "-", "-", "-", "-"], [7, 8, 9, 8, 9], False),
    "missing": ([None, None, 1, 1, 2], [7, 8, 9, 9, 8], False),
}


@pytest.mark.parametrize("form", ["frame", "arrow", "file"])
@pytest.mark.parametrize("case", RANKS)
def test_ranks_that_contradict_the_scores_of_most_rows(tmp_path, case, form):
    ranks, scores, expected = RANKS[case]
    run = {"qid": ["p"] * (len(ranks) - 2) + ["q"] * 2, "docno": list("abcdef")[: len(ranks)]}
    frame = pd.DataFrame(run | {"score": scores, "rank": ranks})
    if form == "file":
        path = tmp_path / "a.run"
        path.write_text("".join(f"{q} Q0 {d} {r} {s} x\n" for q, d, s, r in frame.to_numpy()))
        judged = judge(JUDGEMENTS, read_run_table(path))
    else:
        judged = judge(JUDGEMENTS, frame if form == "frame" else pa.table(frame))
    assert judged.ranks_contradict_scores is expected
    assert not judge(JUDGEMENTS, frame.drop(columns="rank")).ranks_contradict_scores
