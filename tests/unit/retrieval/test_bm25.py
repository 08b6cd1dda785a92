"""BM25: Eq. 1 written out as loops, and the transformer around it (weights.py)."""

import math

import brute_force
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyterrier_asl.retrieval.bm25 import BM25
from pyterrier_asl.retrieval.index import TermIndex
from pyterrier_asl.retrieval.weights import idf_weights, robertson_weights

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon"]


def indexed(texts: list[str]) -> TermIndex:
    documents = [{"docno": f"d{i}", "text": text} for i, text in enumerate(texts)]
    return TermIndex.from_documents(documents, stemmer=None, stopwords=None, verbose=False)


def eq1(texts: list[str], query: dict[str, float], b: float, k1: float) -> dict[str, float]:
    """Clarke's Eq. 1 with query weights; documents without a counted term have no score."""
    docs = {f"d{i}": text.split() for i, text in enumerate(texts)}
    n = {term: sum(term in words for words in docs.values()) for term in query}
    w = {term: math.log((len(docs) - n[term] + 0.5) / (n[term] + 0.5)) for term in query}
    counted = {term: max(weight, 0) for term, weight in w.items()}
    return brute_force.bm25_scores(docs, query, counted, b, k1)


def test_weights_are_robertsons():
    assert robertson_weights(50, 1000) == pytest.approx(math.log(950.5 / 50.5), rel=1e-15)
    assert idf_weights("robertson", [50, 500, 600], 1000)[1:].tolist() == [0, 0]
    assert idf_weights("terrier", [50, 600], 1000) == pytest.approx(
        [math.log2(950.5 / 50.5), math.log2(400.5 / 600.5)], rel=1e-14
    )
    with pytest.raises(ValueError, match="idf .lucene. is unknown: use one of .robertson., .terr"):
        idf_weights("lucene", [1], 10)


def test_worked_example():
    """950 documents without the term and 50 with it; l is 300 and l_avg 450."""
    toks = [{"term": 3, "filler": 297}, *[{"term": 1}] * 49, *[{"other": 1}] * 949]
    toks.append({"other": 450 * 1000 - 300 - 998})
    documents = [{"docno": f"d{i}", "toks": counts} for i, counts in enumerate(toks)]
    index = TermIndex.from_documents(documents, verbose=False)
    assert index.doc_lengths.mean() == 450
    scores = {(0.9, 0.4): 4.425816006928272, (0.761, 0.267): 4.198360565442937}
    for (k1, b), score in (scores | {(1.902, 0.978): 5.967433297201243}).items():
        found = index.bm25(b=b, k1=k1).search("term").set_index("docno")["score"]
        assert found["d0"] == pytest.approx(score, rel=1e-9)


COLLECTIONS = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=0, max_size=7).map(" ".join), min_size=1, max_size=12
).filter(lambda texts: any(texts))
QUERIES = st.lists(
    st.dictionaries(
        st.sampled_from([*WORDS, "unknown"]), st.sampled_from([0.0, 0.2, 1.0, 2.5]), max_size=5
    ),
    min_size=1,
    max_size=4,
)


@given(COLLECTIONS, QUERIES, st.floats(0, 1), st.floats(0, 20), st.integers(1, 14))
def test_is_eq1_on_any_collection(texts, queries, b, k1, num_results):
    frame = pd.DataFrame({"qid": [f"q{i}" for i in range(len(queries))], "query_toks": queries})
    found = indexed(texts).bm25(b=b, k1=k1, num_results=num_results)(frame)
    for qid, query in zip(frame["qid"], queries):
        expected = eq1(texts, query, b, k1)
        mine = found[found["qid"] == qid]
        assert len(mine) == min(num_results, len(expected))
        assert mine["score"].tolist() == pytest.approx(
            sorted(expected.values(), reverse=True)[:num_results], rel=1e-12
        )
        assert mine["score"].tolist() == pytest.approx([expected[d] for d in mine["docno"]])
        assert mine["rank"].tolist() == list(range(len(mine)))
        # Equal scores are ordered by docid, also at the cut-off.
        pairs = [*zip(-mine["score"], mine["docid"])]
        assert pairs == sorted(pairs)


# -- the transformer ------------------------------------------------------------------------------

TEXTS = ["radio waves", "radio receivers", "wave guides", "transistors", "ferrite", "cores"]
TEXTS += ["masers"]


def small_index() -> TermIndex:
    documents = [{"docno": f"d{i}", "text": text} for i, text in enumerate(TEXTS)]
    return TermIndex.from_documents(documents, verbose=False)


@pytest.fixture(scope="module")
def index() -> TermIndex:
    return small_index()


class TestAsATransformer(pt.testing.TransformerTestCase):
    @staticmethod
    def get_transformer():
        return small_index().bm25()


def test_columns_and_types(index):
    queries = pd.DataFrame({"qid": ["1", "2"], "query": ["wave", "radio"], "user": [7, 8]})
    found = index.bm25()(queries)
    assert list(found.columns) == ["qid", "query", "user", "docid", "docno", "rank", "score"]
    numbers = ["docid", "rank", "score"]
    assert found.dtypes.astype(str)[numbers].tolist() == ["int64", "int64", "float64"]
    assert all(isinstance(docno, str) for docno in found["docno"])
    assert found["user"].tolist() == [7, 7, 8, 8]
    assert found["docno"].tolist() == ["d0", "d2", "d0", "d1"]
    empty = index.bm25()(queries.head(0))
    assert len(empty) == 0
    assert list(empty.columns) == list(found.columns)
    assert empty.dtypes[numbers].equals(found.dtypes[numbers])


def test_a_query_is_tokenised_as_the_index_was_and_query_toks_are_not(index):
    bm25 = index.bm25()
    assert bm25.search("WAVES, and the wave")["docno"].tolist() == ["d0", "d2"]
    toks = pd.DataFrame({"qid": ["1", "2"], "query_toks": [{"wave": 1.0}, {"waves": 1.0}]})
    assert bm25(toks)["qid"].tolist() == ["1", "1"]


def test_query_toks_go_before_query_where_there_are_any(index):
    """A qid that is there twice is answered twice, and columns of earlier results are replaced."""
    queries = pd.DataFrame({"qid": list("12341"), "score": [99.0] * 5, "rank": [3] * 5})
    queries["query"] = ["radio", "ferrite", "cores", "unheard of", "cores"]
    queries["query_toks"] = [{"transistor": 1.0}, None, {}, None, None]
    found = index.bm25()(queries)
    expected = [["1", "d3", 0], ["2", "d4", 0], ["1", "d5", 0]]
    assert found[["qid", "docno", "rank"]].values.tolist() == expected
    columns = ["qid", "query", "query_toks", "docid", "docno", "rank", "score"]
    assert list(found.columns) == columns


@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1), min_size=2, max_size=6),
    st.lists(st.sampled_from([*WORDS, "zeta"]), min_size=1, max_size=4),
    st.floats(0, 1),
    st.data(),
)
def test_given_documents_are_scored_by_equation_1(texts, words, b, data):
    texts = [" ".join(text) for text in texts]
    given_docs = data.draw(st.lists(st.sampled_from(range(len(texts))), unique=True, min_size=1))
    bm25 = indexed(texts).bm25(b=b, k1=0.9)
    docnos = [f"d{doc}" for doc in given_docs]
    query = " ".join(words)
    rows = pd.DataFrame({"qid": "1", "query": query, "docno": docnos, "score": 7.0, "of": docnos})
    found = bm25(pd.concat([rows.assign(qid="2", query="zeta"), rows]))
    scores = eq1(texts, {word: words.count(word) for word in words}, b, 0.9)
    expected = sorted(docnos, key=lambda docno: (-scores.get(docno, 0), int(docno[1:])))
    assert found["qid"].tolist() == ["2"] * len(docnos) + ["1"] * len(docnos)
    first = found[found["qid"] == "1"]
    assert first["score"].tolist() == pytest.approx([scores.get(d, 0) for d in first["docno"]])
    assert sorted(first["docno"]) == sorted(expected) and (first["of"] == first["docno"]).all()
    assert first["rank"].tolist() == list(range(len(docnos)))
    assert (found[found["qid"] == "2"]["score"] == 0).all()
    retrieved = bm25.search(query).set_index("docno")["score"]
    own = first.set_index("docno")["score"]
    both = retrieved.index.intersection(own.index)
    assert own[both].tolist() == retrieved[both].tolist()  # to the last bit


@pytest.mark.parametrize(
    "options", [{}, {"k3": 0.5}, {"b": 0.1, "k1": 0.3}, {"idf": "terrier", "k3": 8}], ids=str
)
def test_reranking_what_was_retrieved_changes_nothing(options):
    """Equal scores stay in the order of docids, which is not that of docnos."""
    texts = ["radio wave wave", "radio", "wave mast", "wave mast", "radio radio", "mast", "tube"]
    docnos = ["d7", "d3", "d5", "d1", "d2", "d6", "d4"]
    documents = [{"docno": docno, "text": text} for docno, text in zip(docnos, texts)]
    index = TermIndex.from_documents(documents, stemmer=None, verbose=False)
    toks = [{"radio": 1.0, "wave": 0.3}, {"mast": 2.0, "wave": 1.0}]
    queries = pd.DataFrame({"qid": ["q2", "q1"], "query_toks": toks})
    bm25 = index.bm25(**options)
    retrieved = bm25(queries)
    mixed = retrieved.sample(frac=1, random_state=2).sort_values("qid", ascending=False)
    pd.testing.assert_frame_equal(bm25(mixed)[[*retrieved]], retrieved)
    assert not options or retrieved["score"].tolist() != index.bm25()(queries)["score"].tolist()
    first = index.bm25(**options, num_results=2)(mixed)
    assert first["docno"].tolist() == retrieved[retrieved["rank"] < 2]["docno"].tolist()


def test_frames_it_cannot_take_are_refused(index):
    invalid = pt.validate.InputValidationError
    for columns, error, message in (
        ({}, invalid, "query"),
        ({"docno": "d1"}, invalid, "query"),
        ({"query": "radio", "docno": "other"}, KeyError, "other"),
        ({"query": None}, ValueError, "query '1' has neither query_toks.*query is None"),
        ({"query_toks": [{"wave": math.nan}]}, ValueError, "weight nan: give finite weights"),
    ):
        with pytest.raises(error, match=message):
            index.bm25()(pd.DataFrame({"qid": ["1"], **columns}))


def test_is_its_parameters(index):
    bm25 = index.bm25(b=0.4, k1=0.9)
    assert bm25 == index.bm25(k1=0.9, b=0.4)
    assert hash(bm25) == hash(index.bm25(k1=0.9, b=0.4))
    assert bm25 != index.bm25(b=0.4)
    assert repr(bm25).startswith("BM25(TermIndex(7 documents")
    assert "b=0.4, k1=0.9, num_results=1000, idf='robertson', k3=None" in repr(bm25)
    assert bm25.get_parameter("b") == 0.4
    assert [str(index.bm25()), str(bm25)] == ["BM25", "BM25(b=0.4, k1=0.9)"]
    bm25.set_parameter("b", 0.75)
    bm25.set_parameter("k3", 8)
    assert str(bm25) == "BM25(k1=0.9, k3=8)"
    assert isinstance(pt.inspect.transformer_apply_attributes(bm25, b=0.1), BM25)


def test_a_rank_cutoff_is_built_in(index):
    cut = (index.bm25() % 1).compile()
    assert isinstance(cut, BM25) and cut.num_results == 1
    assert (index.bm25(num_results=2) % 5).compile().num_results == 2


@pytest.mark.parametrize(("relevant", "b"), [("d0", 0.0), ("d1", 1.0)])
def test_grid_search_works_on_b_and_k1(relevant, b):
    """The long document is first without length normalization, and the short one with it."""
    bm25 = indexed(["radio radio " + "word " * 30, "radio", *WORDS]).bm25()
    topics = pd.DataFrame({"qid": ["1"], "query": ["radio"]})
    qrels = pd.DataFrame({"qid": ["1"], "docno": [relevant], "label": [1]})
    grid = {bm25: {"b": [0.0, 1.0], "k1": [0.9, 1.2]}}
    assert pt.GridSearch(bm25, grid, topics, qrels, "map", verbose=False).b == b
    assert bm25 in {bm25: 1}


def test_weights_saturate_over_the_largest_with_k3(index):
    """(k3 + 1) q / (k3 + q), with q the weight divided by the largest weight of the query."""
    plain, saturated = index.bm25(idf="terrier"), index.bm25(idf="terrier", k3=8)
    query = pd.DataFrame({"qid": ["1"], "query_toks": [{"ferrit": 1.0, "core": 2.0}]})
    one = pd.DataFrame({"qid": ["1"], "query_toks": [{"ferrit": 1.0}]})
    f = plain(one)["score"][0]
    both = saturated(query).set_index("docno")["score"]
    assert both["d5"] == pytest.approx(f)  # the largest: 9 * 1 / (8 + 1)
    assert both["d4"] == pytest.approx(f * 9 * 0.5 / 8.5)
    query["query_toks"] = [{"ferrit": 1.0, "core": -2.0}]  # the largest of absolute values
    both = saturated(query).set_index("docno")["score"]
    assert (both["d4"], both["d5"]) == pytest.approx((f * 9 * 0.5 / 8.5, -f))


def test_negative_weights_are_dropped_by_one_idf_and_kept_by_the_other():
    texts = ["radio wave", "radio", "radio", "guide"]
    index = indexed(texts)
    assert len(index.bm25().search("radio")) == 0
    kept = index.bm25(idf="terrier").search("radio")
    assert len(kept) == 3 and (kept["score"] < 0).all()
