"""What queries and documents say, for those who look at a topic."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

#: Characters of a document on the page.
_BEGINNING = 280


@dataclass(frozen=True)
class Texts:
    """Texts, where they are known.

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
        whole: bool = False,
    ) -> Texts:
        """Texts from wherever they are.

        Args:
            topics: frame with ``qid`` and ``query``, dict of query id -> text, or a file with lines
                ``qid<TAB>query``.
            dataset: an ir_datasets id, with or without ``irds:``; for the texts of documents, and
                of queries that topics do not have.
            docnos: the documents that are asked for.
            whole: documents to their end, not their beginning alone.

        Raises:
            ValueError: for topics of another form, or a dataset that there is not.

        >>> Texts.of({1: "two  words"}).queries
        {'1': 'two words'}
        """
        queries: dict[str, str] = {}
        documents: dict[str, str] = {}
        if dataset is not None:
            queries, documents = _from_dataset(dataset, list(docnos))
        if topics is not None:
            queries = {**queries, **_queries_of(topics)}
        return cls(
            {qid: _in_a_line(text) for qid, text in queries.items()},
            {docno: text if whole else _beginning(text) for docno, text in documents.items()},
        )


def _queries_of(topics: Any) -> dict[str, str]:
    if isinstance(topics, (str, os.PathLike)):
        return read_queries(topics)
    if isinstance(topics, Mapping):
        return {str(qid): str(text) for qid, text in topics.items()}
    columns = list(getattr(topics, "columns", []))
    text = next((name for name in ("query", "text", "title") if name in columns), None)
    if text is None or "qid" not in columns:
        raise ValueError(
            f"topics need the columns qid and query; these have {columns or type(topics).__name__}"
        )
    return {str(qid): str(said) for qid, said in zip(topics["qid"], topics[text])}


def read_queries(path: str | os.PathLike[str]) -> dict[str, str]:
    """The queries of a file with lines ``qid<TAB>query``, by query id.

    Raises:
        ValueError: for another line, a query id that is there twice, or what is not UTF-8.
    """
    queries: dict[str, str] = {}
    for number, line in enumerate(text_lines(path), 1):
        qid, tab, query = line.rstrip("\r\n").partition("\t")
        if not line.strip():
            continue
        if not (qid and tab):
            shown = line.strip()[:100]
            raise ValueError(f"{path}, line {number}: expected qid<TAB>query, found {shown!r}")
        if qid in queries:
            raise ValueError(f"{path}, line {number}: query {qid!r} comes twice")
        queries[qid] = query
    return queries


def text_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """The lines of a small text file in UTF-8, with their ends.

    Raises:
        ValueError: for what is not UTF-8, with the file.
    """
    with open(path, encoding="utf-8-sig", newline="") as file:
        try:
            yield from file
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8: {error}") from None


def _from_dataset(name: str, docnos: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    from .qrels import load_irds

    dataset = load_irds(name)
    queries = {}
    if dataset.has_queries():
        queries = {str(query.query_id): query.default_text() for query in dataset.queries_iter()}
    documents = {}
    if dataset.has_docs():
        found = dataset.docs_store().get_many(sorted(set(docnos)))
        documents = {docno: document.default_text() for docno, document in found.items()}
    return queries, documents


def _in_a_line(text: str) -> str:
    return " ".join(text.split())


def _beginning(text: str) -> str:
    line = _in_a_line(text[: 4 * _BEGINNING])
    return line if len(line) <= _BEGINNING else line[: _BEGINNING - 1].rstrip() + "…"
