"""Files of a :class:`~pyterrier_asl.TermIndex`: layout, reading, checks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..io.digests import checksum

#: The metadata that PyTerrier uses to recognise a TermIndex.
ARTIFACT = {"type": "sparse_index", "format": "pyterrier_asl", "package_hint": "pyterrier-asl"}

#: Version of the layout of the files. An index of another version is refused.
FORMAT_VERSION = 2


#: Of each array: its type; its length, as the name of a number in the metadata; and the name of the
#: number that is above its values, which are 0 or more; '': none. Where it is ``num_postings``,
#: values are offsets, one more than the length, and do not fall.
ARRAYS: dict[str, tuple[type, str, str]] = {
    "doc_lengths": (np.int32, "num_docs", ""),  # tokens
    "term_offsets": (np.int64, "num_terms", "num_postings"),
    "posting_docs": (np.int32, "num_postings", "num_docs"),  # by term, ascending
    "posting_tfs": (np.int32, "num_postings", ""),
    "doc_offsets": (np.int64, "num_docs", "num_postings"),
    "doc_term_ids": (np.int32, "num_postings", "num_terms"),  # by doc, ascending
    "doc_term_tfs": (np.int32, "num_postings", ""),
}

#: For rows of terms and of documents: where they begin, the ids in them, and the frequencies.
ROWS = {
    "term": ("term_offsets", "posting_docs", "posting_tfs"),
    "doc": ("doc_offsets", "doc_term_ids", "doc_term_tfs"),
}


def read_metadata(path: Path) -> dict[str, Any]:
    """The metadata of the index at ``path``; other formats and versions are refused."""
    file = path / "pt_meta.json"
    if not file.is_file():
        raise FileNotFoundError(
            f"there is no TermIndex at {str(path)!r} (no pt_meta.json); "
            "build one with TermIndex.from_documents(..., path=...) or TermIndex.from_irds()"
        )
    try:
        metadata: dict[str, Any] = dict(json.loads(file.read_text(encoding="utf-8")))
    except (TypeError, ValueError, RecursionError) as error:
        raise damaged(file, f"it does not hold metadata ({error})") from error
    kind = f"{metadata.get('type')}.{metadata.get('format')}"
    if kind != "{type}.{format}".format_map(ARTIFACT):
        raise ValueError(
            f"{str(path)!r} holds a {kind}, not a TermIndex; load it with pt.Artifact.load()"
        )
    version = metadata.get("format_version")
    if version != FORMAT_VERSION:
        raise ValueError(
            f"the TermIndex at {str(path)!r} has format version {version}, and this version of "
            f"pyterrier-asl reads {FORMAT_VERSION}; build the index again"
        )
    for key in ("num_docs", "num_terms", "num_postings", "num_tokens"):
        if type(metadata.get(key)) is not int or metadata[key] < 0:
            raise damaged(file, f"{key} is {metadata.get(key)!r}, not a whole number")
    if not isinstance(metadata.get("crc32"), dict):
        raise damaged(file, "it has no checksums")
    return metadata


def read_array(folder: Path, name: str, metadata: Mapping[str, Any]) -> npt.NDArray[Any]:
    """Maps an array of the index into memory, and checks its numbers: compiled loops do not.

    Raises:
        KeyError: for an unknown name.
        ValueError: if the file is damaged or holds impossible values.
    """
    dtype, size, below = ARRAYS[name]
    path = _checked_file(folder / f"{name}.npy", metadata)
    array = np.lib.format.open_memmap(path, mode="r")
    limit = metadata.get(below, np.inf)
    is_offsets = below == "num_postings"
    if array.dtype != dtype or array.shape != (metadata[size] + is_offsets,):
        raise damaged(path, f"it holds {array.shape} {array.dtype}")
    possible = (
        array[0] == 0 and array[-1] == limit and (array[1:] >= array[:-1]).all()
        if is_offsets
        else array.min() >= 0 and array.max() < limit
    )
    if not possible:
        raise damaged(path, "it holds impossible numbers")
    return array


def read_strings(folder: Path, name: str, metadata: Mapping[str, Any], size: int) -> pa.Array:
    """Maps a column of text into memory and checks it.

    Args:
        folder: the folder of the index.
        name: the name of the file.
        metadata: the metadata of the index.
        size: the required number of strings.

    Raises:
        ValueError: if the file is damaged or holds other strings.
    """
    path = _checked_file(folder / name, metadata)
    column = pa.ipc.open_file(pa.memory_map(str(path))).read_all().column(0)
    if len(column) != size or not pa.types.is_large_string(column.type):
        raise damaged(path, f"it holds {len(column)} {column.type}, not {size} large_string")
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def _checked_file(path: Path, metadata: Mapping[str, Any]) -> Path:
    """The path of a file whose checksum is the one in the metadata."""
    if not path.is_file():
        raise damaged(path, "the file is missing")
    if checksum(path) != metadata["crc32"].get(path.name):
        raise damaged(path, "its checksum does not agree with its content")
    return path


def damaged(path: Path, why: str) -> ValueError:
    """The error for a damaged file."""
    return ValueError(f"{path} is damaged: {why}; build the index again")
