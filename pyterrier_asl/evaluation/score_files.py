"""Files of scores as frames, before their columns are understood; see :mod:`.scores`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from ..common.lazy import pd
from ..common.notices import counted, excerpt, names_of, warn
from ..io.files import BY_QUERY, read_arrow
from ..io.formats import NESTED, Format, read_rows, recognise, recognise_values
from ..io.opening import decompressed, file_format, local_path, open_file
from ..io.values import NUMBER
from ..measures.parsing import canonical_name, is_measure
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


def frame_of_file(path: Path) -> pd.DataFrame:
    """The table in a file, ids as text."""
    with open_file(path) as file:
        form = file_format(path, file)
        if form is None:
            with decompressed(path, file) as stream:
                text = stream.read()
    try:
        if form is None:
            return _text_frame(path, text)
        table = pq.ParquetFile(path).read() if form == "Parquet" else read_arrow(path)
        table.validate(full=True)  # pandas does not check offsets
        return pd.DataFrame(table.to_pandas()).reset_index(drop=True).rename_axis("row")
    except Exception as error:  # a damaged file can raise any error
        if str(path) in str(error):
            raise
        raise ValueError(
            f"{path} cannot be read as a table of scores: {str(error) or type(error).__name__}"
        ) from error


def _text_frame(path: Path, text: bytes) -> pd.DataFrame:
    if not text.strip(b"\xef\xbb\xbf, \t\r\n"):
        raise ValueError(f"{path} is blank: give a table of scores")
    form = recognise(text) or recognise_values(text)
    if form is None:
        raise ValueError(
            f"{path} is not a table of scores: its first line is "
            f"{excerpt(text.strip().splitlines()[0])}, neither a header with qid or name, nor "
            "output of trec_eval -q or ir_measures -q. If it is a header, rename its columns to "
            "name, qid, measure and value"
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
                f"{path}, JSON of two levels, needs measures of each topic, but has "
                f"{names_of([*map(str, rows['docno'].unique())])}: give a table"
            )
        return rows.set_axis(["qid", "measure", "value"], axis=1)
    return rows.replace("", np.nan)


def _printed(path: Path, table: pd.DataFrame, form: Format) -> pd.DataFrame:
    """The values among lines without a header; others of trec_eval are left out and counted."""
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
        first, second = table["measure"], table["qid"]
        by_trec_eval = not (first == ALL).any() and (
            (second == ALL).any()
            or all(canonical_name(name) != name or name[:1].isalpha() for name in pd.unique(first))
        )
        if not by_trec_eval:
            table = table.set_axis(["qid", "measure", "value"], axis=1)
    for line, name in table["measure"].items():
        if NUMBER.fullmatch(name):
            raise ValueError(
                f"{path}, line {line}: the measure is {name!r}, a number: write the names of the "
                "columns into the first line"
            )
    if left_out:
        warn(f"{path}: left out {' and '.join(left_out)}")
    return table
