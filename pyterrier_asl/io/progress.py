"""Progress bars; tqdm is imported only if a bar is shown."""

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
        shown: whether to show a bar; None: only on a terminal.
        more: other arguments of tqdm.
    """
    if not (sys.stderr is not None and sys.stderr.isatty() if shown is None else shown):
        return items
    from tqdm.auto import tqdm

    return tqdm(items, desc=desc, **more)  # type: ignore[no-any-return]
