"""Test collections: indexed documents with their lengths in words, topics, judgements."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyterrier as pt

from ..common.notices import excerpt
from ..evaluation.sources import refuse
from ..io.declared import GradesOfLabels, NamesOfColumns
from ..io.formats import json_object
from ..io.qrels import irds_qrels, read_qrels
from ..io.texts import read_texts
from ..measures.lengths import DocLengths
from ..retrieval.build import docno_of, indexed_text
from ..retrieval.index import TermIndex

#: The files of a folder with a collection.
DOCUMENTS, QUERIES, QRELS = "docs.jsonl.gz", "queries.tsv", "qrels.txt"


@dataclass(frozen=True)
class IndexedCollection:
    """A test collection.

    Attributes:
        name: its name in tables.
        index: the index of the documents.
        lengths: words of each document, for TBG.
        topics: ``qid``, ``query``.
        qrels: ``qid``, ``docno``, ``label``.
    """

    name: str
    index: TermIndex
    lengths: DocLengths
    topics: pd.DataFrame
    qrels: pd.DataFrame

    def every_other_topic(self, start: int) -> IndexedCollection:
        """Half of the topics: the first, third, ... (0) or the second, fourth, ... (1)."""
        name = f"{self.name}, {('odd', 'even')[start]}"
        return replace(self, name=name, topics=self.topics.iloc[start::2])


def load_collection(
    source: str,
    like: IndexedCollection | None = None,
    *,
    verbose: bool = True,
    columns: NamesOfColumns = None,
    grades: GradesOfLabels = None,
) -> IndexedCollection:
    """Reads and indexes a collection.

    Args:
        source: an ir_datasets id, with or without ``irds:`` before it, or a folder with
            ``docs.jsonl.gz`` (objects with ``docno``, ``text`` and, optionally, ``title``),
            ``queries.tsv`` (query id, tab, query) and ``qrels.txt``.
        like: a loaded collection; its index is used for other topics on the same documents.
        verbose: whether to show the progress of indexing.
        columns: names of columns of the qrels of a folder, as :func:`~pyterrier_asl.read_qrels`
            takes them.
        grades: grades of labels that are words, in these qrels.

    Raises:
        ValueError: for an unknown id, or an invalid file.
        OSError: for a missing file, or a dataset that cannot be downloaded.
    """
    folder = Path(source).expanduser()
    if folder.is_dir():
        return _from_folder(folder, verbose, columns=columns, grades=grades)
    refuse(f"is for the {QRELS} of a folder, not for {source!r}", columns=columns, grades=grades)
    return _from_irds(source, like, verbose)


def _from_irds(source: str, like: IndexedCollection | None, verbose: bool) -> IndexedCollection:
    import ir_datasets

    name = source.removeprefix("irds:")
    try:
        qrels = irds_qrels(name)  # first, because its error explains an invalid id
    except ValueError as error:
        raise ValueError(f"there is no folder {source!r}, and {error}") from None
    documents = ir_datasets.docs_parent_id(name)
    if like is not None and like.index.metadata["source"] == f"irds:{documents}":
        index, lengths = like.index, like.lengths
    else:
        index = TermIndex.from_irds(documents, verbose=verbose)
        lengths = DocLengths.from_irds(documents)
    dataset = pt.get_dataset(f"irds:{name}")
    # The title of a TREC topic is its query.
    has_titles = "title" in dataset.irds_ref().queries_cls()._fields
    return IndexedCollection(
        name, index, lengths, dataset.get_topics("title" if has_titles else None), qrels
    )


def _from_folder(folder: Path, verbose: bool, **declared: Any) -> IndexedCollection:
    for name in (DOCUMENTS, QUERIES, QRELS):
        if not (folder / name).is_file():
            raise FileNotFoundError(
                f"{folder} has no {name}: the folder of a collection needs {DOCUMENTS}, {QUERIES} "
                f"and {QRELS}"
            )
    words: dict[str, int] = {}
    try:
        index = TermIndex.from_documents(
            _read_documents(folder / DOCUMENTS, words), verbose=verbose
        )
    except ValueError as error:
        raise ValueError(f"{folder / DOCUMENTS}: {error}") from error
    queries = read_texts(folder / QUERIES, "query")
    return IndexedCollection(
        folder.resolve().name,
        index,
        DocLengths.from_dict(words, name=folder.resolve().name),
        pd.DataFrame({"qid": list(queries), "query": list(queries.values())}, dtype=str),
        read_qrels(folder / QRELS, **declared),
    )


def _read_documents(path: Path, words: dict[str, int]) -> Iterator[dict[str, str]]:
    """Reads the documents of a file; adds the length of each to ``words``."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            document = json_object(line, f"line {number}")
            try:
                docno, text = docno_of(document), indexed_text(document)
            except (ValueError, TypeError, KeyError) as error:
                raise ValueError(
                    f"line {number}: expected an object with docno and text, found "
                    f"{excerpt(line.strip())} ({error})"
                ) from error
            words[docno] = len(text.split())
            yield {"docno": docno, "text": text}
