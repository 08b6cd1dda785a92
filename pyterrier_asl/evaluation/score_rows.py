"""A table of scores as rows of one value each, by what its columns declare; see :mod:`.scores`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ..common.lazy import pc, pd
from ..common.notices import counted, excerpt, names_of
from ..common.parameters import check_names
from ..common.types import Floats
from ..io.declared import SYNONYMS, column_named, plain
from ..io.values import NUMBER
from ..measures.directions import added_up, value_range
from ..measures.parsing import canonical_name, is_measure, measure_named

#: What makes a value one of a table: no two have all of them.
KEYS = ["track", "name", "repetition", "qid", "measure"]
_ROLES = [*KEYS, "value", "group"]
#: Columns without empty cells.
_REQUIRED = frozenset({"name", "qid", "measure"})
#: What the other columns of a wide table are.
WIDE = {"systems": "name", "queries": "qid"}
#: Columns of the answers of a system.
_ANSWERS = frozenset({"answer", "response", "output", "prediction", "actual_output"})
#: Columns that hold no values.
_TEXTS = _ANSWERS.union(
    SYNONYMS["text"][0],
    SYNONYMS["rank"][0],
    "user_input reference reference_contexts retrieved_contexts contexts context".split(),
    "ground_truth ground_truths expected_output comment explanation reason".split(),
)
#: The first column of a table that pandas wrote with its index.
_UNNAMED = ("", "Unnamed: 0")
#: Names of means in the place of a query.
_MEAN = re.compile(r"(all|average|avg|mean|overall)\.?( ?\(.*\))?", re.IGNORECASE)
#: How far a rounded value can be outside the range of its measure.
_ROUNDING = 1e-6
#: Cells in words, of missing values too, and of pandas.
_WORDS = dict.fromkeys(("", "null", "nan", "none", "n/a", "<na>", "nat"), math.nan)
_WORDS |= {"true": 1.0, "false": 0.0}


def rows_of(
    table: pd.DataFrame, system: str, source: str, columns: Mapping[str, str], wide: str | None
) -> tuple[pd.DataFrame, list[str]]:
    """The values of a table, one per row, and what was taken for what.

    Args:
        table: the table; its index has the number of each line.
        system: the system of a table without a column of systems.
        source: the name of the source in errors.
        columns: role -> name of its column; '': the table has none.
        wide: see `read_scores`.

    Returns:
        A frame with :data:`KEYS`, ``value``, its ``text`` and perhaps ``group``; and sentences on
        columns and rows, without the source.

    Raises:
        ValueError: for a table whose columns declare no form, and cells that are no values.
    """
    roles, notes = _roles_of([*table], source, columns, wide)
    is_long = not wide and "measure" in roles
    values = _value_columns([*table], roles, source, columns, wide)
    keys = {column: role for role, column in roles.items() if role != "value"}
    if left_out := [str(name) for name in table if name not in (*keys, *values, *_UNNAMED)]:
        notes.append(f"{names_of(left_out)} {'is' if len(left_out) == 1 else 'are'} left out")
    ids = _ids(table[[*keys]].rename(columns=keys), source)
    names = np.repeat([*map(str, values)], len(table)).astype(object)
    others: dict[str, Any] = {"track": "", "name": system, "repetition": "", "group": None}
    others["measure"] = system if wide and is_measure(system) else "score"
    others |= {WIDE[wide] if wide else "measure": names}
    rows = pd.concat([ids] * len(values))
    rows = rows.assign(**{role: of for role, of in others.items() if role not in ids})
    rows["text"] = cells = table[values].to_numpy(object).T.ravel()
    rows["value"] = _numbers(cells, rows.index, names, source, is_long)
    rows, means = _without_means(rows, source)
    taken = [f"{', '.join(notes)} (--columns says otherwise)"] if notes else []
    return rows, taken + means


def _roles_of(
    headers: list[Any], source: str, columns: Mapping[str, str], wide: str | None
) -> tuple[dict[str, Any], list[str]]:
    """The column of each role that a table has, and words on names that were recognised."""
    names = [str(name) if wide else canonical_name(str(name)) for name in headers]
    for at, name in enumerate(names):
        if name in names[:at]:
            both = f"{headers[names.index(name)]} and {headers[at]}"
            raise ValueError(f"{source} has {name} twice, in the columns {both}: remove one")
    if "winner" in map(plain, headers):
        raise ValueError(
            f"{source} holds pairwise winners (a column winner): give a value of each system"
        )
    if (documents := column_named(headers, "docno", source)) is not None and not columns:
        raise ValueError(
            f"{source} has a column of documents ({documents}), so it is a run or qrels: give a "
            "value per query"
        )
    check_names("columns", columns, [*_ROLES, "text"], "roles of columns")
    roles: dict[str, Any] = {}
    notes = []
    for role in sorted(_ROLES, key=lambda role: role not in columns):  # given names come first
        free = [name for name in headers if name not in roles.values()]
        if (column := column_named(free, role, source, columns)) is not None:
            roles[role] = column
            if role not in (*columns, "value") and plain(column) not in SYNONYMS[role][0]:
                notes.append(f"{column} is taken for {role}")
    first, role = [*headers, None][0], "name" if wide == "queries" else "qid"
    if first in _UNNAMED and first not in roles.values() and role not in roles:
        roles[role] = first
        notes.append(f"the first column, without a name, is taken for {role}")
    return roles, notes


def _value_columns(
    headers: list[Any],
    roles: Mapping[str, Any],
    source: str,
    columns: Mapping[str, str],
    wide: str | None,
) -> list[Any]:
    """The columns of values of the form that the roles declare."""
    has = f"it has {names_of([*map(str, headers)], 12)}"
    if wide and WIDE[wide] in roles:
        raise ValueError(
            f"{source} has a column {roles[WIDE[wide]]} of {wide}: leave out --wide (wide=), or "
            f"write --columns {WIDE[wide]}= (columns=) if it does not name {wide}"
        )
    if wide != "queries" and "qid" not in roles:
        kind = "the answers of a system" if _ANSWERS & {*map(plain, headers)} else "a table"
        raise ValueError(
            f"{source} is {kind} without a column of queries; {has}: name it with --columns "
            "qid=COLUMN (columns=), or write --wide queries (wide=) if the columns are queries"
        )
    is_long = not wide and "measure" in roles
    if is_long and "value" not in roles:
        raise ValueError(
            f"{source} has a column of measures, but none of values; {has}: name it with "
            "--columns value=COLUMN (columns=), or write --wide systems (wide=) if the columns "
            "are systems"
        )
    if is_long or ("value" in columns and not wide):
        return [roles["value"]]
    keys = {column for role, column in roles.items() if role != "value"}
    texts = _TEXTS
    if "text" in columns:
        texts = frozenset(map(plain, columns["text"].split("|")))
        check_names("text", texts, map(plain, headers), f"columns of {source}")
    texts = texts.union(*(of for role in columns if not columns[role] for of in SYNONYMS[role]))
    kept = [name for name in headers if name not in (*keys, *_UNNAMED) and plain(name) not in texts]
    if not kept:
        raise ValueError(f"{source} has no column of values; {has}: add one with numbers")
    return kept


def _ids(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """The columns of ids, as text."""
    for role, ids in table.items():
        missing = ids.isna() | (ids == "")
        if role in _REQUIRED and missing.any():
            raise ValueError(
                f"{source} has {counted(int(missing.sum()), 'row')} without {role}, the first in "
                f"{table.index.name} {missing.idxmax()}: complete it, or remove the row"
            )
        texts = ids.astype(object).map(str).mask(missing, None if role == "group" else "")
        for line, text in texts[texts.str.contains("[\r\n]", na=False)][:1].items():
            raise ValueError(
                f"{source}, {table.index.name} {line}, column {role}: a field has a line break "
                f"({excerpt(text)}): remove it, or a quotation mark that does not belong there"
            )
        table = table.assign(**{str(role): texts})
    return table


def _numbers(cells: Any, lines: pd.Index[Any], columns: Any, source: str, is_long: bool) -> Floats:
    """The numbers in cells, NaN for missing ones.

    Args:
        cells: the cells.
        lines: the number of the line of each.
        columns: the name of the column of each.
        source: the name of the source in errors.
        is_long: whether the only column is that of values.
    """
    try:  # a file of numbers, as fast as it can be read
        numbers = pc.cast(pa.array(cells, pa.large_string()), pa.float64()).to_numpy(False)
    except (pa.ArrowException, TypeError):
        numbers = np.array([np.inf])
    if not np.isfinite(numbers).all():
        numbers = np.array([*map(_number, cells)])
    wrong = np.flatnonzero(np.isinf(numbers))
    if not len(wrong):
        return np.asarray(numbers)
    if nested := [columns[at] for at in wrong if isinstance(cells[at], (dict, list))]:
        raise ValueError(
            f"{source} is nested JSON ({names_of([*dict.fromkeys(nested)])}): give a table"
        )
    known = {*columns[np.isfinite(numbers)]}
    texts = [name for name in pd.unique(columns[wrong]) if not (name in known or is_measure(name))]
    if texts and not is_long:
        raise ValueError(
            f"{source}: {names_of(texts)} {'holds' if len(texts) == 1 else 'hold'} no numbers: "
            f"leave out what is no value with --columns 'text={'|'.join(texts)}' (columns=), or "
            f"write what it is, such as --columns 'group={texts[0]}'"
        )
    first = wrong[0]
    raise ValueError(
        f"{source}, {lines.name} {lines[first]}, column {columns[first]}: "
        f"{excerpt(cells[first])} is not a number: write a number such as 0.85, and nothing "
        "where the value is missing"
    )


def _number(cell: Any) -> float:
    """The number in a cell; NaN for a missing one, infinity for what is no number."""
    if isinstance(cell, float):
        return cell
    text = str(cell).strip()
    return float(text) if NUMBER.fullmatch(text) else _WORDS.get(text.lower(), math.inf)


def _without_means(rows: pd.DataFrame, source: str) -> tuple[pd.DataFrame, list[str]]:
    """The rows without those of means of all others, and a sentence on each.

    Raises:
        ValueError: for a query with the name of a mean that is the mean in some rows only, and for
            rows of means alone.
    """
    called, notes = [qid for qid in pd.unique(rows["qid"]) if _MEAN.fullmatch(qid)], []
    if called and rows["qid"].isin(called).all():
        raise ValueError(f"{source} has no value of a query: print values per query (-q)")
    key = [name for name in KEYS if name != "qid"]
    for qid in called:
        is_own = rows["qid"] == qid
        own, others = rows[is_own & rows["value"].notna()], rows[~is_own]
        of_key = others.groupby(key, sort=False)["value"].agg(["mean", "sum"])
        expected = of_key.reindex(pd.MultiIndex.from_frame(own[key]))
        is_sum = own["measure"].map(lambda name: bool((of := measure_named(name)) and added_up(of)))
        expected = np.where(is_sum, expected["sum"], expected["mean"])
        places = (
            part["text"].map(lambda cell: len(str(cell).partition(".")[2])).max()
            for part in (own, others)
        )
        unit = sum(10.0**-number for number in places)
        is_mean = np.abs(own["value"] - expected) <= unit / 2 + 1e-9
        if is_mean.any() and not is_mean.all():
            row = own[~is_mean].iloc[0]
            raise ValueError(
                f"{source}: {qid!r} is the mean of the other queries in some rows, but not for "
                f"{row['measure']} of {row['name']}: remove these rows, or rename the query"
            )
        if is_mean.any():
            rows = others
            notes.append(f"{qid!r}, the mean of the other queries, is left out")
    return rows, notes


# Rows of all files


def check_rows(
    rows: pd.DataFrame, systems: Mapping[str, str], tables: Mapping[str, pd.DataFrame]
) -> None:
    """Checks the rows of all files together.

    Args:
        rows: the rows; the first level of their index is the file.
        systems: file -> the system that its name gives.
        tables: file -> its table, for the columns in which two lines differ.

    Raises:
        ValueError: for several files that all have a column with one and the same system, two
            values of a system, query and measure, and a value outside the range of its measure.
    """
    names = pd.unique(rows["name"])
    if len(systems) > 1 and len(names) == 1 and names[0] not in systems.values():
        raise ValueError(
            f"{names_of([*systems])} all name the system {names[0]!r}: if each file is a system, "
            "write --columns name= (columns={'name': ''}); otherwise put them into one file"
        )
    again = rows[rows.duplicated(KEYS, keep=False)]
    if len(again):
        _refuse_twice(again[(again[KEYS] == again[KEYS].iloc[0]).all(axis=1)], tables)
    for name, of_measure in rows.groupby("measure", sort=False):
        measure = measure_named(str(name))
        low, high = (-math.inf, math.inf) if measure is None else value_range(measure)
        values = of_measure["value"]
        outside = of_measure[(values < low - _ROUNDING) | (values > high + _ROUNDING)]
        if len(outside):
            row, (source, line) = outside.iloc[0], outside.index[0]
            ends = f"from {low:g} on" if math.isinf(high) else f"between {low:g} and {high:g}"
            raise ValueError(
                f"{source}, {rows.index.names[1]} {line}: {name} of {row['name']} is "
                f"{row['value']:g} for query {row['qid']!r}, but it lies {ends}: leave a missing "
                "score empty, divide percentages by 100, and give another measure another name"
            )


def _refuse_twice(same: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> None:
    """Raises ValueError for the rows of one system, query and measure."""
    (first, line), (second, other) = same.index[:2]
    key, what = same.iloc[0], same.index.names[1]
    text = (
        f"two values of {key['measure']} of {key['name']} for query {key['qid']!r}"
        f"{' in ' * bool(key['track'])}{key['track']}: {what} {line} of {first} and {what} {other} "
        f"of {second}"
    )
    if first != second:
        raise ValueError(f"{text}: leave out one of the files, or name different systems")
    lines = tables[first].loc[[line, other]].astype(str).map(canonical_name)
    differ = [str(name) for name in lines if lines[name].nunique() > 1]
    names = [name for name in differ if not is_measure(name) and plain(name) != "value"]
    if not names:
        raise ValueError(f"{text}: remove one of them")
    raise ValueError(
        f"{text}, which differ in {names_of(names)}: if a column says which repetition or "
        f"collection a row is of, write --columns repetition=COLUMN or track=COLUMN (columns=); if "
        "it is the query, qid=COLUMN"
    )


def groups_of(rows: pd.DataFrame) -> dict[tuple[str, str], str]:
    """(track, qid) -> the group of the query; rows as in `check_rows`.

    Raises:
        ValueError: for a query with two groups.
    """
    groups: dict[tuple[str, str], str] = {}
    of_queries = rows[["track", "qid", "group"]].dropna().drop_duplicates()
    for track, qid, group in of_queries.itertuples(index=False):
        if groups.setdefault((track, qid), group) != group:
            raise ValueError(
                f"query {qid!r} has two groups, {groups[track, qid]!r} and {group!r}: give it one"
            )
    return groups
