"""Files of a :class:`~pyterrier_asl.TermIndex`: layout, reading, checks."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..io.digests import checksum

#: The metadata that PyTerrier uses to recognise a TermIndex.
ARTIFACT = {"type": "sparse_index", "format": "pyterrier_asl", "package_hint": "pyterrier-asl"}

#: Version of the layout of the files. An index of another version is refused.
FORMAT_VERSION = 2


class ArraySpec(NamedTuple):
    """The specification of an array.

    Attributes:
        dtype: its type.
        size: its length, as the name of a number in the metadata.
        holds: ``offsets``, never falling from 0 to ``bound``, one more than ``size``; ``ids``, from
            0 to below ``bound``; ``tfs``, from 1; or ``lengths``, from 0. ``tfs`` and ``lengths``
            add up to ``bound``.
        bound: the name of a number in the metadata.
    """

    dtype: type
    size: str
    holds: str
    bound: str


ARRAYS = {
    "doc_lengths": ArraySpec(np.int32, "num_docs", "lengths", "num_tokens"),  # tokens
    "term_offsets": ArraySpec(np.int64, "num_terms", "offsets", "num_postings"),
    "posting_docs": ArraySpec(np.int32, "num_postings", "ids", "num_docs"),  # by term, ascending
    "posting_tfs": ArraySpec(np.int32, "num_postings", "tfs", "num_tokens"),
    "doc_offsets": ArraySpec(np.int64, "num_docs", "offsets", "num_postings"),
    "doc_term_ids": ArraySpec(np.int32, "num_postings", "ids", "num_terms"),  # by doc, ascending
    "doc_term_tfs": ArraySpec(np.int32, "num_postings", "tfs", "num_tokens"),
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
    if metadata_checksum(metadata) != _sums(metadata).get(file.name):
        raise damaged(file, "its checksum does not agree with its content")
    sizes: list[Any] = [
        metadata.get(f"num_{what}") for what in ("docs", "terms", "postings", "tokens")
    ]
    if not (all(type(size) is int for size in sizes) and _possible(*sizes)):
        raise damaged(
            file,
            "its sizes are impossible: {} documents, {} terms, {} postings, {} tokens".format(
                *sizes
            ),
        )
    return metadata


def _possible(docs: int, terms: int, postings: int, tokens: int) -> bool:
    return 0 < docs < 2**31 and 0 < terms < 2**31 and terms <= postings <= min(tokens, docs * terms)


def metadata_checksum(metadata: Mapping[str, Any]) -> int:
    """The checksum of the metadata of an index without this checksum.

    >>> first, second = {"num_docs": 3, "crc32": {"pt_meta.json": 7}}, {"crc32": {}, "num_docs": 3}
    >>> metadata_checksum(first) == metadata_checksum(second) != metadata_checksum({"num_docs": 4})
    True
    """
    sums = {name: crc for name, crc in _sums(metadata).items() if name != "pt_meta.json"}
    return zlib.crc32(json.dumps({**metadata, "crc32": sums}, sort_keys=True).encode())


def _sums(metadata: Mapping[str, Any]) -> dict[str, int]:
    """The checksums of files in metadata."""
    sums = metadata.get("crc32")
    return sums if isinstance(sums, dict) else {}


def read_array(folder: Path, name: str, metadata: Mapping[str, Any]) -> npt.NDArray[Any]:
    """Maps an array of the index into memory and checks it, as compiled loops check no indices.

    Raises:
        KeyError: for an unknown name.
        ValueError: if the file is damaged or holds impossible values.
    """
    if name not in ARRAYS:
        raise KeyError(f"a TermIndex has no array {name!r}, only {', '.join(ARRAYS)}")
    layout = ARRAYS[name]
    path = _checked_file(folder / f"{name}.npy", metadata)
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except Exception as error:  # NumPy parses the header as Python, which can raise any error
        raise damaged(path, "it is not a complete array of numbers") from error
    size = metadata[layout.size] + (layout.holds == "offsets")
    if array.dtype != layout.dtype or array.shape != (size,):
        raise damaged(
            path,
            f"it holds {array.shape} {array.dtype}, not ({size},) {np.dtype(layout.dtype)}",
        )
    if wrong := _impossible(array, layout.holds, metadata[layout.bound]):
        raise damaged(path, wrong)
    return array


def _impossible(array: npt.NDArray[Any], holds: str, bound: int) -> str:
    """The reason why the values of an array are impossible; '' if they are possible."""
    if holds == "offsets":
        rising = array[0] == 0 and array[-1] == bound and not (array[1:] < array[:-1]).any()
        return "" if rising else f"its offsets do not rise from 0 to {bound}"
    low, high = array.min(), array.max()
    if holds == "ids":
        return "" if 0 <= low and high < bound else f"its ids are from {low} to {high}, of {bound}"
    if low < (holds == "tfs"):
        return f"it counts {low}"
    total = array.sum(dtype=np.int64)
    return "" if total == bound else f"it counts {total} tokens, not {bound}"


def agreeing_rows(
    folder: Path, array: Callable[[str], npt.NDArray[Any]], by: str
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Checks arrays against each other, and returns them.

    Args:
        folder: the folder of the index.
        array: a function from a name to the array.
        by: ``term`` or ``doc``, for the rows of terms or of documents.

    Returns:
        Where rows begin, the ids in them, and their frequencies.

    Raises:
        ValueError: if the ids of a row do not ascend, or disagree with the lengths of documents or
            the document frequencies of terms.
    """
    from scipy.sparse import csr_array

    other = ROWS["doc" if by == "term" else "term"][0]
    frequencies = np.diff(array(other))
    offsets, ids, tfs = (np.asarray(array(name)) for name in ROWS[by])
    matrix = csr_array((tfs, ids, offsets), shape=(len(offsets) - 1, len(frequencies)))
    if not matrix.has_canonical_format:
        raise damaged(folder / f"{ROWS[by][1]}.npy", f"the ids of a {by} do not ascend")
    if not np.array_equal(np.bincount(ids, minlength=len(frequencies)), frequencies):
        raise damaged(folder / f"{ROWS[by][1]}.npy", f"its ids do not agree with {other}.npy")
    if not np.array_equal(matrix.sum(axis=0 if by == "term" else 1), array("doc_lengths")):
        raise damaged(folder / f"{ROWS[by][2]}.npy", "it does not agree with doc_lengths.npy")
    return offsets, ids, tfs


def read_strings(
    folder: Path, name: str, metadata: Mapping[str, Any], size: int, *, ascending: bool = False
) -> pa.Array:
    """Maps a column of text into memory and checks it.

    Args:
        folder: the folder of the index.
        name: the name of the file.
        metadata: the metadata of the index.
        size: the required number of strings.
        ascending: whether the strings must be in ascending order, each once.

    Raises:
        ValueError: if the file is damaged or holds other strings.
    """
    import pyarrow.compute as pc

    path = _checked_file(folder / name, metadata)
    try:
        column = pa.ipc.open_file(pa.memory_map(str(path))).read_all().column(0)
        column.validate(full=True)
    except (pa.ArrowException, OSError, IndexError, ValueError, MemoryError) as error:
        raise damaged(path, str(error)) from error
    if len(column) != size or column.null_count or not pa.types.is_large_string(column.type):
        raise damaged(path, f"it holds {len(column)} {column.type}, not {size} large_string")
    strings = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if ascending and not pc.all(pc.less(strings[:-1], strings[1:]), min_count=0).as_py():
        raise damaged(path, "its strings are not in ascending order")
    return strings


def _checked_file(path: Path, metadata: Mapping[str, Any]) -> Path:
    """The path of a file whose checksum is the one in the metadata."""
    try:
        actual = checksum(path) if path.is_file() else None
    except OSError as error:
        raise damaged(path, str(error)) from error
    if actual is None:
        raise damaged(path, "the file is missing")
    if actual != _sums(metadata).get(path.name):
        raise damaged(path, "its checksum does not agree with its content")
    return path


def damaged(path: Path, why: str) -> ValueError:
    """The error for a damaged file."""
    return ValueError(f"{path} is damaged: {why}; build the index again")
