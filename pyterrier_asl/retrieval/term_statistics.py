"""Term statistics for feedback, of a TermIndex or a Terrier index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt


class DocTerms(NamedTuple):
    """The terms of D documents, document after document.

    Attributes:
        offsets: [D + 1]; document i has the entries from ``offsets[i]`` to ``offsets[i + 1]``.
        term_ids: one entry per document and distinct term, ascending within a document.
        tfs: frequency of the term in the document, same shape.
    """

    offsets: npt.NDArray[np.int64]
    term_ids: npt.NDArray[np.int64]
    tfs: npt.NDArray[np.int64]


class ScoringArrays(NamedTuple):
    """The arrays of an index for scoring.

    Attributes:
        term_offsets: [V + 1] where the postings of a term begin.
        posting_docs: their documents, ascending by term.
        posting_tfs: frequency of the term in each.
        length_ratios: [N] l / l_avg, the documents' lengths over their mean.
    """

    term_offsets: npt.NDArray[np.int64]
    posting_docs: npt.NDArray[np.int32]
    posting_tfs: npt.NDArray[np.int32]
    length_ratios: npt.NDArray[np.float64]


@runtime_checkable
class TermStatistics(Protocol):
    """The counts for term selection, by the term ids of an index.

    :class:`~pyterrier_asl.TermIndex` has them. For a Terrier index
    :class:`~pyterrier_asl.retrieval.terrier.TerrierTerms` has them.
    """

    #: The column in which the retriever of this index takes a weighted query.
    query_column: str

    @property
    def num_docs(self) -> int:
        """The number of documents of the collection, empty ones included."""

    def doc_terms(self, docnos: npt.NDArray[np.object_]) -> DocTerms:
        """The terms of documents.

        Raises:
            KeyError: if a document is not in the index.
        """

    def document_frequencies(self, term_ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The number of documents with each term."""

    def terms(self, term_ids: npt.NDArray[np.int64]) -> npt.NDArray[np.object_]:
        """The terms of these ids."""

    def query_terms(self, query: str) -> dict[str, float]:
        """The index terms of a query and their weights, in order of occurrence."""

    def weighted_query(self, weights: Mapping[str, float]) -> Any:
        """A weighted query for ``query_column``; its terms are not tokenised again."""


def unknown_documents(unknown: npt.NDArray[np.object_], total: int, where: object) -> KeyError:
    """The error for documents that an index does not have."""
    shown = ", ".join(repr(str(docno)) for docno in unknown[:3])
    return KeyError(
        f"{len(unknown)} of {total} documents are not in {where}, among them {shown}; "
        "use the index that the results come from"
    )
