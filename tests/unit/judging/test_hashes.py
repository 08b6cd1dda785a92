"""Ids made up to collide in a hash that anyone can compute do not collide here."""

import pickle

import numpy as np

from pyterrier_asl.judging.matching import PairIndex, ids_of

MULTIPLIER, SHIFT = np.uint64(0x9FB21C651E98DF25), np.uint64(32)
EIGHT = np.uint64(8 * int(MULTIPLIER) % 2**64)
INVERSE = np.uint64(pow(int(MULTIPLIER), -1, 2**64))


def crafted(n):
    """Ids of eight bytes that a hash of this kind without a seed puts into one bucket."""
    hashes = np.arange(n, dtype=np.uint64) << np.uint64(32)  # the low half is alike
    for _ in range(2):  # backwards through both steps; shifting by half is its own inverse
        hashes = (hashes ^ (hashes >> SHIFT)) * INVERSE
    words = hashes ^ EIGHT
    return ids_of(np.arange(n + 1) * 8, words.view(np.uint8))


def unseeded(words):
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
    buckets = np.bincount((index.hashes & low).astype(np.int64))
    assert buckets.max() < 20
    assert index.find(None, ids[:10]).tolist() == list(range(10))


def test_an_index_that_was_sent_keeps_its_seed():
    index = PairIndex(np.array([0, 100]), crafted(100))
    index.seed = np.uint64(12345)  # that of another process
    assert len(index.hashes) == 100
    sent = pickle.loads(pickle.dumps(index))
    assert sent.seed == index.seed and np.array_equal(sent.hashes, index.hashes)
    assert sent.find(None, index.ids).tolist() == list(range(100))
