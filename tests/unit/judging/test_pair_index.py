"""The join of known and other ids, for few and for many ids, against a dict."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyterrier_asl.io.columns import Columns, run_columns
from pyterrier_asl.io.values import codes_of_text
from pyterrier_asl.judging.judgements import Judgements
from pyterrier_asl.judging.matching import match
from pyterrier_asl.judging.pair_index import SEED, PairIndex, hashes_of
from pyterrier_asl.judging.ranking import rows_by_query


def text(ids) -> pa.LargeStringArray:
    return pa.array(ids, type=pa.large_string())


#: Many known ids.
MANY = text(f"other {number}" for number in range(3_000))


@pytest.fixture(params=["few", "many"])
def build(request):
    """An index of few ids, or of these ids and many others in another group."""
    return {"few": PairIndex, "many": index_with_many}[request.param]


def index_with_many(offsets, ids, **options) -> PairIndex:
    ends = np.append(offsets, offsets[-1] + len(MANY))
    return PairIndex(ends, pa.concat_arrays([ids, MANY]), **options)


id_ = st.one_of(
    st.sampled_from(["", "a", "b", "d1", "d10", "12345678", "123456789", "é", "漢字", "\0", "a\0"]),
    st.text(max_size=20).filter(lambda t: t.isprintable()),
)


def by_dict(offsets, known, groups, ids):
    spans = enumerate(zip(offsets, offsets[1:]))
    places = {(group, known[at]): at for group, (begin, end) in spans for at in range(begin, end)}
    return [places.get(pair, -1) for pair in zip(groups, ids)]


@given(data=st.data())
def test_pairs_are_found_where_a_dict_finds_them(data):
    groups = data.draw(st.lists(st.lists(id_, max_size=8), min_size=1, max_size=5))
    offsets = np.cumsum([0, *map(len, groups)])
    known = [one for group in groups for one in group]
    sought = data.draw(st.lists(st.tuples(st.integers(-1, len(groups) - 1), id_), max_size=30))
    sought += [(g, one) for g, group in enumerate(groups) for one in group]
    numbers = np.array([g for g, _ in sought], dtype=np.int64)
    ids = [one for _, one in sought]
    expected = by_dict(offsets, known, numbers, ids)
    spans = zip(offsets, offsets[1:])
    again = [i for begin, end in spans for i in range(begin, end) if known[i] in known[i + 1 : end]]
    for index in (PairIndex(offsets, text(known)), index_with_many(offsets, text(known))):
        assert index.find(numbers, text(ids)).tolist() == expected
        assert sorted(index.repeated.tolist()) == again
        sent = pickle.loads(pickle.dumps(index))
        assert sent.find(numbers, text(ids)).tolist() == expected


@pytest.mark.parametrize("known", [[], ["a"]])
def test_nothing_known_or_nothing_sought(build, known):
    index = build(np.array([0, len(known)]), text(known))
    assert index.find(None, text([])).tolist() == []
    assert build(np.array([0, 0]), text([])).find(None, text(["a"])).tolist() == [-1]
    assert index.repeated.tolist() == []


@given(
    ids=st.lists(st.sampled_from(["", "a", "ab", "b", "é"]), max_size=30),
    kind=st.sampled_from([list, pd.Series, pd.Categorical, text]),
    known=st.sampled_from([None, ["b", "x", "a"]]),
)
def test_answers_match_a_loop(ids, kind, known):
    numbers = np.zeros(len(ids))
    run = {"qid": pd.Series(kind(ids)) if kind is pd.Categorical else kind(ids)}
    table = run_columns(pd.DataFrame({**run, "docno": "d", "score": numbers}))
    assert table.qid.to_pylist() == ids
    answers, queries = rows_by_query(table, None if known is None else text(known))
    expected = [*dict.fromkeys(ids)] if known is None else known
    assert queries.to_pylist() == expected
    of = [[row for row, qid in enumerate(ids) if qid == query] for query in expected]
    assert answers.rows.tolist() == sum(of, [])
    assert np.diff(answers.offsets).tolist() == [len(each) for each in of]


def test_slices_of_arrow_text_begin_where_they_begin(build):
    whole = text(["x", "y", "a", "b", "b"])
    part = whole.slice(2)
    assert codes_of_text(part, "id")[0].tolist() == [0, 1, 1]
    index = build(np.array([0, 2]), whole.slice(1, 2))
    assert index.find(None, part).tolist() == [1, -1, -1]


def test_more_ids_than_one_thread_looks_up_are_found():
    ids = [str(i % 7000) for i in range(150_000)]
    offsets = np.arange(0, 150_001, 5000)
    index, groups = PairIndex(offsets, text(ids)), np.arange(150_000) // 5000
    assert index.find(groups, text(ids)).tolist() == by_dict(offsets, ids, groups, ids)


def colliding(count: int) -> list[bytes]:
    """Ids of sixteen bytes with equal hashes: the second half inverts the first."""
    multiplier, mask = 0x9FB21C651E98DF25, 2**64 - 1
    made = []
    for first in range(count):
        state = ((16 * multiplier & mask) ^ first) * multiplier & mask
        made.append(first.to_bytes(8, "little") + (state ^ state >> 32).to_bytes(8, "little"))
    return made


def test_ids_of_one_hash_are_distinguished(build):
    seed = np.uint64(1)  # a known seed, so that ids can collide
    words = colliding(40)
    ends = np.arange(0, 16 * 40 + 1, 16, dtype=np.int64)
    ids = pa.LargeStringArray.from_buffers(40, pa.py_buffer(ends), pa.py_buffer(b"".join(words)))
    index = build(np.array([0, 30]), ids.slice(0, 30), seed=seed)
    assert len({*hashes_of(index.ids.slice(0, 30), seed).tolist()}) == 1
    assert index.find(None, ids).tolist() == [*range(30), *[-1] * 10]
    assert index.repeated.tolist() == []
    halves = build(np.array([0, 15, 30]), ids.slice(0, 30), seed=seed)
    for group in (0, 1):
        expected = [place if place // 15 == group else -1 for place in range(40)]
        assert halves.find(np.full(40, group), ids).tolist() == expected
    twice = pa.concat_arrays([ids, ids])
    run = Columns(np.zeros(80, dtype=np.int32), text(["q"]), twice, np.arange(80.0, 0, -1), None)
    judgements = Judgements({"q": {"d": 1}})
    judgements.index = index
    found = match(judgements, run, rows_by_query(run)[0])
    assert found.pairs.tolist() == [*range(30)]
    assert found.ranks.tolist() == [*range(1, 31)]
    assert found.ranking.rows.tolist() == [*range(40)] and found.has_duplicates


def test_a_query_with_more_rows_than_fit_below_a_key():
    """Row numbers take 18 bits."""
    rows = 2**18 + 2
    ids = text([*map(str, range(rows - 1)), "7"])
    scores = -np.arange(rows, dtype=float)
    run = Columns(np.zeros(rows, dtype=np.int32), text(["q"]), ids, scores, None)
    known = Judgements({"q": {str(rows - 2): 1, "x": 1}})
    found = match(known, run, rows_by_query(run)[0])
    assert (found.ranks.tolist(), found.pairs.tolist()) == ([rows - 1], [0])
    assert np.array_equal(found.ranking.rows, np.arange(rows - 1)) and found.has_duplicates


def test_an_index_that_was_sent_keeps_its_seed():
    index = PairIndex(np.array([0, len(MANY)]), MANY, np.uint64(12345))  # of another process
    sent = pickle.loads(pickle.dumps(index))
    assert sent.seed == index.seed != SEED
    assert sent.find(None, index.ids).tolist() == [*range(len(MANY))]


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
