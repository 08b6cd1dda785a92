"""Texts of queries and documents, for display."""

from __future__ import annotations

import io
import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..common.notices import counted, excerpt
from .declared import SYNONYMS, plain
from .formats import json_object
from .opening import open_text

#: The characters of a document on the page.
_BEGINNING = 280
#: The name of texts in frames, the column of their ids, and the columns that can hold them.
_FRAMES = {
    "query": ("topics", "qid", "query", "text", "title"),
    "document": ("documents", "docno", "text", "body", "title"),
}


@dataclass(frozen=True)
class Texts:
    """The available texts of queries and documents.

    Attributes:
        queries: query id (as text) -> text.
        documents: document id -> its beginning.
    """

    queries: Mapping[str, str] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        topics: Any = None,
        dataset: str | None = None,
        docnos: Iterable[str] = (),
        *,
        docs: Any = None,
        whole: bool = False,
        qids: Sequence[Any] = (),
    ) -> Texts:
        """Collects texts from topics, files, dicts and a dataset.

        Args:
            topics: frame with ``qid`` and ``query``, dict of query id -> text, or a file that
                :func:`read_texts` reads.
            dataset: an ir_datasets id, with or without ``irds:``; for texts of documents, and for
                queries that are not among the topics.
            docnos: the documents whose texts are needed.
            docs: texts of documents, which replace texts of the dataset: frame with ``docno`` and
                ``text``, dict of document id -> text, or a file that :func:`read_texts` reads.
            whole: whether to keep the whole text of a document, not only its beginning.
            qids: the queries whose texts are needed.

        Raises:
            ValueError: for topics of another form, an unknown dataset, topics without any of the
                queries, or a dataset without any of the queries and documents.

        >>> Texts.of({1: "two  words"}).queries
        {'1': 'two words'}
        """
        wanted = set(docnos)
        queries, documents = ({}, {}) if dataset is None else _from_dataset(dataset, wanted)
        if docs is not None:
            texts = _texts_of(docs, "document", wanted)
            documents.update((docno, texts[docno]) for docno in wanted if docno in texts)
        own = {} if topics is None else _texts_of(topics, "query")
        queries = {**queries, **own}
        has_query = any(str(qid) in queries for qid in qids) or not qids
        if not has_query and (topics is not None or (dataset is not None and not documents)):
            what = "the topics have" if topics is not None else f"{dataset} has"
            raise ValueError(
                f"{what} none of the queries: the ids there look like "
                f"{next(iter(own or queries), None)!r}, the ids of the queries like {qids[0]!r}"
            )
        return cls(
            {qid: _in_a_line(text) for qid, text in queries.items()},
            {docno: text if whole else _beginning(text) for docno, text in documents.items()},
        )


def _texts_of(source: Any, kind: str, wanted: Container[str] | None = None) -> dict[str, str]:
    """The texts of queries or documents by id, from a frame, dict or file."""
    if isinstance(source, (str, os.PathLike)):
        return read_texts(source, kind, wanted)
    if isinstance(source, Mapping):
        return {str(key): str(text) for key, text in source.items()}
    columns = list(getattr(source, "columns", []))
    what, key, *names = _FRAMES[kind]
    text = next((name for name in names if name in columns), None)
    if text is None or key not in columns:
        raise ValueError(
            f"{what} need the columns {key} and {names[0]}; these have "
            f"{columns or type(source).__name__}"
        )
    return dict(zip(source[key].astype(str), source[text].astype(str)))


def read_texts(
    path: str | os.PathLike[str], kind: str = "document", wanted: Container[str] | None = None
) -> dict[str, str]:
    """The texts of a file of queries or documents, by id.

    Each line is ``qid<TAB>query`` or ``docno<TAB>text``, or a JSON object with an id (``qid``,
    ``docno``, ``_id`` or others of :data:`~pyterrier_asl.io.declared.SYNONYMS`) and texts
    (``query``, ``title``, ``text``, ``contents``, ``body``, ``segment`` or ``passage``, in this
    order, with line feeds between them).

    Args:
        path: the file, perhaps compressed with gzip, bzip2, zstd or LZ4.
        kind: the name of the texts in errors: ``'query'`` or ``'document'``.
        wanted: the ids of the texts to keep; None: all.

    Raises:
        ValueError: for another line, an id that occurs twice, text that is not UTF-8, or a file
            without any of the wanted texts.
    """
    texts: dict[str, str] = {}
    number = 0
    for number, line in enumerate(text_lines(path), 1):
        if line.strip():
            name, text = _text_of_line(line, kind, f"{path}, line {number}")
            if name in texts:
                raise ValueError(f"{path}, line {number}: {kind} {name!r} occurs twice")
            if wanted is None or name in wanted:
                texts[name] = text
    if wanted and not texts:
        lines = counted(number, "line has another id", "lines have other ids")
        why = f"its {lines}" if number else "it is empty"
        raise ValueError(f"{path} has none of the texts that are needed: {why}")
    return texts


_IDS = (
    *(name for at in (0, 1) for key in ("qid", "docno") for name in SYNONYMS[key][at]),
    *("id", "_id"),
)
_TEXTS = SYNONYMS["text"][0]


def _text_of_line(line: str, kind: str, where: str) -> tuple[str, str]:
    if not line.lstrip().startswith("{"):
        name, tab, text = line.rstrip("\r\n").partition("\t")
        if not (name and tab):
            form = "qid<TAB>query" if kind == "query" else "docno<TAB>text"
            raise ValueError(f"{where}: expected {form}, found {excerpt(line.strip())}")
        return name, text
    row = {plain(name): value for name, value in json_object(line, where).items()}
    names = [row[name] for name in _IDS if isinstance(row.get(name), (str, int))]
    texts = [row[name] for name in _TEXTS if isinstance(row.get(name), str)]
    if not (names and texts):
        raise ValueError(
            f"{where}: expected an id, such as qid or docno, and a text ({', '.join(_TEXTS)}), "
            f"found {', '.join(row)}"
        )
    return str(names[0]), "\n".join(text for text in texts if text)


def text_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """The lines of a text file in UTF-8, with their ends; compressed files are decompressed.

    Raises:
        OSError: without such a file.
        ValueError: for text that is not UTF-8, with the file.
    """
    with open_text(Path(path)) as stream:
        try:
            with io.TextIOWrapper(stream, "utf-8-sig", newline="") as lines:
                yield from lines
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8: {error}") from None


def _from_dataset(name: str, docnos: set[str]) -> tuple[dict[str, str], dict[str, str]]:
    from .qrels import explain_downloads, load_irds

    dataset = load_irds(name)
    queries, documents = {}, {}
    with explain_downloads(name):
        if dataset.has_queries():
            queries = {str(q.query_id): q.default_text() for q in dataset.queries_iter()}
        if dataset.has_docs():
            by_docno = dataset.docs_store().get_many(sorted(docnos))
            documents = {docno: document.default_text() for docno, document in by_docno.items()}
    return queries, documents


def _in_a_line(text: str) -> str:
    return " ".join(text.split())


def _beginning(text: str) -> str:
    line = _in_a_line(text[: 4 * _BEGINNING])
    return line if len(line) <= _BEGINNING else line[: _BEGINNING - 1].rstrip() + "…"
