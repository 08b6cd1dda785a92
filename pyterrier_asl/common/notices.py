"""Parts of sentences, warnings that name the user's line, and progress bars.

tqdm is imported only if a bar is shown.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")
Key = TypeVar("Key")


def counted(number: int, singular: str, plural: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "run"), counted(1200, "run"), counted(2, "query", "queries")
    ('1 run', '1,200 runs', '2 queries')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def excerpt(value: object) -> str:
    """Some text or object for a message: in quotation marks, its first 80 characters.

    >>> excerpt("q1 d1"), excerpt("a" * 81) == repr("a" * 80 + "...")
    ("'q1 d1'", True)
    """
    shown = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    return repr(shown if len(shown) <= 80 else shown[:80] + "...")


def names_of(names: Sequence[str], most: int = 4) -> str:
    """The first names of a list for a sentence, and the number of the others.

    >>> names_of(["a", "b", "c"]), names_of(list("abcdef"))
    ('a, b and c', 'a, b, c, d and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def grouped(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """The second of each pair by the first, in the order of their first occurrence.

    >>> grouped([("p", 1), ("q", 2), ("p", 3)])
    {'p': [1, 3], 'q': [2]}
    """
    groups: dict[Key, list[Item]] = {}
    for key, item in pairs:
        groups.setdefault(key, []).append(item)
    return groups


class DoubtfulInput(UserWarning):
    """A fact about runs that makes a number doubtful, where the result does not print it."""


def warn(*texts: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the line that called this package, however many of its functions are between.

    >>> warn("the run is empty")
    """
    frame, level, package = sys._getframe(), 1, __name__.partition(".")[0]
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    for text in texts:
        warnings.warn(text, category, stacklevel=level)


def progress_bar(
    items: Iterable[Item], *, desc: str, shown: bool | None = None, **more: Any
) -> Iterable[Item]:
    """The items, with a progress bar.

    Args:
        items: the items of the loop.
        desc: the text before the bar.
        shown: whether to show a bar; None: only on a terminal.
        more: other arguments of tqdm.
    """
    if not (sys.stderr is not None and sys.stderr.isatty() if shown is None else shown):
        return items
    from tqdm.auto import tqdm

    return tqdm(items, desc=desc, **more)  # type: ignore[no-any-return]
