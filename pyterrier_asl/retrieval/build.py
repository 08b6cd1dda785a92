"""From documents to the files of a :class:`~pyterrier_asl.TermIndex`."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyterrier as pt

from ..io.digests import checksum
from ..io.values import text
from ..scoring.arrays import cumulate
from .format import metadata_checksum
from .term_statistics import expand_ranges
from .tokens import WordTokeniser

#: Tokens that are counted together; more need more memory, fewer more time.
BLOCK_TOKENS = 4_000_000


class Contents(NamedTuple):
    """A collection as counts, its terms in any order.

    Attributes:
        docnos: [N] all different.
        terms: [V] all different, each in some document.
        offsets: [R + 1] where the entries of a row begin.
        columns: [P] the entries' columns.
        tfs: [P] how often the term is in the document.
        by_term: whether rows are terms and columns documents, or the other way about.
    """

    docnos: list[str]
    terms: list[str]
    offsets: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    tfs: npt.NDArray[np.int32]
    by_term: bool


def index_texts(documents: Iterable[Mapping[str, Any]], tokeniser: WordTokeniser) -> Contents:
    """Tokenises and counts documents.

    Raises:
        KeyError: for a document without ``docno`` or ``text``.
        TypeError: for a title or text that is not a string.
        ValueError: for one docno twice, or one that is neither text nor a whole number.
    """
    docnos: dict[str, int] = {}
    term_ids: dict[str, int] = {}
    word_ids = _WordIds(tokeniser, term_ids)

    def tokenised() -> Iterator[list[int]]:
        for number, (docno, body) in enumerate(_checked_documents(documents)):
            first = docnos.setdefault(docno, number)
            if first != number:
                raise ValueError(
                    f"docno {docno!r} comes twice, as document {first + 1} and {number + 1}; "
                    "every document needs a docno of its own"
                )
            yield [i for i in map(word_ids.__getitem__, tokeniser.words(body)) if i >= 0]

    with tempfile.TemporaryFile() as columns, tempfile.TemporaryFile() as tfs:
        sizes = [_count(*block, columns, tfs) for block in _blocks(tokenised())]
        return Contents(
            list(docnos),
            list(term_ids),
            cumulate(np.concatenate(sizes)),
            _read_back(columns),
            _read_back(tfs),
            by_term=False,
        )


class _WordIds(dict[str, int]):
    """From a word to its term's number, -1 for stopwords; each word is stemmed once."""

    def __init__(self, tokeniser: WordTokeniser, term_ids: dict[str, int]) -> None:
        super().__init__()
        self._tokeniser = tokeniser
        self._term_ids = term_ids

    def __missing__(self, word: str) -> int:
        term = self._tokeniser.term(word)
        number = -1 if term is None else self._term_ids.setdefault(term, len(self._term_ids))
        self[word] = number
        return number


def _blocks(documents: Iterable[list[int]]) -> Iterator[tuple[array[int], list[int]]]:
    """The tokens of some documents after the other's, so that memory does not grow with them."""
    tokens, lengths = array("i"), list[int]()
    for document in documents:
        tokens.extend(document)
        lengths.append(len(document))
        if len(tokens) >= BLOCK_TOKENS:
            yield tokens, lengths
            tokens, lengths = array("i"), []
    yield tokens, lengths


def _count(
    tokens: array[int], lengths: list[int], columns: IO[bytes], tfs: IO[bytes]
) -> npt.NDArray[np.int64]:
    """Writes the terms of documents and how often each occurs; returns how many each has."""
    docs = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    pairs, counts = np.unique((docs << 32) | np.frombuffer(tokens, np.int32), return_counts=True)
    (pairs & 0xFFFFFFFF).astype(np.int32).tofile(columns)
    counts.astype(np.int32).tofile(tfs)
    return np.bincount(pairs >> 32, minlength=len(lengths))


def _checked_documents(documents: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for number, document in enumerate(documents, 1):
        for name in ("docno", "text"):
            if name not in document:
                raise KeyError(
                    f"document {number} has no {name!r}, only {', '.join(map(repr, document))}; "
                    "documents are dicts with 'docno' and 'text'"
                )
        try:
            yield docno_of(document), indexed_text(document)
        except (TypeError, ValueError) as error:
            raise type(error)(f"document {number}: {error}") from error


def docno_of(document: Mapping[str, Any]) -> str:
    """A document's id as text, as runs and qrels are read.

    Raises:
        ValueError: for a docno that is neither text nor a whole number.

    >>> docno_of({"docno": 7})
    '7'
    """
    docno = document["docno"]
    if isinstance(docno, str) and docno.isascii():  # most are, and there may be millions
        return docno
    try:
        return str(text([docno], "docno")[0].as_py())
    except ValueError as error:
        raise ValueError(f"the docno is {docno!r}; a docno is text or a whole number") from error


def indexed_text(document: Mapping[str, Any]) -> str:
    """What is indexed of a document: its title, where it has one, and its text.

    Raises:
        TypeError: for a title or text that is not a string.

    >>> indexed_text({"docno": "d1", "title": "Masers", "text": "A maser is ..."})
    'Masers A maser is ...'
    """
    title, body = document.get("title"), document["text"]
    for name, part in (("title", "" if title is None else title), ("text", body)):
        if not isinstance(part, str):
            raise TypeError(
                f"the {name} of docno {document['docno']!r} is a {type(part).__name__}, {part!r}; "
                "give a string, '' for a document without text"
            )
    return f"{title} {body}" if title else body


def _read_back(file: IO[bytes]) -> npt.NDArray[np.int32]:
    file.flush()
    if file.tell() == 0:
        return np.empty(0, np.int32)
    return np.memmap(file, np.int32, mode="r")


def write_index(path: Path, contents: Contents, metadata: Mapping[str, Any]) -> None:
    """Writes an index beside ``path`` and puts it there when it is whole.

    Raises:
        FileExistsError: where there is something at ``path`` already.
        ValueError: where there is no document, or none with a term.
    """
    if not contents.docnos:
        raise ValueError("there is no document to index; give at least one")
    if not contents.terms:
        raise ValueError(
            f"none of the {len(contents.docnos)} documents has an index term, so nothing could be "
            "found; look at their text, the stopwords and the tokeniser"
        )
    path = path.absolute()
    if path.exists():
        raise FileExistsError(
            f"there is something at {str(path)!r} already; choose another path or remove it first"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with _new_folder(path) as folder:
        order = np.array(sorted(range(len(contents.terms)), key=contents.terms.__getitem__), int)
        sizes = _write_postings(folder, contents, order)
        _write_strings(folder / "docnos.arrow", contents.docnos)
        _write_strings(folder / "terms.arrow", [contents.terms[i] for i in order])
        sums = {file.name: checksum(file) for file in sorted(folder.iterdir())}
        whole = {**metadata, **sizes, "crc32": sums}
        whole["crc32"]["pt_meta.json"] = metadata_checksum(whole)
        written = json.dumps(whole, indent=2, ensure_ascii=False)
        (folder / "pt_meta.json").write_text(written + "\n", encoding="utf-8")


@contextmanager
def _new_folder(path: Path) -> Iterator[Path]:
    """A folder to write to, which becomes ``path`` once it is whole, where there still is none."""
    folder = None
    try:
        with pt.io.finalized_directory(str(path)) as name:
            folder = Path(name)
            yield folder
    except OSError as error:
        if folder is None or error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
        shutil.rmtree(folder, ignore_errors=True)
        raise FileExistsError(
            f"something was put at {str(path)!r} while the index was being built; it stays, and "
            "this index was thrown away"
        ) from error


def _write_postings(
    folder: Path, contents: Contents, order: npt.NDArray[np.int64]
) -> dict[str, int]:
    """Writes both directions, rows and the entries inside them ascending; returns the sizes."""
    num_docs, num_terms = len(contents.docnos), len(contents.terms)
    new_id = np.empty(num_terms, np.int32)
    new_id[order] = np.arange(num_terms, dtype=np.int32)
    if contents.by_term:
        columns = contents.columns
        sizes = np.diff(contents.offsets)
        # Rows move as they are renumbered: entries are taken row by row in the new order.
        entries = expand_ranges(contents.offsets[:-1][order], sizes[order])
        columns, tfs = columns[entries], contents.tfs[entries]
        forward = _transpose(folder, "doc", cumulate(sizes[order]), columns, tfs, num_docs)
    else:
        forward = (contents.offsets, new_id[contents.columns], contents.tfs)
    inverted = _transpose(folder, "term", *forward, num_terms)
    if not contents.by_term:
        forward = _transpose(folder, "doc", *inverted, num_docs)
    lengths = np.add.reduceat(np.append(forward[2], 0), forward[0][:-1])
    lengths[np.diff(forward[0]) == 0] = 0  # reduceat gives an empty row the entry after it
    np.save(folder / "doc_lengths.npy", lengths.astype(np.int32))
    return {
        "num_docs": num_docs,
        "num_terms": num_terms,
        "num_postings": len(contents.columns),
        "num_tokens": int(lengths.sum(dtype=np.int64)),
    }


_FILES = {
    "term": ("term_offsets", "posting_docs", "posting_tfs"),
    "doc": ("doc_offsets", "doc_term_ids", "doc_term_tfs"),
}

_Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]


def _transpose(
    folder: Path,
    rows: str,
    offsets: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int32],
    tfs: npt.NDArray[np.int32],
    num_columns: int,
) -> _Rows:
    """Writes the transposed rows into the three files of ``rows`` and returns them."""
    from . import _kernels

    names = [str(folder / f"{name}.npy") for name in _FILES[rows]]
    out_offsets = cumulate(np.bincount(columns, minlength=num_columns))
    np.save(names[0], out_offsets)
    shape = (len(columns),)
    out, out_tfs = _mapped(names[1], shape), _mapped(names[2], shape)
    _kernels.transpose(
        np.asarray(offsets),
        np.asarray(columns),
        np.asarray(tfs),
        out_offsets,
        np.asarray(out),
        np.asarray(out_tfs),
    )
    out.flush()
    out_tfs.flush()
    return out_offsets, out, out_tfs


def _mapped(name: str, shape: tuple[int]) -> np.memmap[Any, np.dtype[np.int32]]:
    """A new array in a file, whose place on the disk is taken at once: once it is mapped, a full
    disk would end the process without a word."""
    array: np.memmap[Any, np.dtype[np.int32]] = np.lib.format.open_memmap(
        name, "w+", np.int32, shape
    )
    if hasattr(os, "posix_fallocate"):
        with open(name, "rb+") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, os.path.getsize(name))
            except OSError as error:
                if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # not on such a disk
                    raise
    return array


def _write_strings(path: Path, strings: list[str]) -> None:
    import pyarrow as pa

    table = pa.table({path.stem: pa.array(strings, pa.large_string())})
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
