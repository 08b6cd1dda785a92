"""Reads the groups of runs, such as their participants, and of queries."""

from __future__ import annotations

import csv
import os

from ..common.notices import excerpt
from .runs import run_name
from .texts import text_lines


def read_groups(path: str | os.PathLike[str], of: str = "run") -> dict[str, str]:
    """Reads the group of each run or query, from lines ``run<TAB>group``.

    The name of a run's file can be given: ``input.bm25.gz`` is ``bm25``. A first line whose second
    column is ``group`` is a header.

    Args:
        path: the file.
        of: ``'run'`` or ``'query'``.

    Raises:
        ValueError: for a line without two columns, or a run or query with two groups.
    """
    groups: dict[str, str] = {}
    rows = csv.reader(text_lines(path), delimiter="\t")
    try:
        for row in filter(any, rows):
            where = f"{path}, line {rows.line_num}"
            if len(row) != 2 or not all(row):
                line = excerpt("\t".join(row))
                raise ValueError(f"{where}: expected {of}<TAB>group, found {line}")
            name, group = run_name(row[0]) if of == "run" else row[0], row[1]
            if not groups and group.lower() == "group":
                continue
            if groups.setdefault(name, group) != group:
                raise ValueError(f"{where}: {of} {name!r} has the group {groups[name]!r} already")
    except csv.Error as error:
        raise ValueError(f"{path}, line {rows.line_num}: {error}") from None
    return groups
