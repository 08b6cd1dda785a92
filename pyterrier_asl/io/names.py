"""Names of runs, judges and the like: checked, listed in sentences, shortened, read from tables."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .runs import run_name
from .texts import text_lines

#: How many names an error lists.
_LISTED = 8


def check_names(argument: str, names: Iterable[Any], allowed: Iterable[Any], what: str) -> None:
    """Checks that names exist, as a default would silently replace one that does not.

    Args:
        argument: the name of the argument.
        names: the names that it has, compared as text.
        allowed: the names that exist.
        what: the kind of the names, in the plural.

    Raises:
        ValueError: for the first name that does not exist, with those that do.

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
    hint = f"did you mean {by_case[close[0]]!r}?" if close else "name one that there is"
    more = f", and {len(existing) - _LISTED} more" if len(existing) > _LISTED else ""
    raise ValueError(
        f"{argument} names {unknown[0]!r}, which is none of the {what}: {hint} "
        f"(of {', '.join(existing[:_LISTED])}{more})"
    )


def shared_systems(names: Mapping[str, Sequence[str]], *, common: bool = False) -> list[str]:
    """The systems that all collections have, in the order of the first.

    Args:
        names: collection -> the systems that it has.
        common: whether systems that a collection lacks are left out; else they are an error.

    Raises:
        ValueError: for a system that a collection lacks, with both names; where none is left.

    >>> shared_systems({"x": ["b", "a"], "y": ["a", "b", "c"]}, common=True)
    ['b', 'a']
    """
    every = list(dict.fromkeys(name for systems in names.values() for name in systems))
    lacking = [(name, track) for name in every for track in names if name not in names[track]]
    if lacking and not common:
        name, track = lacking[0]
        raise ValueError(
            f"system {name!r} has no run in collection {track!r}: add it, or compare those that "
            "all collections have (common=True, --common)"
        )
    without = {name for name, _ in lacking}
    shared = [name for name in every if name not in without]
    if not shared:
        raise ValueError(f"no system is in all of the collections {', '.join(names)}")
    return shared


def names_of(names: Sequence[str], most: int = 4) -> str:
    """The first names of a list for a sentence, and the number of the others.

    >>> names_of(["a", "b", "c"]), names_of(list("abcdef"))
    ('a, b and c', 'a, b, c, d and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def short_names(names: Sequence[str], most: int = 16) -> list[str]:
    """Names of at most so many characters, cut in the middle, that stay different.

    Args:
        names: different ones.
        most: characters, 8 or more.

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


def read_groups(path: str | os.PathLike[str]) -> Mapping[str, str]:
    """Reads the group of each run, from lines ``run<TAB>group``.

    A run may be named as its file is: ``input.bm25.gz`` is ``bm25``.

    Raises:
        ValueError: for a line that is not two columns, or a run with two groups.
    """
    groups: dict[str, str] = {}
    for number, (file, group) in _pairs(path, "run", "group"):
        name = run_name(file)
        if groups.setdefault(name, group) != group:
            raise ValueError(
                f"{path}, line {number}: run {name!r} is in group {groups[name]!r} already"
            )
    return groups


def read_pairs(path: str | os.PathLike[str], key: str, value: str) -> dict[str, str]:
    """Reads the value of each key, from lines ``key<TAB>value``.

    Args:
        path: the file.
        key: what an error calls the first column.
        value: what it calls the second.

    Raises:
        ValueError: for a line that is not two columns, or a key that is there twice.
    """
    pairs: dict[str, str] = {}
    for number, (name, beside) in _pairs(path, key, value):
        if name in pairs:
            raise ValueError(f"{path}, line {number}: {key} {name!r} is there already")
        pairs[name] = beside
    return pairs


def _pairs(
    path: str | os.PathLike[str], key: str, value: str
) -> Iterator[tuple[int, tuple[str, str]]]:
    """Both columns of each line, and its number."""
    rows = csv.reader(text_lines(path), delimiter="\t")
    try:
        for row in filter(any, rows):
            if len(row) != 2 or not all(row):
                line = f"{row}"[:100]
                raise ValueError(
                    f"{path}, line {rows.line_num}: expected {key}<TAB>{value}, found {line}"
                )
            yield rows.line_num, (row[0], row[1])
    except csv.Error as error:
        raise ValueError(f"{path}, line {rows.line_num}: {error}") from None
