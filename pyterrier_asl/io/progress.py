"""A bar that shows how far a loop is; what draws it is imported only where it is shown."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, TypeVar

Item = TypeVar("Item")


def progress_bar(
    items: Iterable[Item], *, desc: str, shown: bool | None = None, **more: Any
) -> Iterable[Item]:
    """The items, with a progress bar.

    Args:
        items: what to go through.
        desc: what stands before the bar.
        shown: whether there is one; None: on a terminal only.
        more: what tqdm takes.
    """
    if shown is None:
        shown = sys.stderr is not None and sys.stderr.isatty()
    if not shown:
        return items
    from tqdm.auto import tqdm

    bar: Iterable[Item] = tqdm(items, desc=desc, **more)
    return bar
