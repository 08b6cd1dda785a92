"""What is read of an index: counts, arrays that are mapped into memory, and what they say."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyterrier as pt

from ..scoring.arrays import cumulate, ranges_from
from .build import DocTerms, unknown_documents
from .format import ROWS, damaged, read_array, read_metadata, read_strings
from .postings import ScoringArrays
from .terrier import Tokeniser, tokeniser_from


class StoredIndex(pt.Artifact):  # type: ignore[misc]
    """The counts, arrays and lookups of a :class:`~pyterrier_asl.TermIndex`."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(Path(path))
        self._arrays: dict[str, npt.NDArray[Any]] = {}
        if self.built():
            self.metadata  # noqa: B018  # an error now rather than at first use

    def built(self) -> bool:
        """Whether the index is on disk."""
        return Path(self.path, "pt_meta.json").is_file()

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """The content of ``pt_meta.json``."""
        return read_metadata(self.path)

    # -- statistics --------------------------------------------------------------------------------

    @property
    def num_docs(self) -> int:
        """The number of documents, including empty ones."""
        return int(self.metadata["num_docs"])

    @property
    def num_terms(self) -> int:
        """The number of distinct terms."""
        return int(self.metadata["num_terms"])

    def __len__(self) -> int:
        return self.num_docs

    @cached_property
    def tokeniser(self) -> Tokeniser:
        """The tokeniser of documents and queries."""
        try:
            return tokeniser_from(self.metadata["tokeniser"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise damaged(self.path / "pt_meta.json", f"no tokeniser ({error})") from error

    # -- the arrays --------------------------------------------------------------------------------

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
        mean_length = self.metadata["num_tokens"] / self.num_docs
        return ScoringArrays(offsets, docs, tfs, self.doc_lengths / mean_length)

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

    # -- random access -----------------------------------------------------------------------------

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

    def document(self, docno: str) -> dict[str, int]:
        """The terms of a document and their frequencies, in ascending order of terms.

        Raises:
            KeyError: if the index does not have the document.
        """
        entries = self.doc_terms(np.array([docno], dtype=object))
        return dict(zip(self.terms(entries.term_ids).tolist(), entries.tfs.tolist()))

    # -- term statistics for feedback --------------------------------------------------------------

    def doc_terms(self, docnos: npt.NDArray[np.object_]) -> DocTerms:
        """The terms of documents.

        Raises:
            KeyError: if the index does not have all of them.
        """
        return self.terms_of_docids(self.docids(docnos))

    def terms_of_docids(self, docids: npt.NDArray[np.integer[Any]]) -> DocTerms:
        """The terms of documents by their numbers."""
        all_offsets, *columns = (np.asarray(self.array(name)) for name in ROWS["doc"])
        starts = all_offsets[docids]
        offsets = cumulate(all_offsets[docids + 1] - starts)
        entries = ranges_from(starts, offsets)
        return DocTerms(offsets, *(column[entries].astype(np.int64) for column in columns))

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
