"""Robertson's feedback: the worked example, the definition as loops, and the transformer."""

from __future__ import annotations

import math
from collections import Counter

import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyterrier_asl.retrieval.feedback import RobertsonPRF, grow_weights, select_terms
from pyterrier_asl.retrieval.index import TermIndex


def test_worked_example():
    """N = 1000; the query is q1; e4 is in most documents, e3 in a single feedback document."""
    candidates = pd.DataFrame(
        {
            "row": 0,
            "term": ["q1", "e1", "e2", "e3", "e4"],
            "r": [4, 3, 5, 1, 5],
            "n": [50, 20, 200, 2, 600],
        }
    )
    found = select_terms(candidates, 1000, 3).set_index("term")
    assert found["w"].to_dict() == pytest.approx(
        {
            "q1": 2.93501482564717,
            "e1": 3.8676377594920384,
            "e2": 1.3844222856901456,
            "e3": 5.989963420981715,
            "e4": -0.40504887501162423,
        },
        abs=1e-9,
    )
    assert found["rw"].to_dict() == pytest.approx(
        {
            "q1": 11.74005930258868,
            "e1": 11.602913278476116,
            "e2": 6.922111428450728,
            "e3": 5.989963420981715,
            "e4": -2.0252443750581213,
        },
        abs=1e-9,
    )
    selected = found.index[found["selected"]].tolist()
    assert grow_weights({"q1": 1.0}, selected, 0.2) == pytest.approx(
        {"q1": 1.2, "e1": 0.2, "e2": 0.2}, abs=1e-9
    )


def test_ties_go_by_term_and_weightless_terms_never():
    tied = pd.DataFrame(
        {"row": 0, "term": ["b", "a", "B", "the"], "r": [1, 1, 1, 5], "n": [2, 2, 2, 8]}
    )
    found = select_terms(tied, 10, 2)
    assert found["term"].tolist() == ["B", "a", "b", "the"]  # code points: B before a before b
    assert found["selected"].tolist() == [True, True, False, False]
    without = pd.DataFrame({"row": 0, "term": ["half", "unseen"], "r": [3, 0], "n": [5, 1]})
    assert not select_terms(without, 10, 5)["selected"].any()


# -- against the definition -----------------------------------------------------------------------

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"]
COLLECTIONS = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=6, max_size=14
)


def indexed(texts: list[str]) -> TermIndex:
    documents = [{"docno": f"d{i}", "text": text} for i, text in enumerate(texts)]
    return TermIndex.from_documents(documents, stemmer=None, stopwords=None, verbose=False)


def expanded(
    texts: list[str], query: dict[str, float], ranking: list[str], m: int, n: int, gamma: float
) -> dict[str, float]:
    """The definition, step by step."""
    documents = {f"d{i}": set(text.split()) for i, text in enumerate(texts)}
    r = Counter(term for docno in ranking[:m] for term in documents[docno])
    value = {}
    for term, r_t in r.items():
        n_t = sum(term in terms for terms in documents.values())
        w_t = math.log((len(documents) - n_t + 0.5) / (n_t + 0.5))
        if w_t > 0:
            value[term] = r_t * w_t
    grown = dict(query)
    for term in sorted(value, key=lambda term: (-value[term], term))[:n]:
        grown[term] = grown.get(term, 0.0) + gamma
    return grown


@settings(max_examples=30, deadline=None)
@given(
    COLLECTIONS,
    st.lists(
        st.tuples(
            st.dictionaries(st.sampled_from([*WORDS, "unknown"]), st.floats(0, 3), max_size=4),
            st.permutations(range(6)),
        ),
        min_size=1,
        max_size=3,
    ),
    st.integers(1, 7),
    st.integers(1, 8),
    st.floats(0, 1),
)
def test_is_the_definition_on_any_collection(texts, queries, m, n, gamma):
    results = pd.DataFrame(
        [
            {"qid": f"q{i}", "query_toks": query, "docno": f"d{doc}", "rank": rank}
            for i, (query, ranking) in enumerate(queries)
            for rank, doc in enumerate(ranking)
        ]
    ).sample(frac=1, random_state=0)
    prf = RobertsonPRF(indexed(texts), fb_docs=m, fb_terms=n, gamma=gamma)
    found = prf(results).set_index("qid")["query_toks"]
    assert len(found) == len(queries)
    for i, (query, ranking) in enumerate(queries):
        expected = expanded(texts, query, [f"d{doc}" for doc in ranking], m, n, gamma)
        assert found[f"q{i}"] == pytest.approx(expected)
        assert list(found[f"q{i}"]) == list(expected)


# -- the transformer ------------------------------------------------------------------------------

DOCUMENTS = {
    "d1": "radio waves and the scattering of waves",
    "d2": "a radio receiver",
    "d3": "the voltage of a transistor",
    "d4": "ferrite cores",
    "d5": "transistor receivers",
    "d6": "masers",
    "d7": "",
}


def small_index() -> TermIndex:
    return TermIndex.from_documents(
        ({"docno": docno, "text": text} for docno, text in DOCUMENTS.items()), verbose=False
    )


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


def test_a_document_there_twice_counts_once(index):
    prf = RobertsonPRF(index, fb_docs=2, fb_terms=9)
    terms = prf.expansion_terms(results("d4", "d4", "d6", rank=[0, 1, 2]))
    assert dict(zip(terms["term"], terms["r"])) == {"core": 1, "ferrit": 1, "maser": 1}


def test_queries_that_learn_nothing_pass_with_their_own_terms(index):
    """Without results, or with an empty document, the weights do not change."""
    found = RobertsonPRF(index)(
        pd.DataFrame(
            {
                "qid": ["1", "2", "3"],
                "query": ["wave waves", "radio", "ferrite"],
                "docno": ["d7", None, "d4"],
                "rank": [0, 0, 0],
            }
        )
    )
    assert found["qid"].tolist() == ["1", "2", "3"]
    assert found["query_toks"].tolist()[:2] == [{"wave": 2.0}, {"radio": 1.0}]
    assert found["query_toks"][2] == pytest.approx({"ferrit": 1.2, "core": 0.2})


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
    expected = pd.DataFrame(
        [
            ("1", "radio", 2, 2, two, 2 * two, 0.5, True),
            ("1", "scatter", 1, 1, one, one, 0.5, True),
            ("1", "wave", 1, 1, one, one, 1.0, False),
            ("1", "receiv", 2, 1, two, two, 0.0, False),
        ],
        columns=["qid", "term", "n", "r", "w", "rw", "weight", "selected"],
    )
    pd.testing.assert_frame_equal(table, expected, check_dtype=False)
    assert prf(results("d1", "d2", rank=[0, 1]))["query_toks"][0] == {
        "wave": 1.0,
        "radio": 0.5,
        "scatter": 0.5,
    }


def test_documents_of_another_index_are_named(index):
    with pytest.raises(KeyError, match="1 of 2 documents are not in TermIndex.*'x1'"):
        RobertsonPRF(index)(results("d1", "x1"))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"fb_docs": 0}, "fb_docs is 0; it must be 1, 2, 3"),
        ({"fb_terms": 2.5}, "fb_terms is 2.5"),
        ({"gamma": -0.1}, "gamma is -0.1; it must be a finite number"),
        ({"gamma": math.nan}, "gamma is nan"),
    ],
)
def test_parameters_out_of_range_are_refused(index, parameters, message):
    with pytest.raises(ValueError, match=message):
        RobertsonPRF(index, **parameters)


def test_frames_it_cannot_take_are_refused(index):
    with pytest.raises(pt.validate.InputValidationError):
        RobertsonPRF(index)(pd.DataFrame({"qid": ["1"], "query": ["radio"]}))


def test_is_its_parameters(index):
    prf = RobertsonPRF(index, fb_docs=19, fb_terms=25, gamma=0.198)
    assert prf == RobertsonPRF(index, fb_docs=19, fb_terms=25, gamma=0.198)
    assert prf != RobertsonPRF(index)
    assert "fb_docs=19, fb_terms=25, gamma=0.198)" in repr(prf)
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


def test_can_be_inspected_and_drawn(index):
    bm25 = index.bm25()
    pipeline = bm25 >> RobertsonPRF(index) >> bm25
    assert pt.inspect.transformer_inputs(pipeline)[0] == ["qid", "query"]
    outputs = pt.inspect.transformer_outputs(pipeline, ["qid", "query"])
    assert outputs == [
        *["qid", "query_0", "query", "query_toks"],
        *["docid", "docno", "rank", "score"],
    ]
    schematic = pt.schematic.transformer_schematic(pipeline)
    labels = [part["label"] for part in schematic["transformers"]]
    assert labels == ["BM25", "Robertson", "BM25"]
    assert "Robertson" in pt.schematic.draw(pipeline)
