"""Indexing of documents: counting, and writing the files of a :class:`~pyterrier_asl.TermIndex`."""

from __future__ import annotations

import json
import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyterrier as pt

from ..common.types import Ints
from ..io.atomic import naming_full_disk
from ..io.digests import checksum
from ..io.values import text
from ..scoring.arrays import cumulate
from .format import ARRAYS, ROWS
from .tokens import WordTokeniser


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


class Contents(NamedTuple):
    """A collection as counts.

    Attributes:
        docnos: [N] distinct.
        terms: [V] distinct, in any order, each in at least one document.
        entries: the terms of the documents, in any order within a document.
    """

    docnos: list[str]
    terms: list[str]
    entries: DocTerms


def index_documents(documents: Iterable[Mapping[str, Any]], tokeniser: WordTokeniser) -> Contents:
    """Counts the terms of documents: of their ``toks``, or of their text.

    Raises:
        KeyError: for a document without ``docno``, or without ``toks`` and ``text``.
        TypeError: for a title or text that is not a string, or toks that are not a mapping.
        ValueError: for a docno that occurs twice, or is neither text nor a whole number, or a
            frequency that is not a whole number.
    """
    docnos: dict[str, int] = {}
    term_ids: dict[str, int] = {}
    sizes, entries, tfs = [], array("i"), array("i")

    @cache
    def term_id(word: str) -> int:
        """The number of a word's term, -1 for stopwords; each word is stemmed once."""
        term = tokeniser.term(word)
        return -1 if term is None else term_ids.setdefault(term, len(term_ids))

    def count(document: Mapping[str, Any]) -> dict[int, int]:
        toks = _checked_toks(document)
        if toks is not None:
            return {term_ids.setdefault(term, len(term_ids)): tf for term, tf in toks.items()}
        counts = Counter(map(term_id, tokeniser.words(indexed_text(document))))
        counts.pop(-1, None)
        return counts

    for number, document in enumerate(documents, 1):
        try:
            docno, counts = docno_of(document), count(document)
        except (KeyError, TypeError, ValueError) as error:
            raise type(error)(
                f"document {number}: {error}; documents are dicts with 'docno' and 'text'"
            ) from error
        first = docnos.setdefault(docno, number)
        if first != number:
            raise ValueError(
                f"docno {docno!r} occurs twice, as document {first} and {number}: give each "
                "document another docno"
            )
        sizes.append(len(counts))
        entries.fromlist(list(counts))
        tfs.fromlist(list(counts.values()))
    columns: Any = (np.frombuffer(column, np.int32) for column in (entries, tfs))
    counted = DocTerms(cumulate(np.array(sizes, np.int64)), *columns)
    return Contents(list(docnos), list(term_ids), counted)


def _checked_toks(document: Mapping[str, Any]) -> dict[str, int] | None:
    """The terms of a document and their frequencies above 0; None if it has no toks."""
    toks = document.get("toks")
    if _is_missing(toks):
        return None
    if not isinstance(toks, Mapping):
        raise TypeError(
            f"the toks of docno {document['docno']!r} are a {type(toks).__name__}, {toks!r}; give "
            "a dict of terms and frequencies"
        )
    for term, tf in toks.items():
        is_number = isinstance(tf, (int, float, np.integer, np.floating))
        if not (isinstance(term, str) and is_number and tf >= 0 and float(tf).is_integer()):
            raise ValueError(
                f"the toks of docno {document['docno']!r} have the frequency {tf!r} of {term!r}; "
                "give text and whole numbers, 0 or more"
            )
    return {term: int(tf) for term, tf in toks.items() if tf}


def docno_of(document: Mapping[str, Any]) -> str:
    """The id of a document as text, by the rules for runs and qrels.

    Raises:
        ValueError: for a docno that is neither text nor a whole number.

    >>> docno_of({"docno": 7})
    '7'
    """
    docno = document["docno"]
    if isinstance(docno, str) and docno.isascii():  # the usual case, quickly
        return docno
    try:
        return str(text([docno], "docno")[0].as_py())
    except ValueError as error:
        raise ValueError(f"the docno is {docno!r}; a docno is text or a whole number") from error


def indexed_text(document: Mapping[str, Any]) -> str:
    """The indexed text of a document: its title, if it has one, and its text.

    Raises:
        TypeError: for a title or text that is not a string.

    >>> indexed_text({"docno": "d1", "title": "Masers", "text": "A maser is ..."})
    'Masers A maser is ...'
    """
    title, body = document.get("title"), document["text"]
    title = "" if _is_missing(title) else title
    for name, part in (("title", title), ("text", body)):
        if not isinstance(part, str):
            raise TypeError(
                f"the {name} of docno {document['docno']!r} is a {type(part).__name__}, {part!r}; "
                "give a string, '' for an empty document"
            )
    return f"{title} {body}" if title else body


def _is_missing(value: Any) -> bool:
    """Whether a value is None or NaN, as where a row of a data frame lacks it."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def check_new(path: Path) -> None:
    """Raises FileExistsError for a path that exists; removes an empty folder."""
    if path.is_dir() and not any(path.iterdir()):
        path.rmdir()
    if path.exists():
        raise FileExistsError(f"{str(path)!r} exists: choose another path, or remove it")


def write_index(path: Path, contents: Contents, metadata: Mapping[str, Any]) -> None:
    """Writes an index next to ``path``, and moves it to ``path`` when it is complete.

    Raises:
        FileExistsError: if ``path`` exists.
        ValueError: if there is no document with a term.
    """
    if not contents.terms:
        raise ValueError(
            f"none of the {len(contents.docnos)} documents has an index term: check their text, "
            "the stopwords and the tokeniser"
        )
    check_new(path)
    path = path.absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    with naming_full_disk(path), pt.io.finalized_directory(str(path)) as temporary:
        folder = Path(temporary)
        order = np.array(sorted(range(len(contents.terms)), key=contents.terms.__getitem__), int)
        sizes = _write_postings(folder, contents, order)
        _write_strings(folder / "docnos.arrow", contents.docnos)
        _write_strings(folder / "terms.arrow", [contents.terms[i] for i in order])
        sums = {file.name: checksum(file) for file in sorted(folder.iterdir())}
        (folder / "pt_meta.json").write_text(
            json.dumps({**metadata, **sizes, "crc32": sums}, indent=2, ensure_ascii=False) + "\n",
            encoding="utf-8",
        )


def _write_postings(folder: Path, contents: Contents, order: Ints) -> dict[str, int]:
    """Writes inverted and forward index, sorted by terms and documents; returns the sizes."""
    from scipy.sparse import csr_array

    num_docs, num_terms = len(contents.docnos), len(contents.terms)
    offsets, term_ids, tfs = contents.entries
    # Each conversion sorts the ids within rows.
    by_term = csr_array(
        (tfs, np.argsort(order)[term_ids], offsets), shape=(num_docs, num_terms)
    ).tocsc()
    by_doc = by_term.tocsr()
    for matrix, names in ((by_term, ROWS["term"]), (by_doc, ROWS["doc"])):
        for name, values in zip(names, (matrix.indptr, matrix.indices, matrix.data)):
            np.save(folder / f"{name}.npy", values.astype(ARRAYS[name][0], copy=False))
    lengths = by_doc.sum(axis=1)
    np.save(folder / "doc_lengths.npy", lengths.astype(np.int32))
    return {
        "num_docs": num_docs,
        "num_terms": num_terms,
        "num_postings": len(term_ids),
        "num_tokens": int(lengths.sum()),
    }


def _write_strings(path: Path, strings: list[str]) -> None:
    import pyarrow as pa

    table = pa.table({path.stem: pa.array(strings, pa.large_string())})
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)


def unknown_documents(unknown: npt.NDArray[np.object_], total: int, where: object) -> KeyError:
    """The error for documents that an index does not have."""
    shown = ", ".join(repr(str(docno)) for docno in unknown[:3])
    return KeyError(
        f"{len(unknown)} of {total} documents are not in {where}, among them {shown}; "
        "use the index that the results come from"
    )
