"""Arguments of callers: names among existing ones, numbers, and names of other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import signature
from numbers import Integral, Real
from os import PathLike
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

#: The most names in an error.
_LISTED = 8

#: Other names of parameters and options -> the names here, of which a function or a command has
#: one; after a blank the value to give.
OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "budget": ("most",),
    "csv": ("output csv",),
    "fb_lambda": ("gamma",),
    "format": ("output",),
    "json": ("output jsonl",),
    "latex": ("output latex",),
    "markdown": ("output markdown",),
    "metric": ("measures",),
    "metrics": ("measures",),
    "n_iter": ("n_trials", "trials"),
    "n_jobs": ("jobs",),
    "n_trials": ("trials",),
    "num_docs": ("fb_docs",),
    "num_terms": ("fb_terms",),
    "random_state": ("seed",),
    "top": ("most", "all"),
}


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


def check_probability(what: str, value: float) -> None:
    """Raises ValueError unless the value is a number above 0 and below 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < 1:
        raise ValueError(f"{what} is {value!r}, but it is a probability: give 0 < {what} < 1")


def check_whole(what: str, value: Any, least: int = 1) -> None:
    """Raises ValueError for a value that is not a whole number, or is too small.

    >>> check_whole("depth", 1.5)
    Traceback (most recent call last):
        ...
    ValueError: depth must be a whole number from 1 on, not 1.5
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{what} must be a whole number from {least} on, not {value!r}")


def check_name(what: str, name: str | None, allowed: Sequence[str | None]) -> None:
    """Raises ValueError unless a name is one of the allowed ones."""
    if name not in allowed:
        raise ValueError(f"{what} {name!r} is unknown: use one of {', '.join(map(repr, allowed))}")


def taking_other_names(function: Callable[P, R]) -> Callable[P, R]:
    """The function, whose error for an argument of another program shows the name here.

    >>> taking_other_names(lambda seed: seed)(random_state=1)
    Traceback (most recent call last):
    TypeError: <lambda>() has no argument 'random_state': write seed=
    """
    parameters = signature(function).parameters
    called = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
    known = {*parameters}.union(*OTHER_NAMES.values())  # such as n_trials among the options

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in sorted(kwargs.keys() & OTHER_NAMES.keys() - known):
            for other in OTHER_NAMES[name]:
                if other in parameters or "options" in parameters:
                    raise TypeError(f"{called}() has no argument {name!r}: write {other}=")
        return function(*args, **kwargs)

    return call
