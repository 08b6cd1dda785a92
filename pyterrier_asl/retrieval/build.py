"""Indexing of documents: the counts, and the files of a :class:`~pyterrier_asl.TermIndex`."""

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

from ..io.atomic import naming_full_disk
from ..io.digests import checksum
from ..io.values import text
from ..scoring.arrays import Ints, cumulate
from .format import ROWS, metadata_checksum
from .loops import count_entries, transpose
from .tokens import WordTokeniser

#: The number of tokens in a block; larger blocks need more memory, smaller ones more time.
BLOCK_TOKENS = 4_000_000


class Contents(NamedTuple):
    """A collection as counts, its terms in any order.

    Attributes:
        docnos: [N] all different.
        terms: [V] all different, each in some document.
        offsets: [N + 1] where the entries of a document begin.
        term_ids: [P] their terms.
        tfs: [P] how often the term is in the document.
    """

    docnos: list[str]
    terms: list[str]
    offsets: Ints
    term_ids: npt.NDArray[np.int32]
    tfs: npt.NDArray[np.int32]


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
        blocks = _blocks(tokenised())
        with naming_full_disk(f"temporary files in {tempfile.gettempdir()}"):
            sizes = [_count(*block, columns, tfs) for block in blocks]
        offsets = cumulate(np.concatenate(sizes))
        return Contents(list(docnos), list(term_ids), offsets, _read_back(columns), _read_back(tfs))


class _WordIds(dict[str, int]):
    """A dict of word -> number of its term, -1 for stopwords; each word is stemmed once."""

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
    """Blocks of tokens of successive documents, so that memory does not grow with their number."""
    tokens, lengths = array("i"), list[int]()
    for document in documents:
        tokens.extend(document)
        lengths.append(len(document))
        if len(tokens) >= BLOCK_TOKENS:
            yield tokens, lengths
            tokens, lengths = array("i"), []
    yield tokens, lengths


def _count(tokens: array[int], lengths: list[int], columns: IO[bytes], tfs: IO[bytes]) -> Ints:
    """Writes the terms of documents and their frequencies; returns the number of each document."""
    docs = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    pairs, counts = np.unique((docs << 32) | np.frombuffer(tokens, np.int32), return_counts=True)
    (pairs & 0xFFFFFFFF).astype(np.int32).tofile(columns)
    counts.astype(np.int32).tofile(tfs)
    return np.bincount(pairs >> 32, minlength=len(lengths))


def _checked_documents(documents: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for number, document in enumerate(documents, 1):
        if not isinstance(document, Mapping):
            raise TypeError(
                f"document {number} is a {type(document).__name__}, {str(document)[:40]!r}; "
                "documents are dicts with 'docno' and 'text', or a data frame"
            )
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
    """The indexed text of a document: its title, where it has one, and its text.

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
    """Writes an index beside ``path`` and moves it there when it is complete.

    Raises:
        FileExistsError: where ``path`` exists already.
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
        metadata = {**metadata, **sizes, "crc32": sums}
        sums["pt_meta.json"] = metadata_checksum(metadata)
        written = json.dumps(metadata, indent=2, ensure_ascii=False)
        (folder / "pt_meta.json").write_text(written + "\n", encoding="utf-8")


@contextmanager
def _new_folder(path: Path) -> Iterator[Path]:
    """A temporary folder, which is moved to ``path`` at the end unless that exists by then."""
    folder = None
    try:
        with naming_full_disk(path), pt.io.finalized_directory(str(path)) as name:
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


def _write_postings(folder: Path, contents: Contents, order: Ints) -> dict[str, int]:
    """Writes inverted and forward index, sorted by terms and documents; returns the sizes."""
    num_docs, num_terms = len(contents.docnos), len(contents.terms)
    new_id = np.empty(num_terms, np.int32)
    new_id[order] = np.arange(num_terms, dtype=np.int32)
    by_doc = contents.offsets, new_id[contents.term_ids], contents.tfs
    by_term = _write_transposed(folder, "term", *by_doc, num_terms)
    by_doc = _write_transposed(folder, "doc", *by_term, num_docs)
    _, lengths, _, _ = count_entries(*by_doc, num_terms)
    np.save(folder / "doc_lengths.npy", lengths.astype(np.int32))
    return {
        "num_docs": num_docs,
        "num_terms": num_terms,
        "num_postings": len(contents.term_ids),
        "num_tokens": int(lengths.sum()),
    }


def _write_transposed(
    folder: Path,
    rows: str,
    offsets: Ints,
    columns: npt.NDArray[np.int32],
    tfs: npt.NDArray[np.int32],
    num_columns: int,
) -> tuple[Ints, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Writes the transposed rows into the three files of ``rows`` and returns them."""
    names = [str(folder / f"{name}.npy") for name in ROWS[rows]]
    out_offsets = cumulate(np.bincount(columns, minlength=num_columns))
    np.save(names[0], out_offsets)
    mapped = [_open_mapped(name, columns.shape) for name in names[1:]]
    out, out_tfs = map(np.asarray, mapped)
    transpose(offsets, columns, np.asarray(tfs), out_offsets, out, out_tfs)
    for file in mapped:
        file.flush()
    return out_offsets, out, out_tfs


def _open_mapped(name: str, shape: tuple[int, ...]) -> np.memmap[Any, np.dtype[np.int32]]:
    """A new array in a file whose disk space is allocated at once: writing to a mapped file on a
    full disk would kill the process."""
    array: np.memmap[Any, np.dtype[np.int32]] = np.lib.format.open_memmap(
        name, "w+", np.int32, shape
    )
    if hasattr(os, "posix_fallocate"):
        with open(name, "rb+") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, os.path.getsize(name))
            except OSError as error:
                if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # the file system cannot
                    raise
    return array


def _write_strings(path: Path, strings: list[str]) -> None:
    import pyarrow as pa

    table = pa.table({path.stem: pa.array(strings, pa.large_string())})
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
