"""A table of scores as rows of one value each, by what its columns declare; see :mod:`.scores`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..common.choices import check_names
from ..common.lazy import pc, pd
from ..common.notices import counted, excerpt, names_of
from ..common.types import Floats
from ..io.synonyms import SYNONYMS, column_named, plain
from ..io.values import NUMBER
from ..measures.directions import added_up, value_range
from ..measures.parsing import canonical_name, is_measure, measure_named

#: What makes a value one of a table: no two have all of them.
KEYS = ("track", "name", "repetition", "qid", "measure")
_ROLES = (*KEYS, "value", "group")
#: Columns without empty cells.
_REQUIRED = frozenset({"name", "qid", "measure"})
#: What the other columns of a wide table are.
WIDE = {"systems": "name", "queries": "qid"}
#: Columns of the answers of a system.
_ANSWERS = frozenset({"answer", "response", "output", "prediction", "actual_output"})
#: Columns that hold no values.
_TEXTS = _ANSWERS.union(
    SYNONYMS["text"][0],
    "user_input reference reference_contexts retrieved_contexts contexts context".split(),
    "ground_truth ground_truths expected_output comment explanation reason".split(),
)
#: The first column of a table that pandas wrote with its index.
_UNNAMED = ("", "Unnamed: 0")
#: Names of means in the place of a query.
_MEAN = re.compile(r"(all|average|avg|mean|overall)\.?( ?\(.*\))?", re.IGNORECASE)
#: How far a rounded value can be outside the range of its measure.
_ROUNDING = 1e-6
_MISSING = frozenset({"", "null", "nan", "none", "n/a"})
_FLAGS = {"true": 1.0, "false": 0.0}


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
    table, roles, notes = _declared(table, source, columns, wide)
    values = _value_columns(table, roles, source, columns, wide)
    keys = {column: role for role, column in roles.items() if role != "value"}
    if left_out := [str(name) for name in table if name not in {*keys, *values}]:
        notes.append(f"{names_of(left_out)} {'is' if len(left_out) == 1 else 'are'} left out")
    is_long = "measure" in roles and not wide
    cells = _numbers(table[values], source, is_long)
    kept = _ids(table[[*keys]].rename(columns=keys), source)
    rows = pd.concat([kept] * len(values))
    of_file = system if wide and is_measure(system) else "score"
    for role, default in zip(KEYS, ("", system, "", "", of_file)):
        if role not in rows:
            rows[role] = default
    if not is_long:
        kind = WIDE[wide] if wide else "measure"
        if kind == "measure":
            _check_measures(values, source)
        rows[kind] = np.repeat([*map(str, values)], len(table))
    rows["value"], rows["text"] = cells.ravel(), table[values].to_numpy(object).T.ravel()
    rows, means = _without_means(rows, source)
    taken = [f"{', '.join(notes)} (--columns says otherwise)"] if notes else []
    return rows, taken + means


def _declared(
    table: pd.DataFrame, source: str, columns: Mapping[str, str], wide: str | None
) -> tuple[pd.DataFrame, dict[str, Any], list[str]]:
    """The table, the column of each role that it has, and words on names that were recognised."""
    headers = [*table.columns]
    if twice := [name for name in headers if headers.count(name) > 1]:
        raise ValueError(f"{source}: two columns are called {twice[0]!r}: rename or remove one")
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
    by_name = {plain(name): name for name in headers}
    for wanted in "|".join(filter(None, columns.values())).split("|"):
        if wanted and plain(wanted) not in by_name:
            raise ValueError(f"{source} has no column {wanted!r}; it has {_names(headers)}")
    roles = {role: by_name[plain(columns[role])] for role in _ROLES if columns.get(role)}
    free = [name for name in headers if name not in roles.values()]
    notes = []
    for role in (role for role in _ROLES if role not in columns):
        if (column := column_named(free, role, source)) is not None:
            roles[role] = column
            if plain(column) not in SYNONYMS[role][0] and role != "value":
                notes.append(f"{column} is taken for {role}")
    if headers and headers[0] in _UNNAMED and headers[0] in free:
        if (role := "name" if wide == "queries" else "qid") in roles:
            table = table.drop(columns=headers[0])
        else:
            roles[role] = headers[0]
            notes.append(f"the first column, without a name, is taken for {role}")
    return table, roles, notes


def _value_columns(
    table: pd.DataFrame,
    roles: dict[str, Any],
    source: str,
    columns: Mapping[str, str],
    wide: str | None,
) -> list[Any]:
    """The columns of values of the form that the roles declare."""
    has = f"it has {_names([*table])}"
    if wide and WIDE[wide] in roles:
        raise ValueError(
            f"{source} has a column {roles[WIDE[wide]]} of {wide}: leave out --wide (wide=), or "
            f"write --columns {WIDE[wide]}= (columns=) if it does not name {wide}"
        )
    if wide != "queries" and "qid" not in roles:
        kind = "the answers of a system" if _ANSWERS & {*map(plain, table)} else "a table"
        raise ValueError(
            f"{source} is {kind} without a column of queries; {has}: name it with --columns "
            "qid=COLUMN (columns=), or write --wide queries (wide=) if the columns are queries"
        )
    if not wide and "measure" in roles:
        if "value" not in roles:
            raise ValueError(
                f"{source} has a column of measures, but none of values; {has}: name it with "
                "--columns value=COLUMN (columns=), or write --wide systems (wide=) if the columns "
                "are systems"
            )
        return [roles["value"]]
    if "value" in columns and not wide:
        return [roles["value"]]
    keys = {column for role, column in roles.items() if role != "value"}
    texts = {*map(plain, columns["text"].split("|"))} if "text" in columns else _TEXTS
    texts = texts.union(SYNONYMS["rank"][0] if wide == "queries" else ())
    texts = texts.union(
        *(group for role in columns if not columns[role] for group in SYNONYMS[role])
    )
    if values := [name for name in table if name not in keys and plain(name) not in texts]:
        return values
    raise ValueError(f"{source} has no column of values; {has}: add one with numbers")


def _names(headers: Sequence[Any]) -> str:
    return names_of([*map(str, headers)], 12)


def _check_measures(columns: Sequence[Any], source: str) -> None:
    """Raises ValueError for two columns of one measure."""
    by_measure: dict[str, Any] = {}
    for column in columns:
        name = canonical_name(str(column))
        if (other := by_measure.setdefault(name, column)) is not column:
            raise ValueError(
                f"{source}: the columns {other} and {column} are one measure, {name}: remove one"
            )


def _ids(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """The columns of ids, as text."""
    for role, ids in table.items():
        missing = ids.isna() | (ids == "")
        if role in _REQUIRED and missing.any():
            raise ValueError(
                f"{source} has {counted(int(missing.sum()), 'row')} without {role}, the first in "
                f"{table.index.name} {missing.idxmax()}: complete it, or remove the row"
            )
        codes, names = pd.factorize(ids.where(~missing))
        texts = np.array([*map(str, names), None if role == "group" else ""], dtype=object)
        for broken in [text for text in texts[:-1] if re.search("[\r\n]", text)]:
            line = table.index[texts[codes] == broken][0]
            raise ValueError(
                f"{source}, {table.index.name} {line}, column {role}: a field has a line break "
                f"({excerpt(broken)}): remove it, or a quotation mark that does not belong there"
            )
        table = table.assign(**{str(role): texts[codes]})
    return table


def _numbers(table: pd.DataFrame, source: str, is_long: bool) -> Floats:
    """The numbers in the cells of columns, shape (columns, rows); NaN for missing ones."""
    cells = np.array([_column_of_numbers(table[name]) for name in table], dtype=float)
    wrong = np.isinf(cells)
    with_wrong = [str(name) for name, bad in zip(table, wrong.any(axis=1)) if bad]
    if nested := [name for name in with_wrong if table[name].map(_is_nested).any()]:
        raise ValueError(f"{source} is nested JSON ({names_of(nested)}): give a table")
    is_text = wrong.any(axis=1) & (wrong | np.isnan(cells)).all(axis=1)
    texts = [str(name) for name, text in zip(table, is_text) if text and not is_measure(name)]
    if texts and not is_long:
        raise ValueError(
            f"{source}: {names_of(texts)} {'holds' if len(texts) == 1 else 'hold'} no numbers: "
            f"leave out what is no value with --columns 'text={'|'.join(texts)}' (columns=), or "
            f"write what it is, such as --columns 'group={texts[0]}'"
        )
    for column, row in np.argwhere(wrong)[:1]:
        cell = table.iat[row, column]
        raise ValueError(
            f"{source}, {table.index.name} {table.index[row]}, column {table.columns[column]}: "
            f"{excerpt(cell)} is not a number: write a number such as 0.85, and nothing where the "
            "value is missing"
        )
    return cells


def _is_nested(cell: Any) -> bool:
    return isinstance(cell, (dict, list))


def _column_of_numbers(cells: pd.Series[Any]) -> Floats:
    """Numbers; NaN for missing ones, infinity for what is no number."""
    try:
        if cells.dtype.kind in "biuf":
            return np.asarray(cells.to_numpy(dtype=np.float64))
        numbers = pc.cast(pa.array(cells, pa.large_string()), pa.float64()).to_numpy(False)
        if np.isfinite(numbers).all():
            return np.asarray(numbers)
    except (pa.ArrowException, TypeError, ValueError):  # cells of several kinds
        pass
    return np.array([*map(_number, cells)], dtype=np.float64)


def _number(cell: Any) -> float:
    if isinstance(cell, str):
        text = cell.strip().lower()
        if text in _MISSING:
            return math.nan
        return _FLAGS.get(text, math.inf) if not NUMBER.fullmatch(text) else float(text)
    if cell is None or cell is pd.NA:
        return math.nan
    try:
        return float(cell)
    except (TypeError, ValueError):
        return math.inf


def _without_means(rows: pd.DataFrame, source: str) -> tuple[pd.DataFrame, list[str]]:
    """The rows without those of means of all others, and a sentence on each.

    Raises:
        ValueError: for a query with the name of a mean that is the mean in some rows only, and for
            rows of means alone.
    """
    called, notes = [qid for qid in pd.unique(rows["qid"]) if _MEAN.fullmatch(qid)], []
    if called and rows["qid"].isin(called).all():
        raise ValueError(f"{source} has no value of a query: print values per query (-q)")
    measures = {name: measure_named(name) for name in pd.unique(rows["measure"])}
    counts = [name for name, measure in measures.items() if measure and added_up(measure)]
    key = [name for name in KEYS if name != "qid"]
    for qid in called:
        is_own = rows["qid"] == qid
        own, others = rows[is_own & rows["value"].notna()], rows[~is_own]
        of_key = others.groupby(key, sort=False)["value"].agg(["mean", "sum"])
        expected = of_key.reindex(pd.MultiIndex.from_frame(own[key]))
        expected = np.where(own["measure"].isin(counts), expected["sum"], expected["mean"])
        unit = sum(10.0 ** -_places(part["text"]) for part in (own, others))
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


def _places(cells: pd.Series[Any]) -> int:
    """The most decimal places of numbers."""
    return max((len(str(cell).partition(".")[2]) for cell in cells), default=0)


# Rows of all files


def check_systems(rows: pd.DataFrame, systems: Mapping[str, str]) -> None:
    """Checks that several files do not all have a column with one and the same system.

    Args:
        rows: the rows of all files; the first level of their index is the file.
        systems: file -> the system that its name gives.
    """
    names = pd.unique(rows["name"])
    if len(systems) > 1 and len(names) == 1 and names[0] not in systems.values():
        raise ValueError(
            f"{names_of([*systems])} all name the system {names[0]!r}: if each file is a system, "
            "write --columns name= (columns={'name': ''}); otherwise put them into one file"
        )


def check_once(rows: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> None:
    """Checks that no system, query and measure has two values.

    Args:
        rows: see `check_systems`.
        tables: file -> its table, for the columns in which two lines differ.
    """
    is_again = rows.duplicated([*KEYS])
    if not is_again.any():
        return
    key = rows.loc[is_again, [*KEYS]].iloc[0]
    (first, line), (second, other) = rows.index[(rows[[*KEYS]] == key).all(axis=1)][:2]
    what, table = rows.index.names[1], tables[first]
    text = (
        f"two values of {key['measure']} of {key['name']} for query {key['qid']!r}"
        f"{' in ' * bool(key['track'])}{key['track']}: {what} {line} of {first} and {what} {other} "
        f"of {second}"
    )
    if first != second:
        raise ValueError(f"{text}: leave out one of the files, or name different systems")
    both = {str(name): (table.at[line, name], table.at[other, name]) for name in table}
    names = [
        name for name, cells in both.items() if len({*map(canonical_name, map(str, cells))}) > 1
    ]
    names = [name for name in names if not is_measure(name) and plain(name) != "value"]
    if not names:
        raise ValueError(f"{text}: remove one of them")
    raise ValueError(
        f"{text}, which differ in {names_of(names)}: if a column says which repetition or "
        f"collection a row is of, write --columns repetition=COLUMN or track=COLUMN (columns=); if "
        "it is the query, qid=COLUMN"
    )


def check_ranges(rows: pd.DataFrame) -> None:
    """Checks that the values of known measures are in their ranges; rows as in `check_systems`."""
    for name, values in rows.groupby("measure", sort=False)["value"]:
        if (measure := measure_named(str(name))) is None:
            continue
        low, high = value_range(measure)
        outside = (values < low - _ROUNDING) | (values > high + _ROUNDING)
        if outside.any():
            source, line = values.index[outside][0]
            row = rows[(rows["measure"] == name).to_numpy()][outside.to_numpy()].iloc[0]
            ends = f"from {low:g} on" if math.isinf(high) else f"between {low:g} and {high:g}"
            raise ValueError(
                f"{source}, {rows.index.names[1]} {line}: {name} of {row['name']} is "
                f"{row['value']:g} for "
                f"query {row['qid']!r}, but it lies {ends}: leave a missing score empty, divide "
                "percentages by 100, and give another measure another name"
            )


def groups_of(rows: pd.DataFrame) -> dict[tuple[str, str], str]:
    """(track, qid) -> the group of the query; rows as in `check_systems`.

    Raises:
        ValueError: for a query with two groups.
    """
    groups: dict[tuple[str, str], str] = {}
    if "group" in rows:
        keys = ["track", "qid", "group"]
        for track, qid, group in rows[keys].dropna().drop_duplicates().itertuples(index=False):
            if groups.setdefault((track, qid), group) != group:
                both = f"{groups[track, qid]!r} and {group!r}"
                raise ValueError(f"query {qid!r} has two groups, {both}: give it one")
    return groups
