"""Ids that were chosen to collide in a hash without a seed do not collide in this package.
Tests of matching.py."""

import pickle

import numpy as np
import pyarrow as pa

from pyterrier_asl.io.values import ids_of
from pyterrier_asl.judging.matching import SEED, PairIndex, hashes_of

MULTIPLIER, SHIFT = np.uint64(0x9FB21C651E98DF25), np.uint64(32)
EIGHT = np.uint64(8 * int(MULTIPLIER) % 2**64)
INVERSE = np.uint64(pow(int(MULTIPLIER), -1, 2**64))


def crafted(n):
    """Ids of eight bytes with equal low bits of the hash without a seed."""
    hashes = np.arange(n, dtype=np.uint64) << np.uint64(32)  # the low halves are equal
    hashes ^= hashes >> SHIFT  # inverts the steps; the shift by half is its own inverse
    hashes = (hashes * INVERSE ^ (hashes * INVERSE >> SHIFT)) * INVERSE
    words = hashes ^ EIGHT
    return ids_of(np.arange(n + 1) * 8, words.view(np.uint8))


def unseeded(words):
    """The hash with the multiplier as its seed."""
    value = (EIGHT ^ words) * MULTIPLIER
    value = (value ^ (value >> SHIFT)) * MULTIPLIER
    return value ^ (value >> SHIFT)


def test_crafted_ids_fall_into_many_buckets():
    n = 60_000
    ids = crafted(n)
    words = np.frombuffer(ids.buffers()[2], dtype=np.uint64)
    low = np.uint64(2**17 - 1)
    assert len(np.unique(unseeded(words) & low)) == 1
    index = PairIndex(np.array([0, n]), ids)
    buckets = np.bincount((hashes_of(index.ids, index.seed) & low).astype(np.int64))
    assert buckets.max() < 1000, "without a seed all 60,000 are in one"
    assert index.find(None, ids[:10]).tolist() == list(range(10))


def test_an_index_that_was_sent_keeps_its_seed():
    index = PairIndex(np.array([0, 100]), crafted(100), np.uint64(12345))  # of another process
    sent = pickle.loads(pickle.dumps(index))
    assert sent.seed == index.seed
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
