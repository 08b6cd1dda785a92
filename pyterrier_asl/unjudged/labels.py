"""Labels of unjudged documents: files to which they are added, and merging with the qrels."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from ..evaluation.evaluation import Qrels
from ..io.atomic import locked, naming_full_disk
from ..io.files import StrPath
from ..io.machine_readable import text_of_cell
from ..io.qrels import read_qrels
from ..io.texts import parse_json
from ..io.values import text
from ..judging.judgements import Judgements
from ..scoring.arrays import Floats

COLUMNS = ["qid", "docno", "label", "source"]

#: The source of official judgements.
OFFICIAL = "official"

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

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

#: What each line of a :class:`LabelFile` begins with.
_BEGINS = b'{"qid"'


class LabelFile:
    """Labels in a file of JSON lines, to which each is added as it comes.

    What has been added stays, whatever happens afterwards: it is on the disk before :meth:`add`
    returns. Several processes may add to one file. The last label of a document counts; a label of
    None takes back those before it. A last line that was cut off by an interruption is dropped.

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
            ValueError: for a label that is no finite number from 0 on, or a file that holds
                something else; nothing is written then.
        """
        lines = [_line_of(label) for label in labels]
        with naming_full_disk(self.path), open(self.path, "ab+") as file, locked(file):
            end, feed = self._end_of_whole_lines(file)
            file.truncate(end)
            file.write(feed + b"".join(lines))
            file.flush()
            os.fsync(file.fileno())

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
        row[name] = _ids([row[name]], name, "the label to add")[0]
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
    return isinstance(row, dict) and {_ALIASES.get(name, name) for name in row}.issuperset(KEY)


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


def labels_of(values: Iterable[Any], name: str) -> Floats:
    """Labels as numbers (see :func:`label_of`); errors begin with the name of what holds them."""
    try:
        return np.array([label_of(value) for value in values], dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def read_labels(source: StrPath | pd.DataFrame) -> pd.DataFrame:
    """Labels from a frame or a file.

    A file holds JSON lines (``qid``, ``docno``, ``label``, or ``query_id``, ``docid``,
    ``judgment``), a table with tabs between columns of these names, or qrels. Rows without a label,
    and those with a negative one, are unjudged and left out. Where a document stands twice, the
    last label counts; ``null`` for a label in JSON lines takes back those before it.

    Args:
        source: the frame, or the path of the file.

    Returns:
        ``qid``, ``docno``, ``label``, ``source`` (the name of the file where it says none).

    Raises:
        ValueError: for a file or frame without these columns, or with two of one meaning, a missing
            id, a fraction for an id, and a label that is no finite number.

    >>> read_labels(pd.DataFrame({"qid": [1], "docno": ["d"], "label": [2]}))
      qid docno  label source
    0   1     d    2.0  label
    """
    name = "label"
    if isinstance(source, pd.DataFrame):
        frame = source
    else:
        path = Path(source)
        name, frame = path.name, read_rows(path)
    frame = frame.rename(columns=_new_names(frame.columns, name))
    missing = [column for column in COLUMNS[:3] if column not in frame]
    if missing:
        raise ValueError(f"{name}: labels need the columns {missing}; there are {list(frame)}")
    labels = labels_of(frame["label"], name)
    sources = frame["source"].replace("", None).fillna(name) if "source" in frame else name
    ids = {column: _ids(frame[column], column, name) for column in KEY}
    frame = frame.assign(label=labels, source=sources, **ids)
    frame = frame.loc[labels >= 0, COLUMNS]
    return frame.drop_duplicates(KEY, keep="last", ignore_index=True)


def _new_names(names: Iterable[Any], what: str) -> dict[Any, str]:
    """Maps the names of columns to :data:`COLUMNS`; ValueError where two mean the same."""
    new: dict[Any, str] = {}
    for name in names:
        ours = _ALIASES.get(name, name)
        if ours in new.values():
            first = next(old for old in new if new[old] == ours)
            raise ValueError(
                f"{what}: the labels have the columns {name!r} and {first!r}, which mean the same: "
                "leave one out"
            )
        new[name] = ours
    return new


def _ids(values: Any, column: str, name: str) -> list[str]:
    what = f"{column} of {name}"
    ids: list[str] = text(values, what).to_pylist()
    if "" in ids:
        raise ValueError(f"the {what} is missing in row {ids.index('')}")
    return ids


def read_rows(path: Path) -> pd.DataFrame:
    """All rows of a file of labels, with and without a label, and all their columns.

    Raises:
        ValueError: for a line that does not fit, by its number.
    """
    content = path.read_bytes().removeprefix(_BYTE_ORDER_MARK)
    begins = content.lstrip()
    if not begins:
        return pd.DataFrame(columns=COLUMNS)
    if begins.startswith(b"{"):
        rows = _json_rows(path, content)
        return pd.DataFrame(rows, columns=None if rows else COLUMNS, dtype=object)
    header = begins.partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r").split("\t")
    if {"qid", "label"} <= {_ALIASES.get(name, name) for name in header}:
        return _tsv_rows(path, content)
    return read_qrels(path)


def _json_rows(path: Path, content: bytes) -> list[dict[str, Any]]:
    """The rows of JSON lines; where a document stands twice, the last that is filled in."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
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
        key = str(row["qid"]), str(row["docno"])
        if row["label"] != "" or key not in rows:
            rows.pop(key, None)
            if row["label"] is not None:
                rows[key] = row
    return list(rows.values())


def _is_cut(line: bytes, error: ValueError) -> bool:
    """Whether the last line of a file was not written to its end."""
    return not line.rstrip().endswith(b"}") or "Unterminated" in str(error)


def _shown(line: bytes) -> str:
    """The beginning of a line, for an error message."""
    return repr(line[:80].decode("utf-8", "replace").strip())


def _tsv_rows(path: Path, content: bytes) -> pd.DataFrame:
    """The rows of a table with tabs; an editor may have taken off empty cells at the end."""
    try:
        lines = [line.rstrip("\r") for line in content.decode().split("\n")]
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: {error}") from None
    table = [
        (number, [text_of_cell(cell) for cell in line.split("\t")])
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]
    header = list(_new_names(table[0][1], str(path)).values())
    for number, cells in table[1:]:
        if len(cells) > len(header):
            raise ValueError(
                f"{path}, line {number}: {len(cells)} columns where the header has {len(header)}"
            )
        cells += [""] * (len(header) - len(cells))
    return pd.DataFrame([cells for _, cells in table[1:]], columns=header, dtype=object)


def merge_labels(
    qrels: Qrels, labels: Any, *, conflicts: str = "error", highest: float | None = None
) -> pd.DataFrame:
    """Adds labels to official judgements, for the documents that these do not judge.

    Official grades are never overwritten. Means over judgements of mixed sources should say so; to
    fill only the gaps of new runs with a lenient judge favours those runs.

    Args:
        qrels: data frame, file, ir_datasets id, dict of dicts: the official judgements.
        labels: what :func:`read_labels` takes, or a list of it.
        conflicts: ``'error'``, or ``'official'``: where a label contradicts an official grade it is
            left out. Files of labels that contradict each other are always an error.
        highest: the best grade that a label can give; None: the best official one, at least 1.

    Returns:
        ``qid``, ``docno``, ``label``, ``source`` (``'official'``, or who gave the label). A
        document with a negative official grade is unjudged, so that a label takes its place.

    Raises:
        ValueError: for a label that contradicts an official grade or that of another file, of a
            query without official judgements, or above the best grade.

    >>> merge_labels({"q": {"a": 1}}, pd.DataFrame({"qid": ["q"], "docno": ["b"], "label": [0]}))
      qid docno  label    source
    0   q     a    1.0  official
    1   q     b    0.0     label
    """
    if conflicts not in ("error", "official"):
        raise ValueError(f"conflicts must be 'error' or 'official', not {conflicts!r}")
    judgements, new = Judgements.of(qrels), _read_all(labels)
    official = judgements.table.frame("qid", "docno", "label").assign(source=OFFICIAL)
    judged = official.loc[official["label"] >= 0, [*KEY, "label"]]
    both = new.merge(judged, how="left", on=KEY, suffixes=("", "_official"))
    differs = both[both["label_official"].notna() & (both["label_official"] != both["label"])]
    if len(differs) and conflicts == "error":
        first = differs.iloc[0]
        raise ValueError(
            f"{_labelled(first)}, and its official grade is {first['label_official']:g}: leave it "
            "out, or pass conflicts='official'"
        )
    kept = both.loc[both["label_official"].isna(), COLUMNS]
    unknown = kept[~kept["qid"].isin(judgements.qid_text.to_pylist())]
    if len(unknown):
        raise ValueError(
            f"{_labelled(unknown.iloc[0])}, and the query has no official judgements: remove the "
            "label, or give the judgements that it belongs to"
        )
    check_grades(kept, best_grade(official["label"].to_numpy()) if highest is None else highest)
    merged = pd.concat([official, kept])
    return merged.drop_duplicates(KEY, keep="last", ignore_index=True)


def best_grade(grades: Floats) -> float:
    """The best grade of a scale, by the grades that occur: 1 at least."""
    return max(1.0, float(grades.max(initial=1)))


def check_grades(labels: pd.DataFrame, highest: float) -> None:
    """Raises ValueError for a label above the best grade, with the first such document."""
    above = labels[labels["label"] > highest]
    if len(above):
        raise ValueError(
            f"{_labelled(above.iloc[0])}, and grades go up to {highest:g}: correct it, or pass "
            f"highest={labels['label'].max():g}"
        )


def _labelled(row: Any) -> str:
    return (
        f"document {row['docno']!r} of query {row['qid']!r} is labelled {row['label']:g} by "
        f"{row['source']!r}"
    )


def _read_all(labels: Any) -> pd.DataFrame:
    """The labels of one source or of several, which must agree."""
    sources = labels if isinstance(labels, (list, tuple)) else [labels]
    frames = [read_labels(source) for source in sources]
    frame = pd.concat(frames) if frames else pd.DataFrame(columns=COLUMNS)
    frame = frame.astype({"label": float})
    differs = frame[frame.groupby(KEY)["label"].transform("nunique") > 1]
    if len(differs):
        first = differs.iloc[0]
        same = differs[(differs[KEY] == first[KEY]).all(axis=1)]
        other = same[same["label"] != first["label"]].iloc[0]
        raise ValueError(
            f"{_labelled(first)} and {other['label']:g} by {other['source']!r}: decide which is "
            "right, and take the other out"
        )
    return frame.drop_duplicates(KEY, ignore_index=True)
