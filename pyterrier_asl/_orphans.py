"""Workers end when the process that they work for is killed, which cannot tell them any more."""

from __future__ import annotations

import os
import shutil
import time
from functools import lru_cache
from threading import Thread

#: How often a worker looks, in seconds.
_EVERY = 1.0
_FOLDERS: set[str] = set()


def end_with(parent: int, folder: str | os.PathLike[str]) -> None:
    """Ends this process soon after ``parent`` has ended, and takes away what that has left.

    Args:
        parent: The process that sent the work. Nothing happens unless it is this one's parent:
            work can also be done where it comes from.
        folder: What it sent, for nobody else. It is removed.
    """
    if os.getppid() == parent:
        _FOLDERS.add(os.fspath(folder))
        _watch(parent)


@lru_cache(maxsize=1)
def _watch(parent: int) -> None:
    Thread(target=_wait, args=(parent,), daemon=True).start()


def _wait(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_EVERY)
    for folder in _FOLDERS:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
