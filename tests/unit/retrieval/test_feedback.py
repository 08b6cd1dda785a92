"""Robertson's feedback: the worked example, the definition as loops, and the transformer."""

import math
import pickle
from itertools import compress
from types import SimpleNamespace

import brute_force
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyterrier_asl.retrieval.build import DocTerms
from pyterrier_asl.retrieval.feedback import RobertsonPRF, candidates_of, grow_weights, select_terms
from pyterrier_asl.retrieval.index import TermIndex


def select(terms: dict[str, tuple[int, float]], size: int, fb_terms: int, **options):
    """The sorted candidates by term, and the selected ones, best first.

    Args:
        terms: r and n of each term; r = 0: it is a term of the query.
        size: N.
        fb_terms: the number of selected terms.
        options: ``m``, and ``weights``.
    """
    names, (r, n) = sorted(terms), zip(*(terms[name] for name in sorted(terms)))
    index = SimpleNamespace(num_docs=size, document_frequencies=np.array(n).__getitem__)
    docs = [[i for i in range(len(r)) if r[i] > doc] for doc in range(options.get("m", max(r)))]
    ids = np.array(sum(docs, []), np.int64)
    documents = DocTerms(np.cumsum([0, *map(len, docs)]), ids, np.ones_like(ids))
    rows = np.zeros(len(docs), np.int64)
    own = [[None, *(i for i in range(len(r)) if r[i] == 0)]]
    kind = options.get("weights", "idf")
    best, selected = select_terms(candidates_of(index, rows, documents, own, kind), fb_terms)
    in_order = [names[i] for i in best.terms]
    return dict(zip(in_order, zip(best.w, best.r * best.w))), list(compress(in_order, selected))


def test_worked_example():
    """N = 1000; the query is q1; e4 is in most documents, e3 in a single feedback document."""
    terms = {"q1": (4, 50), "e1": (3, 20), "e2": (5, 200), "e3": (1, 2), "e4": (5, 600)}
    found, selected = select(terms, 1000, 3)
    w = [2.93501482564717, 3.8676377594920384, 1.3844222856901456, 5.989963420981715]
    rw = [11.74005930258868, 11.602913278476116, 6.922111428450728, 5.989963420981715]
    expected = [*zip(w, rw), (-0.40504887501162423, -2.0252443750581213)]
    assert list(found) == ["q1", "e1", "e2", "e3", "e4"]
    assert np.array([*found.values()]) == pytest.approx(np.array(expected), abs=1e-9)
    assert grow_weights({"q1": 1.0}, selected, 0.2) == pytest.approx(
        {"q1": 1.2, "e1": 0.2, "e2": 0.2}, abs=1e-9
    )


def test_ties_go_by_term_and_weightless_terms_never():
    tied = {"b": (1, 2), "a": (1, 2), "B": (1, 2), "the": (5, 8), "half": (3, 5)}
    found, selected = select(tied, 10, 2)
    assert list(found) == ["B", "a", "b", "half", "the"]  # code points: B before a before b
    assert selected == ["B", "a"]
    assert select(tied, 10, 9)[1] == ["B", "a", "b"]


def test_relevance_weights_worked_by_hand():
    """N = 100, m = 4 feedback documents."""
    terms = {"all": (4, 10), "half": (2, 40), "none": (0, 5), "common": (3, 90)}
    found, selected = select(terms, 100, 2, weights="rsj", m=4)
    quotients = {
        **{"all": 4.5 * 90.5 / (6.5 * 0.5), "half": 2.5 * 58.5 / (38.5 * 2.5)},
        **{"none": 0.5 * 91.5 / (5.5 * 4.5), "common": 3.5 * 9.5 / (87.5 * 1.5)},
    }
    expected = {name: math.log(quotient) for name, quotient in quotients.items()}
    assert {name: w for name, (w, _) in found.items()} == pytest.approx(expected)
    assert selected == ["all", "half"]
    assert found["none"][1] == 0 < found["none"][0]  # r_t = 0: never selected


def test_values_within_a_billionth_tie():
    """2 ln 3 = ln 9: with N = 58, n = 14.25 and r = 2 has the value of n = 5.4 and r = 1."""
    for further, expected in ((1e-9, ["a", "b", "c"]), (1e-7, ["b", "a", "c"])):
        close = {"c": (1, 9), "b": (2, 14.25), "a": (1, 5.4 + further)}
        found, selected = select(close, 58, 1)
        assert list(found) == expected and selected == expected[:1]
        assert len({value for _, value in found.values()}) == 3


# -- against the definition -----------------------------------------------------------------------

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"]
COLLECTIONS = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=6, max_size=14
)
QUERIES = st.dictionaries(st.sampled_from([*WORDS, "unknown"]), st.floats(0.1, 3), max_size=4)
RANKINGS = st.permutations(range(6)).flatmap(
    lambda docs: st.integers(0, 6).map(lambda size: docs[:size])
)


def indexed(texts: list[str]) -> TermIndex:
    documents = [{"docno": f"d{i}", "text": text} for i, text in enumerate(texts)]
    return TermIndex.from_documents(documents, stemmer=None, stopwords=None, verbose=False)


@given(
    COLLECTIONS,
    st.lists(st.tuples(QUERIES, RANKINGS), min_size=1, max_size=3),
    st.integers(1, 7),
    st.integers(1, 8),
    st.just(0.0) | st.floats(0.1, 1),
    st.sampled_from(["idf", "rsj"]),
)
def test_is_the_definition_on_any_collection(texts, queries, m, n, gamma, kind):
    """Rankings of any documents, shorter than m or without a document (m = 0)."""
    rows = [
        {"qid": f"q{i}", "query_toks": query, "docno": doc, "rank": rank}
        for i, (query, ranking) in enumerate(queries)
        for rank, doc in enumerate([f"d{doc}" for doc in ranking] or [None])
    ]
    index = indexed(texts)
    prf = RobertsonPRF(index)
    for name, value in dict(fb_docs=m, fb_terms=n, gamma=gamma, weights=kind).items():
        prf.set_parameter(name, value)
    found = prf(pd.DataFrame(rows).sample(frac=1, random_state=0))
    retrieved = index.bm25(b=0.3, k1=0.8)(found)
    assert len(found) == len(queries)
    docs = {f"d{i}": text.split() for i, text in enumerate(texts)}
    for i, (query, ranking) in enumerate(queries):
        ranking = [f"d{doc}" for doc in ranking]
        expected, w = brute_force.robertson_feedback(docs, query, ranking, m, n, gamma, kind)
        new = found[found["qid"] == f"q{i}"].iloc[0]
        assert new["query_toks"] == pytest.approx(expected)
        if kind == "idf":
            assert list(new["query_toks"]) == list(expected)
        elif new["query_tok_weights"] is not None:
            assert new["query_tok_weights"] == pytest.approx(w)
        scores = brute_force.bm25_scores(docs, expected, w, 0.3, 0.8)
        mine = retrieved[retrieved["qid"] == f"q{i}"]
        assert dict(zip(mine["docno"], mine["score"])) == pytest.approx(scores)


# -- the transformer ------------------------------------------------------------------------------

TEXTS = ["radio waves and the scattering of waves", "a radio receiver"]
TEXTS += ["the voltage of a transistor", "ferrite cores", "transistor receivers", "masers", ""]


def small_index() -> TermIndex:
    documents = [{"docno": f"d{i}", "text": text} for i, text in enumerate(TEXTS, 1)]
    return TermIndex.from_documents(documents, verbose=False)


@pytest.fixture(scope="module")
def index() -> TermIndex:
    return small_index()


def results(*docnos: str, **columns) -> pd.DataFrame:
    return pd.DataFrame({"qid": "1", "query": "waves", "docno": list(docnos), **columns})


class TestAsATransformer(pt.testing.TransformerTestCase):
    @staticmethod
    def get_transformer():
        return RobertsonPRF(small_index())


def test_the_query_before_is_kept(index):
    prf = RobertsonPRF(index, fb_terms=1)
    first = prf(results("d2", query_0="earlier", user="me"))
    assert set(first.columns) == {"qid", "query", "query_0", "query_1", "query_toks"}
    assert first[["query", "query_0", "query_1"]].values.tolist() == [["waves", "waves", "earlier"]]
    assert pt.rewrite.reset()(first)["query"].tolist() == ["waves"]


def test_terms_come_from_query_toks_where_there_are_any(index):
    prf = RobertsonPRF(index, fb_terms=1, gamma=0.5)
    toks = results("d4", query_toks=[{"waves": 2.0}])
    assert prf(toks)["query_toks"][0] == {"waves": 2.0, "core": 0.5}
    alone = prf(toks.drop(columns="query"))
    assert list(alone.columns) == ["qid", "query_toks"]
    assert alone["query_toks"][0] == {"waves": 2.0, "core": 0.5}


def test_the_first_documents_have_the_lowest_rank_or_the_highest_score(index):
    prf = RobertsonPRF(index, fb_docs=1, fb_terms=1, gamma=0.5)
    by_rank = prf(results("d2", "d4", rank=[1, 0], score=[9.0, 1.0]))
    by_score = prf(results("d2", "d4", score=[1.0, 9.0]))
    by_place = prf(results("d4", "d2"))
    for found in (by_rank, by_score, by_place):
        assert found["query_toks"][0] == {"wave": 1.0, "core": 0.5}
    two = RobertsonPRF(index, fb_docs=2, fb_terms=9)  # a document that is there twice counts once
    terms = two.expansion_terms(results("d4", "d4", "d6", rank=[0, 1, 2]))
    assert dict(zip(terms["term"], terms["r"])) == {"core": 1, "ferrit": 1, "maser": 1}


def test_two_queries_of_one_qid_are_refused(index):
    """Whether they differ in their text or in their terms, in feedback and in reranking."""
    topics = pd.DataFrame({"qid": ["q1", "q0", "q0"], "query": ["waves", "radio", "masers"]})
    terms = pd.DataFrame({"qid": [7, 7], "query_toks": [{"radio": 1.0}, {"maser": 1.0}]})
    for queries, qid in ((topics, "q0"), (terms, "7")):
        found = index.bm25()(queries).sample(frac=1, random_state=3)
        for transformer in (RobertsonPRF(index), index.bm25(b=0)):
            with pytest.raises(ValueError, match=f"2 queries have the id '{qid}': give each"):
                transformer(found)
    toks = pd.concat([results("d1", query_toks=[{"radio": 1.0}]) for _ in range(2)])
    assert len(RobertsonPRF(index)(toks)) == 1  # equal terms in two dicts are one query


def test_an_empty_frame_gives_an_empty_frame(index):
    found = RobertsonPRF(index)(results().assign(rank=[], score=[]))
    assert len(found) == 0
    assert set(found.columns) == {"qid", "query", "query_0", "query_toks"}
    assert len(RobertsonPRF(index).expansion_terms(results())) == 0


def test_expansion_terms(index):
    """Feedback is from d1 and d2: radio is in both (2 of 7 documents), other terms in one."""
    prf = RobertsonPRF(index, fb_terms=2, gamma=0.5)
    table = prf.expansion_terms(results("d1", "d2", rank=[0, 1]))
    two, one = math.log(5.5 / 2.5), math.log(6.5 / 1.5)
    rows = [
        ("1", "radio", 2, 2, two, 2 * two, 0.5, True),
        ("1", "scatter", 1, 1, one, one, 0.5, True),
        ("1", "wave", 1, 1, one, one, 1.0, False),
        ("1", "receiv", 2, 1, two, two, 0.0, False),
    ]
    columns = ["qid", "term", "n", "r", "w", "rw", "weight", "selected"]
    expected = pd.DataFrame(rows, columns=columns)
    pd.testing.assert_frame_equal(table, expected, check_dtype=False)
    query = {"wave": 1.0, "radio": 0.5, "scatter": 0.5}
    assert prf(results("d1", "d2", rank=[0, 1]))["query_toks"][0] == query


def test_terms_of_the_query_alone_are_no_expansion_terms(index):
    """With 'rsj' they have a weight, although no feedback document has them."""
    table = RobertsonPRF(index, weights="rsj")
    terms = table.expansion_terms(results("d4", query="masers of ferrite"))
    assert sorted(terms["term"]) == ["core", "ferrit"] and terms["r"].tolist() == [1, 1]


def test_is_its_parameters(index):
    prf = RobertsonPRF(index, fb_docs=19, fb_terms=25, gamma=0.198)
    assert prf == RobertsonPRF(index, fb_docs=19, fb_terms=25, gamma=0.198)
    assert prf != RobertsonPRF(index)
    assert "fb_docs=19, fb_terms=25, gamma=0.198, weights='idf')" in repr(prf)
    rsj = RobertsonPRF(index, fb_docs=19, fb_terms=25, gamma=0.198, weights="rsj")
    assert rsj != prf and pickle.loads(pickle.dumps(rsj)) == rsj and "weights='rsj')" in repr(rsj)
    assert rsj.compile()[-1] == rsj
    assert str(prf) == "RobertsonPRF(fb_docs=19, gamma=0.198)"
    pipeline = index.bm25() >> RobertsonPRF(index) >> index.bm25(num_results=9)
    assert str(pipeline) == "(BM25 >> RobertsonPRF >> BM25(num_results=9))"
    prf.set_parameter("fb_docs", 3)
    assert prf.get_parameter("fb_docs") == 3


# -- in a pipeline --------------------------------------------------------------------------------


def test_compiled_it_asks_for_no_more_than_it_needs(index):
    bm25 = index.bm25()
    pipeline = bm25 >> RobertsonPRF(index, fb_docs=2, fb_terms=4) >> bm25
    compiled = pipeline.compile()
    assert compiled[0] == index.bm25(num_results=2)
    queries = pd.DataFrame({"qid": ["1", "2"], "query": ["radio waves", "transistors"]})
    pd.testing.assert_frame_equal(compiled(queries), pipeline(queries))
    found = pipeline(queries)
    assert found.columns.tolist()[-4:] == ["docid", "docno", "rank", "score"]
    assert "d5" in found[found["qid"] == "1"]["docno"].tolist()  # through "receiver" in d2


def test_a_second_feedback_drops_the_weights_of_the_first(index):
    first = RobertsonPRF(index, weights="rsj")(results("d2", "d5", rank=[0, 1]))
    assert set(first["query_tok_weights"][0]) == set(first["query_toks"][0])
    again = RobertsonPRF(index)(index.bm25()(first))
    assert "query_tok_weights" not in again.columns


@pytest.mark.parametrize("kind", ["idf", "rsj"])
@pytest.mark.parametrize("first", [0, 2**33])
def test_terms_are_counted_by_query_whatever_their_numbers(kind, first):
    """Small numbers are counted as numbers of 32 bits."""
    index = SimpleNamespace(num_docs=9, document_frequencies=lambda terms: np.full(len(terms), 2))
    ids = first + np.array([3, 5, 3, 4, 5])
    documents = DocTerms(np.array([0, 2, 4, 5]), ids, np.ones(5, np.int64))
    own = [[first + 7], [first + 5]]
    found = candidates_of(index, np.array([0, 0, 1]), documents, own, kind)
    counted = list(zip(found.rows.tolist(), (found.terms - first).tolist(), found.r.tolist()))
    more = [(0, 7, 0)] if kind == "rsj" else []
    assert counted == [(0, 3, 2), (0, 4, 1), (0, 5, 1), *more, (1, 5, 1)]
