"""Reads files of labels: JSON lines, tables, qrels."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..common.lazy import pd
from ..common.notices import counted, excerpt
from .columns import as_frame, is_table
from .declared import (
    DeclaredFile,
    GradesOfLabels,
    NamesOfColumns,
    column_names,
    find_columns,
    grade_of,
    grades_hint,
    label_grades,
)
from .formats import read_rows, recognise
from .opening import StrPath, open_text
from .qrels import read_qrels
from .trec_text import MARK
from .values import NUMBER, text

COLUMNS = ["qid", "docno", "label", "source"]

#: The columns that identify a judged document, and the judge of a row, if there are several.
KEY, JUDGE = ["qid", "docno"], "judge"

#: Ids with what earlier releases wrote for a backslash, or before a formula, in tables with tabs.
_ESCAPED = r"'+[=@+-]|.*\\\\"

#: Columns that may hold numbers in a row without a label.
_NUMERIC = {*COLUMNS, JUDGE, "weight", "rank_a", "rank_b", "runs", "rank", "score"}


def read_labels(
    source: StrPath | pd.DataFrame,
    *,
    columns: NamesOfColumns = None,
    grades: GradesOfLabels = None,
) -> pd.DataFrame:
    """Labels from a frame or a file.

    A file is a table with a header ``qid docno label``, JSON lines with these keys, or qrels; for
    other names of the columns see :func:`read_qrels`. A row with a missing or negative label is
    open, all other rows are labels.

    Args:
        source: the frame, or the path of the file.
        columns: other names of columns, ``{"docno": "_id"}`` or ``"docno=_id"``.
        grades: the grades of labels that are words, ``{"E": 3, "I": 0}`` or ``"E=3 I=0"``.

    Returns:
        ``qid``, ``docno``, ``label``, ``source`` (by default the judge, or the name of the file),
        one row per labelled document; with a column of judges (``judge``, ``annotator``,
        ``rater``, ``worker_id``, ``model``) also ``judge``, one row per document and judge.

    Raises:
        ValueError: for a row that is neither a label nor open, with its line: for a missing column,
            two columns with the same meaning, a missing id, a fraction as an id, a label that is
            not a finite number, a missing label with a number in a column of text; and for a
            document with two different labels by one judge.

    >>> read_labels(pd.DataFrame({"qid": [1], "docno": ["d"], "label": [2]}))
      qid docno  label source
    0   1     d    2.0  label
    """
    return labels_of(label_rows(source, columns, grades), _name_of(source))


def labels_of(rows: pd.DataFrame, source: str) -> pd.DataFrame:
    """The labels among the rows of :func:`label_rows`; ``source`` is their default source."""
    judges = [JUDGE] if JUDGE in rows else []
    sources = rows.get("source", rows.get(JUDGE, pd.Series(source, rows.index, dtype=object)))
    labels = rows.assign(source=sources.replace("", None).fillna(source))
    return labels.loc[rows["label"] >= 0, COLUMNS + judges].drop_duplicates(
        KEY + judges, ignore_index=True
    )


def label_rows(
    source: Any, columns: NamesOfColumns = None, grades: GradesOfLabels = None
) -> pd.DataFrame:
    """All rows of a file or frame of labels, with all their columns; see :func:`read_labels`.

    Returns:
        ``qid``, ``docno``, ``label`` (NaN or negative in open rows), and the other columns
        unchanged; the index is the number of the line.
    """
    if isinstance(source, DeclaredFile):
        return label_rows(source.path, source.columns, source.grades)
    name, names, by_label = _name_of(source), column_names(columns), label_grades(grades)
    frame = (
        as_frame(source).reset_index(drop=True).rename_axis("row")
        if is_table(source)
        else _read_rows(Path(source), names, by_label)
    )
    of_table = find_columns(frame.columns, [*COLUMNS, JUDGE], f"the labels in {name}", names)
    frame = frame.rename(columns={there: ours for ours, there in of_table.items()})
    where, labels = f"{name}, {frame.index.name}", []
    for line, value in frame["label"].items():
        try:
            labels.append(grade_of(value, by_label))
        except ValueError as error:
            hint = grades_hint(frame["label"].dropna(), by_label)
            raise ValueError(f"{where} {line}: {error}{hint}") from None
    ids = {column: _ids(frame[column], f"{column} of {name}") for column in KEY}
    frame = frame.assign(label=np.array(labels, dtype=np.float64), **ids)
    texts = frame.loc[frame["label"].isna(), [name for name in frame if name not in _NUMERIC]]
    cells: Any = texts.astype(str).stack()
    for (line, column), value in cells.items():
        if NUMBER.fullmatch(value.strip()):
            raise ValueError(
                f"{where} {line}: the column 'label' is empty, and {column!r} holds "
                f"{value.strip()!r}: write a grade into 'label', or -1 if the document has none"
            )
    if rows := contradiction(frame[frame["label"] >= 0], KEY + [JUDGE] * (JUDGE in frame)):
        first, other, documents = rows
        more = f" (and {counted(documents - 1, 'more document')})" if documents > 1 else ""
        raise ValueError(
            f"{where}s {first.name} and {other.name}: document {first['docno']!r} of query "
            f"{first['qid']!r} has the labels {first['label']:g} and {other['label']:g}{more}: "
            "remove one, or name the judge of each row in a column 'judge'"
        )
    return frame


def contradiction(labels: pd.DataFrame, key: list[str]) -> tuple[Any, Any, int] | None:
    """The first row of labels with another label of the same key, this row, and the number of such
    keys; None: there is none.

    >>> labels = pd.DataFrame({"docno": ["a", "b", "a"], "label": [1, 0, 2]})
    >>> first, other, number = contradiction(labels, ["docno"])
    >>> int(first.name), int(other.name), number
    (0, 2, 1)
    """
    differs = labels[labels.groupby(key, dropna=False)["label"].transform("nunique") > 1]
    if not len(differs):
        return None
    first = differs.iloc[0]
    same = differs[(differs[key] == first[key]).all(axis=1)]
    return first, same[same["label"] != first["label"]].iloc[0], len(differs.drop_duplicates(key))


def _name_of(source: Any) -> str:
    if not (is_table(source) or isinstance(source, (str, os.PathLike))):
        raise TypeError(f"labels are a frame or a file, not a {type(source).__name__}")
    return "label" if is_table(source) else Path(source).name


def _ids(values: pd.Series, what: str) -> list[str]:
    if missing := [line for line, value in values.items() if value is None or value == ""]:
        raise ValueError(f"the {what} is missing in line {missing[0]}")
    return list(text(values, what).to_pylist())


def _read_rows(path: Path, names: Mapping[str, str], grades: Mapping[str, float]) -> pd.DataFrame:
    """The rows of a file of labels, by the numbers of their lines."""
    with open_text(path) as stream:
        content = bytes(stream.read())
    if not content.strip(MARK + b" \t\r\n"):
        return pd.DataFrame(columns=COLUMNS)
    if (form := recognise(content, names=names.values(), path=path)) is None:
        qrels = read_qrels(path, grades=grades)
        return qrels.set_axis(range(1, len(qrels) + 1)).rename_axis("line")
    rows = read_rows(path, content, form, is_draft=True)
    for name in {*KEY}.intersection(rows) if form.separator == "\t" else ():
        for line, cell in rows.loc[rows[name].str.match(_ESCAPED), name].items():
            raise ValueError(
                f"{path}, line {line}: the id {excerpt(cell)} has an escape of earlier releases: "
                "write the id itself, in JSON lines if it has two backslashes"
            )
    return rows
