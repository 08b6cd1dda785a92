"""What a call shows while it runs: progress bars, and warnings that name the user's line.

tqdm is imported only if a bar is shown.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import Any, TypeVar

Item = TypeVar("Item")

_PACKAGE = __name__.partition(".")[0]


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the line that called this package, however many of its functions are between.

    >>> warn("the run is empty")
    """
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
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
