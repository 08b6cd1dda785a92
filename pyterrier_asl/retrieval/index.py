"""TermIndex: an inverted and a forward index in memory-mapped arrays, without Java."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyterrier as pt

from ..io.qrels import irds_documents
from ..scoring.arrays import cumulate, ranges_from
from .bm25 import BM25, ScoringArrays
from .build import Contents, DocTerms, index_texts, unknown_documents, write_index
from .format import (
    ARTIFACT,
    FORMAT_VERSION,
    ROWS,
    damaged,
    read_array,
    read_metadata,
    read_strings,
)
from .terrier import Tokeniser, read_index, tokeniser_from
from .tokens import WordTokeniser


class Postings(NamedTuple):
    """The documents of a term.

    Attributes:
        docids: the documents, ascending.
        tfs: frequency of the term in each, same shape.
    """

    docids: npt.NDArray[np.int32]
    tfs: npt.NDArray[np.int32]


class TermIndex(pt.Artifact):  # type: ignore[misc]
    """An index of terms, read from disk when needed, without Java and without pickles.

    It has the postings of terms, the terms of documents, retrievers (:meth:`bm25`), and the term
    statistics for :class:`~pyterrier_asl.RobertsonPRF`. Build one with :meth:`from_irds`,
    :meth:`from_documents` or :meth:`from_terrier`; load one with ``pt.Artifact.load(path)``.

    Documents have numbers (docid) from 0 in the order of indexing; terms have numbers from 0 in
    alphabetical order (by code point). The index keeps its :attr:`tokeniser` for queries.

    On disk there are one ``.npy`` file per array, ``docnos.arrow``, ``terms.arrow``, and
    ``pt_meta.json``, which is written last and holds the checksum of each file. A file is checked
    at its first use, so that a damaged file is an error.

    Args:
        path: the folder of the index.

    Attributes:
        num_docs: the number of documents, including empty ones.
        num_terms: the number of distinct terms.
        num_postings: the number of pairs of a document and a term in it.
        num_tokens: the number of indexed tokens, the sum of the documents' lengths.
        metadata: the content of ``pt_meta.json``.

    Raises:
        FileNotFoundError: if there is no index.
        ValueError: if the folder holds something else, or an index of another version.

    Examples:
        >>> index = TermIndex.from_documents(
        ...     [
        ...         {"docno": "d1", "text": "radio waves and the scattering of waves"},
        ...         {"docno": "d2", "text": "a radio receiver"},
        ...         {"docno": "d3", "text": "the voltage of a transistor"},
        ...     ],
        ...     verbose=False,
        ... )
        >>> index
        TermIndex(3 documents, 6 terms, WordTokeniser(stemmer='porter', stopwords='lucene'))
        >>> index.postings("wave")
        Postings(docids=array([0], dtype=int32), tfs=array([2], dtype=int32))
        >>> index.bm25(num_results=1).search("transistors")[["docno", "rank"]].values.tolist()
        [['d3', 0]]
    """

    ARTIFACT_TYPE = ARTIFACT["type"]
    ARTIFACT_FORMAT = ARTIFACT["format"]
    ARTIFACT_PACKAGE_HINT = ARTIFACT["package_hint"]

    #: The column in which :meth:`bm25` takes a weighted query.
    query_column = "query_toks"

    def __init__(self, path: str | Path) -> None:
        super().__init__(Path(path))
        self.metadata = read_metadata(Path(path))
        self.num_docs = int(self.metadata["num_docs"])
        self.num_terms = int(self.metadata["num_terms"])
        self.num_postings = int(self.metadata["num_postings"])
        self.num_tokens = int(self.metadata["num_tokens"])
        self._arrays: dict[str, npt.NDArray[Any]] = {}
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    # -- statistics ------------------------------------------------------------------------------

    @property
    def avg_doc_length(self) -> float:
        """Tokens per document, l_avg."""
        return self.num_tokens / self.num_docs

    def __len__(self) -> int:
        return self.num_docs

    @cached_property
    def tokeniser(self) -> Tokeniser:
        """The tokeniser of documents and queries."""
        try:
            return tokeniser_from(self.metadata["tokeniser"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise damaged(self.path / "pt_meta.json", f"no tokeniser ({error})") from error

    # -- the arrays -------------------------------------------------------------------------------

    def array(self, name: str) -> npt.NDArray[Any]:
        """An array of the index by name, memory-mapped and read-only.

        Args:
            name: ``doc_lengths`` int32 [N], tokens of each document; ``term_offsets`` int64
                [V + 1], ``posting_docs`` and ``posting_tfs`` int32 [P], the postings term after
                term; ``doc_offsets`` int64 [N + 1], ``doc_term_ids`` and ``doc_term_tfs`` int32
                [P], the terms document after document.

        Raises:
            KeyError: for an unknown name.
            ValueError: if the file is damaged.
        """
        if name not in self._arrays:
            self._arrays[name] = read_array(self.path, name, self.metadata)
        return self._arrays[name]

    @property
    def doc_lengths(self) -> npt.NDArray[np.int32]:
        """[N] the lengths of the documents in tokens, without stopwords."""
        return self.array("doc_lengths")

    @cached_property
    def scoring_arrays(self) -> ScoringArrays:
        """The arrays for scoring."""
        offsets, docs, tfs = (np.asarray(self.array(name)) for name in ROWS["term"])
        ratios = np.asarray(self.doc_lengths / self.avg_doc_length)
        return ScoringArrays(offsets, docs, tfs, ratios)

    @cached_property
    def forward_arrays(self) -> DocTerms:
        """The terms of all documents, by docid."""
        return DocTerms(*(np.asarray(self.array(name)) for name in ROWS["doc"]))

    @property
    def docnos(self) -> npt.NDArray[np.object_]:
        """[N] the docnos of the documents."""
        return np.asarray(self.docno_strings.to_numpy(zero_copy_only=False), object)

    @cached_property
    def docno_strings(self) -> pa.Array:
        """[N] the docnos of the documents as an Arrow array, memory-mapped."""
        return read_strings(self.path, "docnos.arrow", self.metadata, self.num_docs)

    @cached_property
    def term_strings(self) -> pa.Array:
        """[V] the terms in ascending order as an Arrow array, memory-mapped."""
        return read_strings(self.path, "terms.arrow", self.metadata, self.num_terms)

    @cached_property
    def _term_ids(self) -> dict[str, int]:
        return {term: i for i, term in enumerate(self.term_strings.to_pylist())}

    @cached_property
    def _docids(self) -> pd.Index[Any]:
        return pd.Index(self.docnos, dtype=object)

    # -- random access ----------------------------------------------------------------------------

    def term_id(self, term: str) -> int | None:
        """The number of an index term (it is not stemmed); None if no document has it."""
        return self._term_ids.get(term)

    def docids(self, docnos: npt.NDArray[np.object_]) -> npt.NDArray[np.int64]:
        """The numbers of documents.

        Raises:
            KeyError: if the index does not have all of them.
        """
        docids = np.asarray(self._docids.get_indexer(pd.Index(docnos, dtype=object)), np.int64)
        if (docids < 0).any():
            raise unknown_documents(np.asarray(docnos)[docids < 0], len(docnos), self)
        return docids

    def postings(self, term: str) -> Postings:
        """The documents that contain an index term (it is not stemmed)."""
        term_id = self.term_id(term)
        begin, end = 0, 0
        if term_id is not None:
            begin, end = self.array("term_offsets")[term_id : term_id + 2].tolist()
        columns = (self.array(name)[begin:end] for name in ("posting_docs", "posting_tfs"))
        return Postings(*map(np.array, columns))

    def document(self, docno: str) -> dict[str, int]:
        """The terms of a document and their frequencies, in ascending order of terms.

        Raises:
            KeyError: if the index does not have the document.
        """
        entries = self.doc_terms(np.array([docno], dtype=object))
        return dict(zip(self.terms(entries.term_ids).tolist(), entries.tfs.tolist()))

    # -- term statistics for feedback -------------------------------------------------------------

    def doc_terms(self, docnos: npt.NDArray[np.object_]) -> DocTerms:
        """The terms of documents.

        Raises:
            KeyError: if the index does not have all of them.
        """
        docids = self.docids(docnos)
        forward = self.forward_arrays
        starts = forward.offsets[docids]
        offsets = cumulate(forward.offsets[docids + 1] - starts)
        entries = ranges_from(starts, offsets)
        return DocTerms(offsets, *(of[entries].astype(np.int64) for of in forward[1:]))

    def document_frequencies(self, term_ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The number of documents with each term."""
        offsets = self.array("term_offsets")
        return np.asarray(offsets[term_ids + 1] - offsets[term_ids], np.int64)

    def terms(self, term_ids: npt.NDArray[np.int64]) -> npt.NDArray[np.object_]:
        """The terms of these numbers."""
        taken = self.term_strings.take(np.asarray(term_ids, np.int64))
        return np.asarray(taken.to_numpy(zero_copy_only=False), object)

    def query_terms(self, query: str) -> dict[str, float]:
        """The index terms of a query and their frequencies, in order of occurrence.

        Terms that no document has are included.
        """
        return self.tokeniser.query_terms(query)

    def weighted_query(
        self, weights: Mapping[str, float], term_weights: Mapping[str, float] | None = None
    ) -> dict[str, float]:
        """A weighted query as :meth:`bm25` takes it in ``query_toks``, without ``term_weights``."""
        return dict(weights)

    # -- retrieval --------------------------------------------------------------------------------

    def bm25(
        self,
        *,
        b: float = 0.75,
        k1: float = 1.2,
        num_results: int = 1000,
        idf: str = "robertson",
        k3: float | None = None,
    ) -> BM25:
        """A BM25 retriever over this index; see :class:`~pyterrier_asl.retrieval.bm25.BM25`."""
        return BM25(self, b=b, k1=k1, num_results=num_results, idf=idf, k3=k3)

    # -- building ---------------------------------------------------------------------------------

    @classmethod
    def from_documents(
        cls,
        documents: Iterable[Mapping[str, Any]] | pd.DataFrame,
        *,
        path: str | Path | None = None,
        stemmer: str | None = "porter",
        stopwords: str | Iterable[str] | None = "lucene",
        total: int | None = None,
        source: str | None = None,
        verbose: bool = True,
    ) -> TermIndex:
        """Indexes documents.

        Args:
            documents: dicts (or other mappings), or a data frame (pandas, polars, Arrow), with
                ``docno``, ``text`` and perhaps ``title``, which is indexed before the text; other
                fields are ignored.
            path: a new folder. None: a temporary folder, which is deleted with the index.
            stemmer: the name of a Snowball stemmer, or None.
            stopwords: ``'lucene'`` (33 words), None, or a list of words.
            total: the number of documents, for the progress bar.
            source: the origin of the documents, for the metadata of the index.
            verbose: whether to show progress.

        Raises:
            FileExistsError: if ``path`` exists.
            KeyError: for a document without ``docno`` or ``text``.
            TypeError: for a document that is not a mapping, a title or text that is not a string.
            ValueError: if there is no document or no term, a docno occurs twice, or a docno is
                neither text nor a whole number.
        """
        tokeniser = WordTokeniser(stemmer=stemmer, stopwords=stopwords)
        dicts: Iterable[Any] = documents
        if isinstance(documents, pd.DataFrame):
            dicts = documents.to_dict("records")
        elif hasattr(documents, "__arrow_c_stream__"):
            dicts = pa.table(documents).to_pylist()
        if verbose:
            dicts = pt.tqdm(dicts, total=total, unit="d", desc="indexing")
        return cls._build(index_texts(dicts, tokeniser), tokeniser, path, source)

    @classmethod
    def from_irds(
        cls,
        dataset: str,
        *,
        path: str | Path | None = None,
        stemmer: str | None = "porter",
        stopwords: str | Iterable[str] | None = "lucene",
        verbose: bool = True,
    ) -> TermIndex:
        """Indexes the documents of an ir_datasets dataset, with the whole text of each.

        Args:
            dataset: an ir_datasets id such as ``'vaswani'``, with or without the prefix ``irds:``.
            path: see :meth:`from_documents`.
            stemmer: see :meth:`from_documents`.
            stopwords: see :meth:`from_documents`.
            verbose: whether to show progress.

        Raises:
            ValueError: if ir_datasets does not have the dataset, or it has no documents.
            OSError: if it cannot be downloaded.
        """
        documents, total = irds_documents(dataset)
        return cls.from_documents(
            ({"docno": doc.doc_id, "text": doc.default_text()} for doc in documents),
            path=path,
            stemmer=stemmer,
            stopwords=stopwords,
            total=total,
            source=f"irds:{dataset.removeprefix('irds:')}",
            verbose=verbose,
        )

    @classmethod
    def from_terrier(
        cls,
        index: Any,
        *,
        path: str | Path | None = None,
        tokeniser: str = "english",
        verbose: bool = True,
    ) -> TermIndex:
        """Copies a Terrier index: the same documents, terms and counts, in the same order.

        Terrier tokenises queries in the column ``query``, by the settings of its index, which needs
        Java; ``query_toks`` and everything else need no Java after the copy.

        Args:
            index: a Terrier index: ``pt.terrier.TerrierIndex``, a path, an IndexRef or an Index.
            path: see :meth:`from_documents`.
            tokeniser: Terrier's tokeniser for queries, which should be the tokeniser of the index.
            verbose: whether to show progress.

        Raises:
            ValueError: for an index without documents, or a tokeniser that Terrier does not have.
        """
        contents, pipeline, source = read_index(index, tokeniser=tokeniser, verbose=verbose)
        return cls._build(contents, pipeline, path, source)

    @classmethod
    def _build(
        cls, contents: Contents, tokeniser: Tokeniser, path: str | Path | None, source: str | None
    ) -> TermIndex:
        temporary = None
        if path is None:
            temporary = tempfile.TemporaryDirectory(
                prefix="pyterrier_asl-", ignore_cleanup_errors=True
            )
            path = Path(temporary.name) / "index"
        metadata = {
            **ARTIFACT,
            "format_version": FORMAT_VERSION,
            "tokeniser": tokeniser.settings,
            "source": source,
        }
        write_index(Path(path), contents, metadata)
        index = cls(path)
        index._temporary = temporary
        return index

    # -- equality and pickling --------------------------------------------------------------------

    def __repr__(self) -> str:
        where = "" if self._temporary else f"{str(self.path)!r}, "
        return (
            f"TermIndex({where}{self.num_docs} documents, {self.num_terms} terms, "
            f"{self.tokeniser!r})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TermIndex) and self.path.resolve() == other.path.resolve()

    def __hash__(self) -> int:
        return hash(("TermIndex", self.path.resolve()))

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process maps the files into its memory.
        return (TermIndex, (str(self.path),))
