"""Reads files of labels (JSON lines, tables, qrels), and adds labels to JSON lines."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .atomic import locked, naming_full_disk
from .files import StrPath
from .lazy import pd
from .notices import excerpt
from .qrels import read_qrels
from .table_forms import text_of_cell
from .texts import json_object
from .values import text

COLUMNS = ["qid", "docno", "label", "source"]

#: The columns that identify a judged document.
KEY = ["qid", "docno"]

#: Names of the columns in files of other programs.
_ALIASES = {
    "query_id": "qid",
    "doc_id": "docno",
    "docid": "docno",
    "relevance": "label",
    "judgment": "label",
    "judge": "source",
}

#: Columns that may hold numbers in a row without a label.
_NUMERIC = {*COLUMNS, "weight", "rank_a", "rank_b", "runs", "rank", "score"}

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

#: The first bytes of each line of a :class:`LabelFile`.
_BEGINS = b'{"qid"'


class LabelFile:
    """Labels in a file of JSON lines, to which labels are added one by one.

    A label is on the disk before :meth:`add` returns. Several processes can add to one file. A
    label of None removes the last label of its document; an equal label of another process is kept.
    An incomplete last line, from an interruption, is removed.

    Args:
        path: the file; the first label creates it.

    >>> import tempfile
    >>> file = LabelFile(Path(tempfile.mkdtemp()) / "labels.jsonl")
    >>> file.add([{"qid": "q", "docno": "d", "label": 1, "source": "me"}])
    >>> file.read()["label"].tolist()
    [1.0]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def read(self) -> pd.DataFrame:
        """The labels: ``qid``, ``docno``, ``label``, ``source``; no rows if there is no file."""
        return read_labels(self.path) if self.path.exists() else pd.DataFrame(columns=COLUMNS)

    def check(self) -> None:
        """Checks that labels can be added, before users are asked for them.

        Raises:
            OSError: if the folder does not exist, or the file cannot be written.
            ValueError: for a file with other content than labels in JSON lines.
        """
        if not self.path.parent.is_dir():
            raise FileNotFoundError(
                f"labels cannot be added to {self.path}: there is no folder {self.path.parent}"
            )
        if self.path.exists():
            with open(self.path, "rb+") as file:
                self._end_of_whole_lines(file)
        elif not os.access(self.path.parent, os.W_OK):
            raise PermissionError(f"labels cannot be added to {self.path}: its folder is read-only")

    def add(self, labels: Iterable[Mapping[str, Any]]) -> None:
        """Adds labels at the end of the file.

        Args:
            labels: dicts with ``qid``, ``docno``, ``label``, ``source``; a label of None removes
                the last label of the document.

        Raises:
            ValueError: for a label that is not a finite number from 0 on or contradicts a label in
                the file, and for a file with other content; then nothing is written.
        """
        lines = [_line_of(label) for label in labels]
        with naming_full_disk(self.path), open(self.path, "ab+") as file, locked(file):
            end, feed = self._end_of_whole_lines(file)
            file.truncate(end)
            self._check_agreement(map(json.loads, lines))
            file.write(feed + b"".join(lines))
            file.flush()
            os.fsync(file.fileno())

    def _check_agreement(self, new: Iterable[dict[str, Any]]) -> None:
        """Raises ValueError for a label that contradicts a label of another process."""
        old = self.read().set_index(KEY)
        for row in new:
            key = row["qid"], row["docno"]
            if row["label"] is not None and key in old.index:
                label, source = old.loc[key, ["label", "source"]]
                if label != row["label"]:
                    raise ValueError(
                        f"{self.path}: document {key[1]!r} of query {key[0]!r} has the label "
                        f"{label:g} by now, from {source!r}; the label {row['label']:g} was not "
                        "added. Start again to continue with all labels of the file"
                    )

    def _end_of_whole_lines(self, file: BinaryIO) -> tuple[int, bytes]:
        """The position for the next label, and a line feed if it is missing before it."""
        file.seek(0)
        content = file.read()
        lines = content.removeprefix(_BYTE_ORDER_MARK).strip().splitlines()
        last = content[content.rfind(b"\n") + 1 :]
        is_complete = not last.strip() or _is_label(last)
        wrong = (
            [] if is_complete or last.startswith(_BEGINS) or _BEGINS.startswith(last) else [last]
        )
        if len(lines) > (not is_complete) and not _is_label(lines[0]):
            wrong.append(lines[0])
        if wrong:
            raise ValueError(
                f"labels cannot be added to {self.path}: it holds something else than labels in "
                f"JSON lines ({excerpt(wrong[0].strip())}); name another "
                "file"
            )
        if is_complete:
            return len(content), b"\n" if last else b""
        return len(content) - len(last), b""


def _line_of(label: Mapping[str, Any]) -> bytes:
    row = {name: label[name] for name in COLUMNS}
    for name in KEY:
        [row[name]] = _ids(pd.Series([row[name]], [1], dtype=object), f"{name} of the label to add")
    if row["label"] is not None:
        row["label"] = label_of(row["label"])
        if not row["label"] >= 0:
            raise ValueError(f"a label is a number from 0 on, not {label['label']!r}")
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def _is_label(line: bytes) -> bool:
    try:
        row = json_object(line.removeprefix(_BYTE_ORDER_MARK), "")
    except ValueError:
        return False
    return {_our_name(name) for name in row}.issuperset(KEY)


def label_of(value: Any) -> float:
    """A label as a number; NaN for a missing label (None, NaN, empty text).

    Raises:
        ValueError: for a value that is not a finite number.

    >>> label_of("2"), label_of(" "), label_of(np.float32(1))
    (2.0, nan, 1.0)
    """
    if value is None or value is pd.NA or (isinstance(value, str) and not value.strip()):
        return np.nan
    try:
        if isinstance(value, (bytes, bytearray)) or np.ndim(value):
            raise ValueError
        if isinstance(value, str) and not _NUMBER.fullmatch(value.strip()):
            raise ValueError
        label = float(value)
    except (TypeError, ValueError, OverflowError):
        label = math.inf
    if math.isinf(label):
        raise ValueError(f"the label {value!r} is not a number")
    return label


def read_labels(source: StrPath | pd.DataFrame) -> pd.DataFrame:
    """Labels from a frame or a file.

    A file holds JSON lines (``qid``, ``docno``, ``label``, or ``query_id``, ``docid``,
    ``judgment``), a table with tabs, commas or semicolons between columns of these names, or qrels.
    A row with a missing or negative label is open, all other rows are labels. ``null`` for a label
    in JSON lines removes the last earlier label of its document.

    Args:
        source: the frame, or the path of the file.

    Returns:
        ``qid``, ``docno``, ``label``, ``source`` (by default the name of the file), one row per
        labelled document.

    Raises:
        ValueError: for a row that is neither a label nor open, with its line: for a missing column,
            two columns with the same meaning, a missing id, a fraction as an id, a label that is
            not a finite number, a missing label with a number in a column of text; and for a
            document with two different labels.

    >>> read_labels(pd.DataFrame({"qid": [1], "docno": ["d"], "label": [2]}))
      qid docno  label source
    0   1     d    2.0  label
    """
    return labels_of(label_rows(source), _name_of(source))


def labels_of(rows: pd.DataFrame, source: str) -> pd.DataFrame:
    """The labels among the rows of :func:`label_rows`; ``source`` is their default source."""
    sources = rows["source"].replace("", None).fillna(source) if "source" in rows else source
    labels = rows.assign(source=sources).loc[rows["label"] >= 0, COLUMNS]
    return labels.drop_duplicates(KEY, ignore_index=True)


def label_rows(source: StrPath | pd.DataFrame) -> pd.DataFrame:
    """All rows of a file or frame of labels, with all their columns; see :func:`read_labels`.

    Returns:
        ``qid``, ``docno``, ``label`` (NaN or negative in open rows), and the other columns
        unchanged; the index is the number of the line.
    """
    name, where = _name_of(source), "line"
    if isinstance(source, pd.DataFrame):
        where, frame = "row", source.reset_index(drop=True)
    else:
        frame = _read_rows(Path(source))
    frame = frame.rename(columns=_new_names(frame.columns, name))
    missing = [column for column in COLUMNS[:3] if column not in frame]
    if missing:
        raise ValueError(f"{name}: labels need the columns {missing}; there are {list(frame)}")
    labels = []
    for line, value in frame["label"].items():
        try:
            labels.append(label_of(value))
        except ValueError as error:
            raise ValueError(f"{name}, {where} {line}: {error}") from None
    ids = {column: _ids(frame[column], f"{column} of {name}") for column in KEY}
    frame = frame.assign(label=np.array(labels, dtype=np.float64), **ids)
    _check_misplaced(frame, f"{name}, {where}")
    labelled = frame[frame["label"] >= 0]
    differs = labelled[labelled.groupby(KEY)["label"].transform("nunique") > 1]
    if len(differs):
        same = differs[(differs[KEY] == differs[KEY].iloc[0]).all(axis=1)]
        first, other = same.iloc[0], same[same["label"] != same["label"].iloc[0]].iloc[0]
        raise ValueError(
            f"{name}, {where}s {first.name} and {other.name}: document {first['docno']!r} of query "
            f"{first['qid']!r} has the labels {first['label']:g} and {other['label']:g}: remove one"
        )
    return frame


def _name_of(source: StrPath | pd.DataFrame) -> str:
    if not isinstance(source, (str, os.PathLike, pd.DataFrame)):
        raise TypeError(f"labels are a frame or a file, not a {type(source).__name__}")
    return "label" if isinstance(source, pd.DataFrame) else Path(source).name


def _check_misplaced(frame: pd.DataFrame, where: str) -> None:
    """Raises ValueError for a row without a label and with a number in a column of text."""
    unlabelled = frame[frame["label"].isna()]
    for column in [name for name in frame if name not in _NUMERIC]:
        for line, value in unlabelled[column].items():
            if isinstance(value, (str, int, float)) and _NUMBER.fullmatch(str(value).strip()):
                raise ValueError(
                    f"{where} {line}: the column 'label' is empty, and {column!r} holds "
                    f"{str(value).strip()!r}: write a grade into 'label', or -1 if the document "
                    "has none"
                )


def _our_name(name: Any) -> Any:
    """The name of a column in :data:`COLUMNS`, if it has one."""
    lower = str(name).strip().lower()
    ours = _ALIASES.get(lower, lower)
    return ours if ours in COLUMNS else name


def _new_names(names: Iterable[Any], what: str) -> dict[Any, str]:
    """Maps the names of columns to :data:`COLUMNS`; ValueError if two have the same meaning."""
    new: dict[Any, str] = {}
    for name in names:
        ours = _our_name(name)
        if ours in new.values():
            first = next(old for old in new if new[old] == ours)
            raise ValueError(
                f"{what}: the labels have the columns {name!r} and {first!r}, which mean the same: "
                "leave one out"
            )
        new[name] = ours
    return new


def _ids(values: pd.Series, what: str) -> list[str]:
    missing = [line for line, value in values.items() if value is None or value == ""]
    if missing:
        raise ValueError(f"the {what} is missing in line {missing[0]}")
    return list(text(values, what).to_pylist())


def _read_rows(path: Path) -> pd.DataFrame:
    """The rows of a file of labels, by the numbers of their lines."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a file")
    content = path.read_bytes().removeprefix(_BYTE_ORDER_MARK)
    begins = content.lstrip()
    if not begins:
        return pd.DataFrame(columns=COLUMNS)
    if begins.startswith(b"{"):
        rows = _json_rows(path, content)
        columns = None if rows else COLUMNS
        return pd.DataFrame(list(rows.values()), [*rows], columns, dtype=object)
    header = begins.partition(b"\n")[0].decode("utf-8", "replace")
    for delimiter in "\t,;":
        names = set(map(_our_name, header.replace('"', "").split(delimiter)))
        if "qid" in names and names & {"docno", "label"}:
            return _table_rows(path, content, delimiter)
    qrels = read_qrels(path)
    return qrels.set_axis(range(1, len(qrels) + 1))


def _json_rows(path: Path, content: bytes) -> dict[int, dict[str, Any]]:
    """The rows of JSON lines by line, without rows that a later line removes."""
    rows: dict[int, dict[str, Any]] = {}
    lines_of: dict[tuple[str, str], list[int]] = {}
    lines = content.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = json_object(line, where)
        except ValueError as error:
            is_complete = line.rstrip().endswith(b"}") and "Unterminated" not in str(error)
            if number == len(lines) and line.lstrip().startswith(b"{") and not is_complete:
                break
            raise
        names = _new_names(row, where)
        row = {names[name]: value for name, value in row.items()}
        missing = [column for column in COLUMNS[:3] if column not in row]
        if missing:
            raise ValueError(f"{where}: labels need the columns {missing}; there are {list(row)}")
        of_document = lines_of.setdefault((str(row["qid"]), str(row["docno"])), [])
        if row["label"] is not None:
            rows[number] = row
            of_document.append(number)
        elif of_document:
            del rows[of_document.pop()]
    return rows


def _table_rows(path: Path, content: bytes, delimiter: str) -> pd.DataFrame:
    """The rows of a table; empty cells at the end of a line may be missing."""
    try:
        lines = _cells_of_lines(content.decode(), delimiter)
        table = {
            number: [text_of_cell(cell) for cell in cells]
            for number, cells in lines
            if any(cell.strip() for cell in cells)
        }
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: {error}") from None
    header, *rows = table.values()
    _new_names(header, str(path))
    for number, cells in table.items():
        if len(cells) > len(header):
            raise ValueError(
                f"{path}, line {number}: {len(cells)} columns where the header has {len(header)}"
            )
        cells += [""] * (len(header) - len(cells))
    return pd.DataFrame(rows, [*table][1:], header, dtype=object)


def _cells_of_lines(content: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line, with its number; only tabs do not allow quotes."""
    if delimiter == "\t":
        for number, line in enumerate(content.split("\n"), 1):
            yield number, line.rstrip("\r").split(delimiter)
    else:
        reader = csv.reader(io.StringIO(content, newline=""), delimiter=delimiter)
        for cells in reader:
            yield reader.line_num, cells
