"""TermIndex: its contents equal counts by hand, in memory and on disk.
Tests of build.py, index.py, stored.py, tokens.py."""

import json
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyterrier_asl.retrieval.index import TermIndex
from pyterrier_asl.retrieval.terrier import tokeniser_from
from pyterrier_asl.retrieval.tokens import LUCENE_STOPWORDS, WordTokeniser

DOCUMENTS = [
    {"docno": "d2", "text": "Radio waves, and the scattering of waves."},
    {"docno": "d10", "text": ""},
    {"docno": "d1", "text": "radio_receiver radio"},
    {"docno": "été", "text": "Ondes radio; l'été 1963"},
]


def indexed(documents=DOCUMENTS, **options) -> TermIndex:
    return TermIndex.from_documents(documents, verbose=False, **options)


def postings(index: TermIndex, term: str) -> list[list[int]]:
    """The documents with a term, and its frequency in each, from the arrays of the index."""
    begin, end = index.array("term_offsets")[index.term_id(term) :][:2]
    return [index.array(name)[begin:end].tolist() for name in ("posting_docs", "posting_tfs")]


def contents(index: TermIndex) -> dict[str, dict[str, int]]:
    return {docno: index.document(docno) for docno in index.docnos.tolist()}


def test_holds_the_terms_of_the_documents_and_their_counts():
    index = indexed(stemmer=None)
    assert contents(index) == {
        "d2": {"radio": 1, "scattering": 1, "waves": 2},
        "d10": {},
        "d1": {"radio": 2, "receiver": 1},
        "été": {"1963": 1, "l": 1, "ondes": 1, "radio": 1, "été": 1},
    }
    assert (index.num_docs, len(index), index.num_terms) == (4, 4, 8)
    sizes = (index.metadata["num_postings"], index.metadata["num_tokens"])
    assert sizes == (3 + 0 + 2 + 5, 4 + 0 + 3 + 5)
    assert index.doc_lengths.tolist() == [4, 0, 3, 5]
    assert index.docnos.tolist() == ["d2", "d10", "d1", "été"]


def test_random_access():
    index = indexed(stemmer=None)
    assert postings(index, "radio") == [[0, 2, 3], [1, 2, 1]]
    assert index.term_id("television") is None
    assert index.docids(np.array(["d1"], dtype=object)).tolist() == [2]
    terms = index.terms(np.arange(index.num_terms)).tolist()
    assert terms == sorted(terms)
    assert [index.term_id(term) for term in terms] == list(range(index.num_terms))
    # The terms of documents, in the order asked for.
    offsets, term_ids, tfs = index.doc_terms(np.array(["d1", "d10", "d2", "d1"], object))
    assert offsets.tolist() == [0, 2, 2, 5, 7]
    expected = "radio receiver radio scattering waves radio receiver"
    assert " ".join(index.terms(term_ids)) == expected and tfs.tolist() == [2, 1, 1, 1, 2, 2, 1]
    with pytest.raises(KeyError, match="2 of 3 documents are not in TermIndex.*'x', 'y'; use the"):
        index.doc_terms(np.array(["d2", "x", "y"], object))


TEXTS = st.lists(
    st.lists(st.sampled_from(["alpha", "beta", "gamma", "the", "Δ", "beta2"]), max_size=8),
    min_size=1,
    max_size=8,
)


@given(TEXTS.filter(any))
def test_is_the_counts_of_the_documents_whatever_they_are(texts):
    """Postings, documents and lengths equal counts by a Counter."""
    expected = {f"d{i}": dict(Counter(map(str.lower, words))) for i, words in enumerate(texts)}
    documents = [{"docno": f"d{i}", "text": " ".join(words)} for i, words in enumerate(texts)]
    index = indexed(documents, stemmer=None, stopwords=None)
    assert contents(index) == expected
    assert index.doc_lengths.tolist() == [sum(terms.values()) for terms in expected.values()]
    for term in {term for terms in expected.values() for term in terms}:
        documents = [(i, of[term]) for i, of in enumerate(expected.values()) if of.get(term)]
        assert [*zip(*postings(index, term))] == documents


# -- tokens ---------------------------------------------------------------------------------------


def test_stopwords_go_before_stemming_and_can_be_chosen():
    assert indexed().document("d2") == {"radio": 1, "scatter": 1, "wave": 2}
    assert len(postings(indexed(stopwords=None), "the")[0]) == 1
    assert indexed(stopwords=["Radio"], stemmer=None).document("d1") == {"receiver": 1}
    assert len(LUCENE_STOPWORDS) == len(set(LUCENE_STOPWORDS)) == 33


def test_the_choice_is_kept_and_shown(tmp_path):
    index = indexed(stemmer="english", stopwords=["Radio"], path=tmp_path / "index")
    loaded = TermIndex(tmp_path / "index")
    tokeniser = WordTokeniser(stemmer="english", stopwords=["radio"])
    assert loaded.tokeniser == index.tokeniser == tokeniser
    assert loaded.query_terms("radio waves, generous wave") == {"wave": 2.0, "generous": 1.0}
    assert "stemmer='english'" in repr(loaded)
    assert [str(loaded), str(indexed())] == ["TermIndex(index)", "TermIndex"]
    metadata = json.loads((tmp_path / "index" / "pt_meta.json").read_text(encoding="utf-8"))
    settings = {"name": "words", "stemmer": "english", "stopwords": ["radio"], "normal_form": "NFC"}
    assert metadata["tokeniser"] == settings


def test_texts_and_queries_have_one_normal_form():
    """An index of an older version, whose metadata have none, is read as it was built."""
    apart, whole = "Du\u0308ne", "D\u00fcne"
    documents = [{"docno": "d", "text": f"{apart} fu\u0308r"}]
    index = indexed(documents, stemmer=None, stopwords=["f\u00fcr"])
    for query in (apart, whole):
        assert index.document("d") == index.query_terms(query) == {"d\u00fcne": 1}
    old = tokeniser_from({"name": "words", "stemmer": None, "stopwords": []})
    assert old.query_terms(apart) == {"du": 1, "ne": 1} and old != index.tokeniser
    assert pickle.loads(pickle.dumps(old)) == old


class _Spelled(WordTokeniser):
    """A tokeniser of a user."""

    def words(self, text):
        return list(text)


def test_a_tokeniser_survives_pickling():
    tokeniser = WordTokeniser(stemmer="porter")
    assert tokeniser.tokens("waves") == ["wave"]
    again = pickle.loads(pickle.dumps(tokeniser))
    assert again == tokeniser and again.tokens("waves") == ["wave"]
    assert type(pickle.loads(pickle.dumps(_Spelled()))) is _Spelled


# -- on disk --------------------------------------------------------------------------------------


def test_loads_as_an_artifact(tmp_path):
    """Also in another process, from its path, and from a package."""
    index = indexed(path=tmp_path / "index")
    index.build_package(str(tmp_path / "a.tar.lz4"), verbose=False)
    assert (tmp_path / "a.tar.lz4").stat().st_size > 0
    loaded = pt.Artifact.load(str(tmp_path / "index"))
    assert isinstance(loaded, TermIndex)
    for other in (loaded, pickle.loads(pickle.dumps(index)), pt.Artifact.from_url(str(index.path))):
        assert contents(other) == contents(index)
    assert loaded == index and hash(loaded) == hash(index)
    assert pt.inspect.artifact_type_format(loaded) == ("sparse_index", "pyterrier_asl")


def test_arrays_are_mapped_and_read_only(tmp_path):
    index = indexed(path=tmp_path / "index")
    for name in ("doc_lengths", "term_offsets", "posting_docs", "doc_term_ids"):
        assert isinstance(index.array(name), np.memmap)
        with pytest.raises(ValueError, match="read-only"):
            index.array(name)[0] = 1
    with pytest.raises(KeyError, match="scores"):
        index.array("scores")
    suffixes = {file.suffix for file in (tmp_path / "index").iterdir()}
    assert suffixes == {".npy", ".arrow", ".json"}


def test_another_format_is_refused(tmp_path):
    indexed(path=tmp_path / "index")
    file = tmp_path / "index" / "pt_meta.json"
    metadata = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**metadata, "format_version": 99}))
    with pytest.raises(ValueError, match="format version 99, .* reads 2; build the index again"):
        TermIndex(tmp_path / "index")
    file.write_text(json.dumps({**metadata, "format": "terrier"}))
    with pytest.raises(ValueError, match="holds a sparse_index.terrier, not a TermIndex"):
        TermIndex(tmp_path / "index")
    file.unlink()
    with pytest.raises(FileNotFoundError, match=r"no TermIndex at .*from_documents"):
        TermIndex(tmp_path / "index").bm25().search("radio")


def test_what_is_there_is_not_overwritten_and_a_temporary_index_goes_with_the_object(tmp_path):
    indexed(path=tmp_path / "index")
    with pytest.raises(FileExistsError, match="exists: choose another path, or remove it"):
        indexed(path=tmp_path / "index")
    index = indexed()
    path = index.path
    assert path.is_dir()
    del index
    assert not path.exists()


# -- the indexer ----------------------------------------------------------------------------------

TOKS = [
    {"docno": "d1", "toks": {"Radio": 2, "##s": 1.0, "of": np.int64(3), "gone": 0}, "text": 5},
    {"docno": "d2", "toks": None, "text": "radio waves"},
    {"docno": "d3", "toks": {}},
    {"docno": "d4", "toks": float("nan"), "text": "masers", "title": "Radio"},
]


@pytest.mark.parametrize("given", [iter, pd.DataFrame], ids=["dicts", "frame"])
def test_toks_are_indexed_unchanged_and_go_before_the_text(given):
    index = indexed(given(TOKS))
    assert contents(index) == {
        "d1": {"##s": 1, "Radio": 2, "of": 3},
        "d2": {"radio": 1, "wave": 1},
        "d3": {},
        "d4": {"maser": 1, "radio": 1},
    }
    assert index.doc_lengths.tolist() == [6, 2, 0, 2]
    toks = pd.DataFrame({"qid": ["1", "2"], "query_toks": [{"##s": 1.0}, {"Radio": 1}]})
    assert index.bm25()(toks)["docno"].tolist() == ["d1", "d1"]
    assert index.bm25().search("Radios")["docno"].tolist() == []  # in half of the documents


def test_an_indexer_ends_a_pipeline_of_documents(tmp_path):
    index = TermIndex(tmp_path / "new" / "index")
    assert not index.built()
    with pytest.raises(FileNotFoundError, match="no TermIndex at .*new"):
        index.bm25().search("radio")
    indexer = index.indexer(stemmer=None, stopwords=["of"], verbose=False)
    twice = pt.apply.text(lambda document: f"{document['text']} {document['docno']}")
    made = (twice >> indexer).index(iter(DOCUMENTS))
    assert made is index and made.built() and TermIndex(index.path).built()
    documents = [{**d, "text": f"{d['text']} {d['docno']}"} for d in DOCUMENTS]
    assert contents(made) == contents(indexed(documents, stemmer=None, stopwords=["of"]))
    assert index.metadata["tokeniser"]["stopwords"] == ["of"]
    begun = iter(DOCUMENTS)
    with pytest.raises(FileExistsError, match="exists: choose another path"):
        indexer.index(begun)
    assert next(begun) is DOCUMENTS[0]  # an error before the first document


def test_an_indexer_can_be_inspected_and_drawn(tmp_path):
    # An empty folder is a new one.
    assert TermIndex(tmp_path).indexer(verbose=False).index(DOCUMENTS).num_docs == 4
    indexer = TermIndex(tmp_path).indexer(stemmer=None)
    assert pt.inspect.transformer_type(indexer) == pt.inspect.TransformerType.indexer
    assert indexer.index_inputs() == [["docno", "text"], ["docno", "toks"]]
    assert "TermIndex" in pt.schematic.draw(indexer)
    assert str(indexer) == "TermIndexer(stemmer=None)"
    assert indexer == TermIndex(tmp_path).indexer(stemmer=None) != TermIndex(tmp_path).indexer()


# -- what cannot be indexed -----------------------------------------------------------------------


def test_options_are_handed_on(monkeypatch):
    options = {"b": 0.1, "k1": 2.0, "num_results": 3, "idf": "terrier", "k3": 4.0}
    bm25 = indexed().bm25(**options)
    assert {name: getattr(bm25, name) for name in options} == options
    lines = []
    monkeypatch.setattr(pt, "tqdm", lambda items, **shown: lines.append(shown) or items)
    index = TermIndex.from_documents(DOCUMENTS, total=9, source="mine", verbose=True)
    assert lines == [{"total": 9, "unit": "d", "desc": "indexing"}]
    assert index.metadata["source"] == "mine"


def test_a_title_is_indexed_before_the_text():
    texts = {"d1": ("Radio", "waves of radio"), "d2": (None, "waves"), "d3": ("", "waves")}
    documents = [{"docno": d, "title": title, "text": text} for d, (title, text) in texts.items()]
    waves = {"waves": 1}
    expected = {"d1": {"radio": 2, "waves": 1}, "d2": waves, "d3": waves}
    assert contents(indexed(documents, stemmer=None)) == expected


def test_an_unknown_stemmer_is_named_with_those_there_are():
    with pytest.raises(ValueError, match="no stemmer 'porker'.*porter"):
        WordTokeniser(stemmer="porker")
