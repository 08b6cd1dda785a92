"""Checks the names in arguments that map names to values, such as groups of runs."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

#: How many names an error lists.
_LISTED = 8


def check_names(argument: str, names: Iterable[Any], allowed: Iterable[Any], what: str) -> None:
    """Refuses names that do not exist, for which a default would silently take effect.

    Args:
        argument: what the argument is called.
        names: the names that it has, compared as text.
        allowed: the names that exist.
        what: what is named, in the plural.

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
    by_case = {name.lower(): name for name in existing}
    close = difflib.get_close_matches(unknown[0].lower(), by_case, n=1, cutoff=0.75)
    hint = f"did you mean {by_case[close[0]]!r}?" if close else "name one that there is"
    more = f", and {len(existing) - _LISTED} more" if len(existing) > _LISTED else ""
    raise ValueError(
        f"{argument} names {unknown[0]!r}, which is none of the {what}: {hint} "
        f"(of {', '.join(existing[:_LISTED])}{more})"
    )
