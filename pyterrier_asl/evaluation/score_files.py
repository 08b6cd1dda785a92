"""Files of scores as frames, before their columns are understood; see :mod:`.scores`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..common.lazy import pd
from ..common.notices import counted, excerpt, names_of
from ..io.files import BY_QUERY, read_saved
from ..io.formats import NESTED, Format, read_rows, recognise, recognise_values
from ..io.opening import decompressed, file_format, local_path, open_file
from ..io.values import NUMBER
from ..measures.parsing import is_measure
from ..printing.tables import ALL


def files_at(paths: Iterable[Any]) -> list[Path]:
    """The files at these paths; the files of a folder are ordered by name."""
    files = []
    for path in map(local_path, paths):
        found = sorted(path.glob("[!.]*")) if path.is_dir() else [path]
        if path / BY_QUERY in found:  # of an experiment, beside its runs
            found = [path / BY_QUERY]
        if not found:
            raise ValueError(f"the folder {path} holds no files")
        files += found
    if not files:
        raise ValueError("no files of scores are given: give at least one")
    return files


def frame_of_file(
    path: Path, names: Iterable[str] = (), wide: str | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """The table in a file, ids as text, and sentences on lines that are left out.

    Args:
        path: the file.
        names: names of its columns.
        wide: see `read_scores`.
    """
    with open_file(path) as file:
        if form := file_format(path, file):
            table = read_saved(path, file, form)
            try:
                return table.to_pandas().reset_index(drop=True).rename_axis("row"), []
            except Exception as error:  # damaged metadata of pandas can raise any error
                raise ValueError(f"{path} cannot be read as {form}: {error}") from error
        with decompressed(path, file) as stream:
            return _text_frame(path, stream.read(), names, wide is not None)


def _text_frame(
    path: Path, text: bytes, names: Iterable[str], is_wide: bool
) -> tuple[pd.DataFrame, list[str]]:
    if not text.strip(b"\xef\xbb\xbf, \t\r\n"):
        raise ValueError(f"{path} is blank: give a table of scores")
    form = recognise(text, names=names, path=path, is_wide=is_wide) or recognise_values(text)
    if form is None:
        raise ValueError(
            f"{path} is not a table of scores: its first line is "
            f"{excerpt(text.strip().splitlines()[0])}, neither a header with qid or name, nor "
            "output of trec_eval -q or ir_measures -q. If it is a header, name its columns with "
            "--columns 'qid=COLUMN name=COLUMN' (columns=)"
        )
    if form.separator and not text.endswith((b"\n", b"\r")):
        raise ValueError(
            f"{path}, line {len(text.splitlines())}: the last line has no line feed, so the table "
            "may be cut off: complete it, or add a line feed"
        )
    rows = read_rows(path, text, form)
    if form.header:
        return _printed(path, rows, form)
    if [*rows] == NESTED:  # as pytrec_eval returns values
        if not all(map(is_measure, rows["docno"].unique())):
            raise ValueError(
                f"{path} is JSON of two levels, which are queries and measures, but it has "
                f"{names_of([*map(str, rows['docno'].unique())])} as measures: give a table"
            )
        rows = rows.set_axis(["qid", "measure", "value"], axis=1)
    return rows, []


def _printed(path: Path, table: pd.DataFrame, form: Format) -> tuple[pd.DataFrame, list[str]]:
    """The values among lines without a header; other lines and means are left out."""
    left_out = [counted(form.line, "line") + " before the first value"] if form.line else []
    if len(form.header) == 3:
        is_value = table["value"].map(lambda cell: NUMBER.fullmatch(cell) is not None)
        if not is_value.all():
            wrong = table["measure"][~is_value]
            left_out.append(
                counted(len(wrong), "value that is no number", "values that are no numbers")
                + f" ({names_of([*pd.unique(wrong)])})"
            )
        table = table[is_value]
        if not _is_of_trec_eval(path, table):
            table = table.set_axis(["qid", "measure", "value"], axis=1)
    for line, name in table["measure"].items():
        if NUMBER.fullmatch(name):
            raise ValueError(
                f"{path}, line {line}: the measure is {name!r}, a number: write the names of the "
                "columns into the first line"
            )
    if (is_mean := table["qid"] == ALL).any() and not is_mean.all():
        table = table[~is_mean]
        left_out.append(f"the means over queries ({ALL})")
    return table, [f"{' and '.join(left_out)} are left out"] if left_out else []


def _is_of_trec_eval(path: Path, table: pd.DataFrame) -> bool:
    """Whether lines begin with the measure, as trec_eval prints them, and not with the query."""
    columns = [pd.unique(table[name]) for name in ("measure", "qid")]
    of_measures = [any(map(is_measure, names)) for names in columns]
    if of_measures[0] == of_measures[1]:  # all: the query of means
        of_measures = [ALL in names for names in reversed(columns)]
    if of_measures[0] == of_measures[1]:
        raise ValueError(
            f"{path} has lines such as {' '.join(table.iloc[0])!r}: name the measure by a name "
            "that trec_eval or ir_measures knows, or write the header qid, measure, value"
        )
    return of_measures[0]
