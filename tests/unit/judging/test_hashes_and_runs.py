"""Hashes of ids, and what a matched run holds (hashes.py, judged_run.py)."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from pyterrier_asl.io.runs import read_run_table
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.judging.matching import judge
from pyterrier_asl.judging.pair_index import SEED, PairIndex, hashes_of


def test_an_index_that_was_sent_keeps_its_seed():
    ids = pa.array(map(str, range(100)), pa.large_string())
    index = PairIndex(np.array([0, 100]), ids, np.uint64(12345))  # of another process
    sent = pickle.loads(pickle.dumps(index))
    assert sent.seed == index.seed != SEED
    assert sent.find(None, index.ids).tolist() == list(range(100))


def hash_by_loop(text: bytes, seed: int) -> int:
    """The hash by its definition, with Python's integers."""
    multiplier, mask = 0x9FB21C651E98DF25, 2**64 - 1
    words = [text[:8]] + [text[-8:]] * (len(text) > 8)
    words += [text[begin : begin + 8] for begin in range(8, len(text) - 8, 8)]
    state = len(text) * multiplier & mask
    for word in words:
        state = (state ^ int.from_bytes(word, "little")) * multiplier & mask
        state = (state ^ state >> 32) * seed & mask
    return state ^ state >> 32


def test_hashes_match_a_loop():
    """For ids of lengths around the eight bytes of a step, and for long ids."""
    sizes = [*range(34), *range(500, 529)]
    texts = ["".join(chr(97 + (7 * n + size) % 26) for n in range(size)) for size in sizes]
    expected = [hash_by_loop(text.encode(), int(SEED)) for text in texts]
    assert hashes_of(pa.array(texts, pa.large_string())).tolist() == expected
    assert len(set(expected)) == len(sizes)
    for begin in range(0, len(sizes), 7):  # with other ids before and after it
        part = pa.array(texts, pa.large_string())[begin : begin + 3]
        assert hashes_of(part).tolist() == expected[begin : begin + 3]


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
