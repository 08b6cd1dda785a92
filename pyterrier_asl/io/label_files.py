"""Files of labels: lines of JSON to which labels are added, tables, and qrels."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .atomic import locked, naming_full_disk
from .files import StrPath
from .lazy import pd
from .machine_readable import text_of_cell
from .qrels import read_qrels
from .texts import parse_json
from .values import text

COLUMNS = ["qid", "docno", "label", "source"]

#: The columns that identify a judged document.
KEY = ["qid", "docno"]

#: Other names of the columns, in the files of other programs.
_ALIASES = {
    "query_id": "qid",
    "doc_id": "docno",
    "docid": "docno",
    "relevance": "label",
    "judgment": "label",
    "judge": "source",
}

#: Columns that can hold numbers in a row without a label.
_NUMERIC = {*COLUMNS, "weight", "rank_a", "rank_b", "runs", "rank", "score"}

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

#: What each line of a :class:`LabelFile` begins with.
_BEGINS = b'{"qid"'


class LabelFile:
    """Labels in a file of JSON lines, to which each is added as it comes.

    What has been added stays, whatever happens afterwards: it is on the disk before :meth:`add`
    returns. Several processes may add to one file. A label of None takes back the labels of its
    document before it. A last line that was cut off by an interruption is dropped.

    Args:
        path: the file; it is made with the first label.

    >>> import tempfile
    >>> file = LabelFile(Path(tempfile.mkdtemp()) / "labels.jsonl")
    >>> file.add([{"qid": "q", "docno": "d", "label": 1, "source": "me"}])
    >>> file.read()["label"].tolist()
    [1.0]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def read(self) -> pd.DataFrame:
        """The labels: ``qid``, ``docno``, ``label``, ``source``; none where there is no file."""
        return read_labels(self.path) if self.path.exists() else pd.DataFrame(columns=COLUMNS)

    def check(self) -> None:
        """Checks that labels can be added, before anybody is asked for them.

        Raises:
            OSError: where there is no folder for the file, or the file must not be written.
            ValueError: where the file holds something else than labels in JSON lines.
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
            labels: each with ``qid``, ``docno``, ``label``, ``source``; a label of None takes back
                what was added for the document.

        Raises:
            ValueError: for a label that is no finite number from 0 on, one that contradicts a
                label in the file, or a file that holds something else; nothing is written then.
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
        """Raises ValueError for a label that contradicts one that another process has added."""
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
        """The position for the next label, and the line feed that is missing before it, if any."""
        file.seek(0)
        content = file.read()
        lines = content.removeprefix(_BYTE_ORDER_MARK).strip().splitlines()
        last = content[content.rfind(b"\n") + 1 :]
        whole = not last.strip() or _is_label(last)
        if not whole and not last.startswith(_BEGINS) and not _BEGINS.startswith(last):
            raise self._another_kind(last)
        if len(lines) > (not whole) and not _is_label(lines[0]):
            raise self._another_kind(lines[0])
        if whole:
            return len(content), b"\n" if last else b""
        return len(content) - len(last), b""

    def _another_kind(self, line: bytes) -> ValueError:
        return ValueError(
            f"labels cannot be added to {self.path}: it holds something else than labels in JSON "
            f"lines ({_shown(line)}); name another file"
        )


def _line_of(label: Mapping[str, Any]) -> bytes:
    row = {name: label[name] for name in COLUMNS}
    for name in KEY:
        row[name] = _ids(pd.Series([row[name]], [1], dtype=object), f"{name} of the label to add")[
            0
        ]
    if row["label"] is not None:
        row["label"] = label_of(row["label"])
        if not row["label"] >= 0:
            raise ValueError(f"a label is a number from 0 on, not {label['label']!r}")
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def _is_label(line: bytes) -> bool:
    try:
        row = parse_json(line.removeprefix(_BYTE_ORDER_MARK))
    except ValueError:  # UnicodeDecodeError is one
        return False
    return isinstance(row, dict) and {_our_name(name) for name in row}.issuperset(KEY)


def label_of(value: Any) -> float:
    """A label as a number; NaN where there is none (None, NaN, no text).

    Raises:
        ValueError: for what is no finite number.

    >>> label_of("2"), label_of(" "), label_of(np.float32(1))
    (2.0, nan, 1.0)
    """
    if value is None or value is pd.NA or (isinstance(value, str) and not value.strip()):
        return np.nan
    wrong = ValueError(f"the label {value!r} is no number")
    if isinstance(value, (bytes, bytearray)) or np.ndim(value):
        raise wrong
    if isinstance(value, str) and not _NUMBER.fullmatch(value.strip()):
        raise wrong
    try:
        label = float(value)
    except (TypeError, ValueError, OverflowError):
        raise wrong from None
    if np.isinf(label):
        raise wrong
    return label


def read_labels(source: StrPath | pd.DataFrame) -> pd.DataFrame:
    """Labels from a frame or a file.

    A file holds JSON lines (``qid``, ``docno``, ``label``, or ``query_id``, ``docid``,
    ``judgment``), a table with tabs, commas or semicolons between columns of these names, or qrels.
    A row is a label, or it is open: its label is missing or negative. ``null`` for a label in JSON
    lines takes back the labels of its document before it.

    Args:
        source: the frame, or the path of the file.

    Returns:
        ``qid``, ``docno``, ``label``, ``source`` (the name of the file where it names none), a row
        for each labelled document.

    Raises:
        ValueError: for a row that is neither a label nor open, with its line: without these
            columns or with two of one meaning, a missing id, a fraction for an id, a label that is
            no finite number, or no label and a number in a column of text; and for a document
            that has two different labels.

    >>> read_labels(pd.DataFrame({"qid": [1], "docno": ["d"], "label": [2]}))
      qid docno  label source
    0   1     d    2.0  label
    """
    return labelled_of(label_rows(source), _name_of(source))


def labelled_of(rows: pd.DataFrame, source: str) -> pd.DataFrame:
    """The labels among the rows of :func:`label_rows`, by this source where they name none."""
    sources = rows["source"].replace("", None).fillna(source) if "source" in rows else source
    labels = rows.assign(source=sources).loc[rows["label"] >= 0, COLUMNS]
    return labels.drop_duplicates(KEY, ignore_index=True)


def label_rows(source: StrPath | pd.DataFrame) -> pd.DataFrame:
    """All rows of a file or frame of labels, with all their columns; see :func:`read_labels`.

    Returns:
        ``qid``, ``docno``, ``label`` (NaN or negative where the row is open), and the other columns
        as they are; the index is the number of the line.
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
            f"{first['qid']!r} has the labels {first['label']:g} and {other['label']:g}: take one "
            "out"
        )
    return frame


def _name_of(source: StrPath | pd.DataFrame) -> str:
    return "label" if isinstance(source, pd.DataFrame) else Path(source).name


def _check_misplaced(frame: pd.DataFrame, where: str) -> None:
    """Raises ValueError for a row without a label but with a number where a text belongs."""
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
    """The name that we have for a column."""
    lower = str(name).strip().lower()
    ours = _ALIASES.get(lower, lower)
    return ours if ours in COLUMNS else name


def _new_names(names: Iterable[Any], what: str) -> dict[Any, str]:
    """Maps the names of columns to :data:`COLUMNS`; ValueError where two mean the same."""
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
    ids: list[str] = text(values, what).to_pylist()
    return ids


def _read_rows(path: Path) -> pd.DataFrame:
    """The rows of a file of labels, by the numbers of their lines."""
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
    """The rows of JSON lines by line, without those that a later line takes back."""
    rows: dict[int, dict[str, Any]] = {}
    lines_of: dict[tuple[str, str], list[int]] = {}
    lines = content.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = parse_json(line)
        except ValueError as error:  # UnicodeDecodeError is one
            if number == len(lines) and _is_cut(line, error):
                break
            raise ValueError(f"{where}: this is no JSON ({error}): {_shown(line)}") from None
        if not isinstance(row, dict):
            raise ValueError(f"{where}: this is no label with qid, docno and label: {_shown(line)}")
        names = _new_names(row, where)
        row = {names[name]: value for name, value in row.items()}
        missing = [column for column in COLUMNS[:3] if column not in row]
        if missing:
            raise ValueError(f"{where}: labels need the columns {missing}; there are {list(row)}")
        of_document = lines_of.setdefault((str(row["qid"]), str(row["docno"])), [])
        if row["label"] is None:
            for earlier in of_document:
                rows.pop(earlier, None)
        else:
            rows[number] = row
            of_document.append(number)
    return rows


def _is_cut(line: bytes, error: ValueError) -> bool:
    """Whether the last line of a file was not written to its end."""
    return not line.rstrip().endswith(b"}") or "Unterminated" in str(error)


def _shown(line: bytes) -> str:
    """The beginning of a line, for an error message."""
    return repr(line[:80].decode("utf-8", "replace").strip())


def _table_rows(path: Path, content: bytes, delimiter: str) -> pd.DataFrame:
    """The rows of a table; an editor may have taken off empty cells at the end."""
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
    """The cells of each line, by its number; those between commas may be in quotes."""
    if delimiter == "\t":
        for number, line in enumerate(content.split("\n"), 1):
            yield number, line.rstrip("\r").split(delimiter)
    else:
        reader = csv.reader(io.StringIO(content, newline=""), delimiter=delimiter)
        for cells in reader:
            yield reader.line_num, cells
