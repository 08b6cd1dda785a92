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


def exit_with_parent(sender: int, folder: str | os.PathLike[str] | None = None) -> None:
    """Ends this process soon after ``sender`` has ended, and takes away what that has left.

    Args:
        sender: The process that sent the work. Nothing happens in itself: work can also be done
            where it comes from.
        folder: What it sent, for nobody else. It is removed. None for nothing.
    """
    if os.getpid() != sender:
        if folder is not None:
            _FOLDERS.add(os.fspath(folder))
        _watch(sender)


@lru_cache(maxsize=1)
def _watch(sender: int) -> None:
    Thread(target=_wait, args=(sender,), daemon=True).start()


def _wait(sender: int) -> None:
    child = os.getppid() == sender
    # One that has ended may exist until somebody has noticed: to its children it is gone at once.
    while os.getppid() == sender if child else _exists(sender):
        time.sleep(_EVERY)
    for folder in _FOLDERS:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _exists(process: int) -> bool:
    if os.name == "nt":  # where a signal that does nothing would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
