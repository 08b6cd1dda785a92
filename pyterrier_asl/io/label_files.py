"""Reads files of labels: JSON lines, tables, qrels."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ..common.escapes import text_of_cell
from ..common.lazy import pd
from .columns import as_frame, column_names, is_table
from .files import StrPath, check_file
from .formats import number_of, read_rows, recognise
from .qrels import read_qrels
from .trec_text import MARK, NUMBER, open_text
from .values import text

COLUMNS = ["qid", "docno", "label", "source"]

#: The columns that identify a judged document.
KEY = ["qid", "docno"]

#: Columns that may hold numbers in a row without a label.
_NUMERIC = {*COLUMNS, "weight", "rank_a", "rank_b", "runs", "rank", "score"}


def read_labels(source: StrPath | pd.DataFrame) -> pd.DataFrame:
    """Labels from a frame or a file.

    A file is a table with a header ``qid docno label``, JSON lines with these keys, or qrels; for
    other names of the columns see :func:`read_qrels`. A row with a missing or negative label is
    open, all other rows are labels.

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


def label_rows(source: Any) -> pd.DataFrame:
    """All rows of a file or frame of labels, with all their columns; see :func:`read_labels`.

    Returns:
        ``qid``, ``docno``, ``label`` (NaN or negative in open rows), and the other columns
        unchanged; the index is the number of the line.
    """
    name = _name_of(source)
    if is_table(source):
        frame = as_frame(source).reset_index(drop=True).rename_axis("row")
    else:
        frame = _read_rows(Path(source))
    names = column_names(frame.columns, COLUMNS, f"the labels in {name}")
    frame = frame.rename(columns={there: ours for ours, there in names.items()})
    where = frame.index.name
    labels = []
    for line, value in frame["label"].items():
        try:
            labels.append(number_of(value, "label"))
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


def _name_of(source: Any) -> str:
    if not (is_table(source) or isinstance(source, (str, os.PathLike))):
        raise TypeError(f"labels are a frame or a file, not a {type(source).__name__}")
    return "label" if is_table(source) else Path(source).name


def _check_misplaced(frame: pd.DataFrame, where: str) -> None:
    """Raises ValueError for a row without a label and with a number in a column of text."""
    unlabelled = frame[frame["label"].isna()]
    for column in [name for name in frame if name not in _NUMERIC]:
        for line, value in unlabelled[column].items():
            if isinstance(value, (str, int, float)) and NUMBER.fullmatch(str(value).strip()):
                raise ValueError(
                    f"{where} {line}: the column 'label' is empty, and {column!r} holds "
                    f"{str(value).strip()!r}: write a grade into 'label', or -1 if the document "
                    "has none"
                )


def _ids(values: pd.Series, what: str) -> list[str]:
    missing = [line for line, value in values.items() if value is None or value == ""]
    if missing:
        raise ValueError(f"the {what} is missing in line {missing[0]}")
    return list(text(values, what).to_pylist())


def _read_rows(path: Path) -> pd.DataFrame:
    """The rows of a file of labels, by the numbers of their lines."""
    check_file(path)
    with open_text(path) as stream:
        content = bytes(stream.read())
    if not content.strip(MARK + b" \t\r\n"):
        return pd.DataFrame(columns=COLUMNS)
    form = recognise(content)
    if form is None:
        qrels = read_qrels(path)
        return qrels.set_axis(range(1, len(qrels) + 1)).rename_axis("line")
    rows = read_rows(path, content, form, is_draft=True)
    return rows.map(text_of_cell) if form.separator else rows
