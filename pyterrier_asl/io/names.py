"""Names of runs, judges and so on: checks, short forms, files of names."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .notices import excerpt
from .runs import run_name
from .texts import text_lines

#: The name of all collections together in tables.
OVERALL = "overall"

#: The most names in an error.
_LISTED = 8


def check_names(argument: str, names: Iterable[Any], allowed: Iterable[Any], what: str) -> None:
    """Checks that names exist, as a default would silently replace an unknown name.

    Args:
        argument: the name of the argument.
        names: the names in the argument, compared as text.
        allowed: the names that exist.
        what: the kind of the names, in the plural.

    Raises:
        ValueError: for the first name that does not exist, with the existing names.

    >>> check_names("judge_rel", {"m": 3}, ["m", "crowd"], "judges")
    >>> check_names("judge_rel", {"M": 3}, ["m", "crowd"], "judges")
    Traceback (most recent call last):
    ValueError: judge_rel names 'M', which is none of the judges: did you mean 'm'? (of m, crowd)
    """
    existing = [str(name) for name in allowed]
    unknown = [str(name) for name in names if str(name) not in existing]
    if not unknown:
        return
    import difflib

    by_case = {name.lower(): name for name in existing}
    close = difflib.get_close_matches(unknown[0].lower(), by_case, n=1, cutoff=0.75)
    hint = f"did you mean {by_case[close[0]]!r}?" if close else "use one of the names"
    more = f", and {len(existing) - _LISTED} more" if len(existing) > _LISTED else ""
    raise ValueError(
        f"{argument} names {unknown[0]!r}, which is none of the {what}: {hint} "
        f"(of {', '.join(existing[:_LISTED])}{more})"
    )


def shared_systems(names: Mapping[str, Sequence[str]], *, common: bool = False) -> list[str]:
    """The systems that all collections have, in the order of the first.

    Args:
        names: collection -> its systems.
        common: whether to leave out systems that are missing in a collection; else they are errors.

    Raises:
        ValueError: for a system that is missing in a collection, with both names; if no system is
            left; for one of several collections with the name :data:`OVERALL`.

    >>> shared_systems({"x": ["b", "a"], "y": ["a", "b", "c"]}, common=True)
    ['b', 'a']
    """
    systems = list(dict.fromkeys(name for systems in names.values() for name in systems))
    lacking = [(name, track) for name in systems for track in names if name not in names[track]]
    if OVERALL in names and len(names) > 1:
        raise ValueError(f"a collection is called {OVERALL!r}, as all together are: rename it")
    if lacking and not common:
        name, track = lacking[0]
        raise ValueError(
            f"system {name!r} has no run in collection {track!r}: add it, or compare the systems "
            "that all collections have (common=True, --common)"
        )
    shared = [name for name in systems if name not in dict(lacking)]
    if not shared:
        raise ValueError(f"no system is in all of the collections {', '.join(names)}")
    return shared


def short_names(names: Sequence[str], most: int = 16) -> list[str]:
    """Names of at most ``most`` characters, cut in the middle, that remain different.

    Args:
        names: different names.
        most: the number of characters, 8 or more.

    >>> short_names(["bm25", "bm25-tuned-on-all-of-it-1", "bm25-tuned-on-all-of-it-2"])
    ['bm25', 'bm25-tun…of-it-1', 'bm25-tun…of-it-2']
    """
    for head in (most // 2, 3, most - 4):
        tail = most - 1 - head
        short = [n if len(n) <= most else f"{n[:head]}…{n[-tail:]}" for n in names]
        if len(set(short)) == len(names):
            return short
    marks = [f"…{number}" for number in range(1, len(names) + 1)]
    return [name[: most - len(mark)] + mark for name, mark in zip(names, marks)]


def read_groups(path: str | os.PathLike[str]) -> dict[str, str]:
    """Reads the group of each run, from lines ``run<TAB>group``.

    The name of a run's file can be given: ``input.bm25.gz`` is ``bm25``.

    Raises:
        ValueError: as :func:`read_pairs`.
    """
    return read_pairs(path, "run", "group", run_name)


def read_pairs(
    path: str | os.PathLike[str], key: str, value: str, name_of: Callable[[str], str] = str
) -> dict[str, str]:
    """Reads the value of each key, from lines ``key<TAB>value``.

    Args:
        path: the file.
        key: the name of the first column in errors.
        value: the name of the second column in errors.
        name_of: the key of a cell of the first column.

    Raises:
        ValueError: for a line without two columns, or a key with two values.
    """
    pairs: dict[str, str] = {}
    rows = csv.reader(text_lines(path), delimiter="\t")
    try:
        for row in filter(any, rows):
            where = f"{path}, line {rows.line_num}"
            if len(row) != 2 or not all(row):
                line = excerpt("\t".join(row))
                raise ValueError(f"{where}: expected {key}<TAB>{value}, found {line}")
            name = name_of(row[0])
            if pairs.setdefault(name, row[1]) != row[1]:
                raise ValueError(f"{where}: {key} {name!r} has the {value} {pairs[name]!r} already")
    except csv.Error as error:
        raise ValueError(f"{path}, line {rows.line_num}: {error}") from None
    return pairs
