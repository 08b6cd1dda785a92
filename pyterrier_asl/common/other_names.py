"""Names of options in other programs, for errors that show the name here."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

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
