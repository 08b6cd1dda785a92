"""TermIndex: an inverted and a forward index in memory-mapped arrays, without Java."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pyarrow as pa
import pyterrier as pt

from ..io.qrels import irds_documents
from .bm25 import BM25, HELP_URL, ParameterisedTransformer
from .build import Contents, check_new, index_documents, write_index
from .format import ARTIFACT, FORMAT_VERSION
from .stored import StoredIndex
from .terrier import Tokeniser, read_index
from .tokens import WordTokeniser


class TermIndex(StoredIndex):
    """An index of terms, read from disk when needed, without Java and without pickles.

    It has the terms of documents, retrievers (:meth:`bm25`), and the term
    statistics for :class:`~pyterrier_asl.RobertsonPRF`. Build one with :meth:`from_irds`,
    :meth:`from_documents`, :meth:`indexer` or :meth:`from_terrier`; load one with
    ``pt.Artifact.load(path)``.

    Documents have numbers (docid) from 0 in the order of indexing; terms have numbers from 0 in
    alphabetical order (by code point). The index keeps its :attr:`tokeniser` for queries.

    On disk there are one ``.npy`` file per array, ``docnos.arrow``, ``terms.arrow``, and
    ``pt_meta.json``, which is written last and holds the checksum of each file. A file is checked
    at its first use, so that a damaged file is an error.

    Args:
        path: the folder of the index, or a new or empty one for :meth:`indexer`.

    Raises:
        FileNotFoundError: at the first use, if there is no index.
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
        >>> index.document("d1")
        {'radio': 1, 'scatter': 1, 'wave': 2}
        >>> index.bm25(num_results=1).search("transistors")[["docno", "rank"]].values.tolist()
        [['d3', 0]]
    """

    ARTIFACT_TYPE = ARTIFACT["type"]
    ARTIFACT_FORMAT = ARTIFACT["format"]
    ARTIFACT_PACKAGE_HINT = ARTIFACT["package_hint"]

    #: The column in which :meth:`bm25` takes a weighted query.
    query_column = "query_toks"

    _temporary: tempfile.TemporaryDirectory[str] | None = None

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

    def indexer(
        self,
        *,
        stemmer: str | None = "porter",
        stopwords: str | Iterable[str] | None = "lucene",
        verbose: bool = True,
    ) -> TermIndexer:
        """An indexer, also at the end of a pipeline: ``doc2query >> TermIndex(path).indexer()``.

        Args:
            stemmer: the name of a Snowball stemmer, or None.
            stopwords: ``'lucene'`` (33 words), None, or a list of words.
            verbose: whether to show progress.

        Examples:
            >>> import pyterrier as pt
            >>> from tempfile import mkdtemp
            >>> loud = pt.apply.text(lambda document: document["text"] + " radio")
            >>> pipeline = loud >> TermIndex(mkdtemp()).indexer(verbose=False)
            >>> pipeline.index([{"docno": "d1", "text": "waves"}]).document("d1")
            {'radio': 1, 'wave': 1}
        """
        return TermIndexer(self, stemmer=stemmer, stopwords=stopwords, verbose=verbose)

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
            documents: see :meth:`TermIndexer.index`.
            path: a new folder. None: a temporary folder, which is deleted with the index.
            stemmer: see :meth:`indexer`.
            stopwords: see :meth:`indexer`.
            total: see :meth:`TermIndexer.index`.
            source: see :meth:`TermIndexer.index`.
            verbose: see :meth:`indexer`.

        Raises:
            FileExistsError: if ``path`` exists.
            KeyError: for a document without ``docno``, or without ``text`` and ``toks``.
            TypeError: for a document that is not a mapping, a title or text that is not a string,
                toks that are not a mapping.
            ValueError: if there is no document or no term, a docno occurs twice, or is neither
                text nor a whole number, or a frequency is not a whole number.
        """
        indexer = cls._new(path).indexer(stemmer=stemmer, stopwords=stopwords, verbose=verbose)
        return indexer.index(documents, total=total, source=source)

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
        return cls._new(path)._write(contents, pipeline, source)

    @classmethod
    def _new(cls, path: str | Path | None) -> TermIndex:
        """An index that can be built, in a temporary folder without a path."""
        if path is not None:
            return cls(path)
        folder = tempfile.TemporaryDirectory(prefix="pyterrier_asl-", ignore_cleanup_errors=True)
        index = cls(Path(folder.name) / "index")
        index._temporary = folder
        return index

    def _write(self, contents: Contents, tokeniser: Tokeniser, source: str | None) -> TermIndex:
        metadata = {
            "format_version": FORMAT_VERSION,
            "tokeniser": tokeniser.settings,
            "source": source,
        }
        write_index(self.path, contents, ARTIFACT | metadata)
        return self

    # -- equality and pickling --------------------------------------------------------------------

    def __repr__(self) -> str:
        where = "" if self._temporary else f"{str(self.path)!r}, "
        return (
            f"TermIndex({where}{self.num_docs} documents, {self.num_terms} terms, "
            f"{self.tokeniser!r})"
        )

    def __str__(self) -> str:
        return "TermIndex" if self._temporary else f"TermIndex({self.path.name})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TermIndex) and self.path.resolve() == other.path.resolve()

    def __hash__(self) -> int:
        return hash(("TermIndex", self.path.resolve()))

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process maps the files into its memory.
        return (TermIndex, (str(self.path),))


class TermIndexer(ParameterisedTransformer, pt.Indexer):  # type: ignore[misc]
    """Builds a :class:`~pyterrier_asl.TermIndex`; see :meth:`TermIndex.indexer`."""

    schematic: ClassVar[dict[str, str]] = {"label": "TermIndex", "help_url": HELP_URL}

    def __init__(
        self,
        term_index: TermIndex,
        *,
        stemmer: str | None = "porter",
        stopwords: str | Iterable[str] | None = "lucene",
        verbose: bool = True,
    ) -> None:
        super().__init__()
        self.term_index, self.verbose = term_index, verbose
        self.stemmer, self.stopwords = stemmer, stopwords

    def index(
        self,
        documents: Iterable[Mapping[str, Any]] | pd.DataFrame,
        *,
        total: int | None = None,
        source: str | None = None,
    ) -> TermIndex:
        """Indexes documents.

        Args:
            documents: dicts (or other mappings), or a data frame (pandas, polars, Arrow), with
                ``docno`` and ``text``, and perhaps ``title``, which is indexed before the text; or
                with ``toks`` instead of the text, a dict of index terms and frequencies, which are
                indexed unchanged. Other fields are ignored.
            total: the number of documents, for the progress bar.
            source: the origin of the documents, for the metadata of the index.

        Raises:
            FileExistsError: if the index is built already; see :meth:`TermIndex.from_documents`.
        """
        check_new(self.term_index.path)
        tokeniser = WordTokeniser(stemmer=self.stemmer, stopwords=self.stopwords)
        dicts: Iterable[Any] = documents
        if isinstance(documents, pd.DataFrame):
            dicts = documents.to_dict("records")
        elif hasattr(documents, "__arrow_c_stream__"):
            dicts = pa.table(documents).to_pylist()
        if self.verbose:
            dicts = pt.tqdm(dicts, total=total, unit="d", desc="indexing")
        return self.term_index._write(index_documents(dicts, tokeniser), tokeniser, source)

    def index_inputs(self) -> list[list[str]]:
        """The columns of documents."""
        return [["docno", "text"], ["docno", "toks"]]
