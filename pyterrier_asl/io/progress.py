"""Progress bars; tqdm is imported only where one is shown."""

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
        items: the items of the loop.
        desc: the text before the bar.
        shown: whether there is a bar; None: on a terminal only.
        more: other arguments of tqdm.
    """
    if shown is None:
        shown = sys.stderr is not None and sys.stderr.isatty()
    if not shown:
        return items
    from tqdm.auto import tqdm

    bar: Iterable[Item] = tqdm(items, desc=desc, **more)
    return bar
