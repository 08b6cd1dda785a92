"""DocLengths: the lengths of documents in words, for measures of reading time."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from ..common.notices import counted, progress_bar
from ..common.types import Floats
from ..io.opening import decompressed, file_format, open_file
from ..io.qrels import irds_documents
from ..io.saved_tables import load_table, naming_damage, save_table
from ..io.trec_text import Layout, read_columns
from ..io.values import numbers, text
from ..judging.pair_index import PairIndex
from .named import Named

if TYPE_CHECKING:
    from typing import Self

    import pandas as pd

_IRDS = "irds:"
_VERSION = 1

#: The lines of a text file of lengths.
_LINES = Layout("lengths", ("docno", "words"), "words", infinite=False)


class DocLengths(Named):
    """The lengths of a collection's documents.

    ``lengths=`` of :data:`~pyterrier_asl.TBG` takes a ``DocLengths``, the name of one in this
    process, a dict of document id -> length, a file, or ``'irds:ID'``.

    Attributes:
        name: the name, which tells what was counted.
        id: name and digest of the content, as a measure prints it.
        docnos: the document ids.

    Args:
        docnos: document ids.
        lengths: their lengths, from 0 on.
        name: their name.

    Raises:
        ValueError: for a length that is not a number, or below 0, or a document with two lengths.

    >>> lengths = DocLengths(["d1", "d2"], [120, 80])
    >>> len(lengths), lengths.look_up(pa.array(["d2", "d3"], type=pa.large_string())).tolist()
    (2, [80.0, nan])
    """

    KIND: ClassVar[str] = "document lengths"
    MADE_BY: ClassVar[str] = "from_dict"
    FILE: ClassVar[str] = "with lines 'docno words'"

    def __init__(self, docnos: Any, lengths: Any, *, name: str = "lengths") -> None:
        self.docnos = text(docnos, "document id of the lengths")
        self._lengths = numbers(lengths, "document length")
        if len(self.docnos) != len(self._lengths):
            raise ValueError(f"{len(self.docnos)} documents have {len(self._lengths)} lengths")
        wrong = np.flatnonzero((self._lengths < 0) | np.isinf(self._lengths))
        if len(wrong):
            raise ValueError(
                "a document length is a number from 0 on, but "
                f"{self.docnos[int(wrong[0])].as_py()!r} has {self._lengths[wrong[0]]:g} "
                f"({len(wrong)} such in all)"
            )
        self._index = PairIndex(np.array([0, len(self.docnos)]), self.docnos)
        twice = self._index.repeated
        if len(twice):
            raise ValueError(
                f"the lengths have {counted(len(twice), 'document')} twice "
                f"(e.g. {self.docnos[int(twice[0])].as_py()!r})"
            )
        self._register(name, [self.docnos, self._lengths])

    @classmethod
    def from_irds(cls, dataset_id: str) -> Self:
        """Counts the words of every document of an ir_datasets collection: ``len(text.split())``.

        Args:
            dataset_id: for example ``'vaswani'``.

        Raises:
            ValueError: for an unknown collection, or one without documents.
            OSError: if it cannot be downloaded.
        """
        documents, total = irds_documents(dataset_id)
        lengths = {
            document.doc_id: len(document.default_text().split())
            for document in progress_bar(documents, total=total, desc=f"words of {dataset_id}")
        }
        return cls.from_dict(lengths, name=_IRDS + dataset_id)

    @classmethod
    def from_index(cls, index: Any, *, name: str = "index") -> Self:
        """Takes the numbers of tokens of an index: without stopwords, some 40 % below all words.

        Args:
            index: a :class:`~pyterrier_asl.TermIndex`, or a Terrier index or its path.
            name: the name; the default tells the reader of a measure that tokens were counted.
        """
        if hasattr(index, "docnos") and hasattr(index, "doc_lengths"):
            docnos, lengths = list(index.docnos), index.doc_lengths
        else:
            from ..io.terrier_index import document_lengths

            docnos, lengths = document_lengths(index)
        return cls(docnos, np.asarray(lengths, dtype=np.float64), name=name)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, *, name: str = "lengths") -> Self:
        """Takes lengths from a frame with columns ``docno`` and ``doc_len``."""
        lacking = [column for column in ("docno", "doc_len") if column not in frame.columns]
        if lacking:
            raise ValueError(f"lengths need the columns {lacking}; there are {list(frame.columns)}")
        return cls(frame["docno"], frame["doc_len"], name=name)

    @classmethod
    def from_dict(cls, lengths: Mapping[str, float], *, name: str = "lengths") -> Self:
        """Takes lengths from a dict of document id -> length.

        >>> DocLengths.from_dict({"d1": 120})
        DocLengths('lengths-fa0e3b29', documents=1)
        """
        return cls(list(lengths), list(lengths.values()), name=name)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Saves the lengths as Parquet; an existing file is replaced when all is written.

        Args:
            path: the file.
            force: whether a file with other content is overwritten.
        """
        metadata = {"lengths": json.dumps({"name": self.name})}
        table = pa.table({"docno": self.docnos, "doc_len": self._lengths}, metadata=metadata)
        save_table(table, path, kind=self.KIND, version=_VERSION, force=force)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, name: str | None = None) -> Self:
        """Loads lengths from a file; measures then find them by their name.

        Args:
            path: a file that :meth:`save` wrote; or text, plain or compressed, with a document id,
                white space and its number of words on each line.
            name: the name; None: the saved name, or the name of the text file up to its first dot.

        Raises:
            ValueError: for another file, with the line that is wrong.
            OSError: for a file that cannot be read.

        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "words.txt"
        >>> _ = path.write_text("d1 120\\nd2\\t80\\n")
        >>> DocLengths.load(path).look_up(pa.array(["d2", "d1"], type=pa.large_string())).tolist()
        [80.0, 120.0]
        """
        file = Path(path)
        with open_file(file) as opened:
            if file.stat().st_size and file_format(file, opened) != "Parquet":
                with decompressed(file, opened) as stream:
                    return cls._from_text(file, stream, name)
        table = load_table(path, kind=cls.KIND, version=_VERSION)
        with naming_damage(path):
            saved = json.loads(table.schema.metadata[b"lengths"])["name"]
            return cls(table["docno"], table["doc_len"], name=name or saved)

    @classmethod
    def _from_text(cls, path: Path, stream: Any, name: str | None) -> Self:
        try:
            table = read_columns(path, stream, _LINES, _LINES.columns)
        except ValueError as error:
            raise ValueError(f"{error} (and it is not a pyterrier_asl {cls.KIND} file)") from None
        try:
            return cls(*table.columns, name=name or path.name.partition(".")[0] or "lengths")
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    @classmethod
    def resolve(cls, value: object) -> Self:
        """The lengths of a parameter: see :meth:`Named.resolve`; also a dict or ``'irds:ID'``."""
        if isinstance(value, Mapping):
            return cls.from_dict(value)
        if isinstance(value, str) and value.startswith(_IRDS) and cls._find(value) is None:
            # An id has the digest.
            lengths = cls.from_irds(re.sub(r"-[0-9a-f]{8}$", "", value.removeprefix(_IRDS)))
            if value not in (lengths.id, lengths.name):
                raise ValueError(
                    f"lengths of this version of the collection, {lengths.id!r}: {value!r} were "
                    "counted on another version"
                )
            return lengths
        return super().resolve(value)

    def __len__(self) -> int:
        return len(self._lengths)

    def __repr__(self) -> str:
        return f"DocLengths({self.id!r}, documents={len(self)})"

    def look_up(self, docnos: pa.LargeStringArray) -> Floats:
        """The length of each document, NaN for documents without one."""
        return np.asarray(np.append(self._lengths, np.nan)[self._index.find(None, docnos)])
