"""The documents of a Terrier index and their lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyterrier as pt


@pt.java.required  # type: ignore[untyped-decorator]
def document_lengths(index: Any) -> tuple[list[str], npt.NDArray[np.int64]]:
    """The documents of a Terrier index and their lengths in tokens, without stopwords.

    Args:
        index: ``pt.terrier.TerrierIndex``, a path, an IndexRef or an Index.
    """
    java = pt.terrier.TerrierIndex.coerce(index).index_obj()
    docnos = docnos_of(java)
    length = java.getDocumentIndex().getDocumentLength
    return docnos, np.array([length(docid) for docid in range(len(docnos))], np.int64)


def docnos_of(java: Any) -> list[str]:
    """The docnos of an Index of Terrier, by docid."""
    size = java.getCollectionStatistics().getNumberOfDocuments()
    return list(java.getMetaIndex().getItems("docno", list(range(size))))
