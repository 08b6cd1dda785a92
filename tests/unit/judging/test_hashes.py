"""Hashes of ids, which begin with a secret seed, against a loop. Tests of matching.py."""

import pickle

import numpy as np
import pyarrow as pa

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
