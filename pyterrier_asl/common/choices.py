"""Names that callers choose among existing ones."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any

#: The most names in an error.
_LISTED = 8


def one_or_more(given: Any) -> list[Any]:
    """What an argument that takes one or several has; a text or a path is one.

    >>> one_or_more("AP"), one_or_more(("AP", "RR"))
    (['AP'], ['AP', 'RR'])
    """
    is_one = isinstance(given, (str, PathLike)) or not isinstance(given, Iterable)
    return [given] if is_one else list(given)


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
