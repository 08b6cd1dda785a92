"""Starts Python processes that import nothing from the current folder.

``python -c`` and ``python -m`` look there first: whoever runs a command in a folder of somebody
else's would run that one's ``json.py``. Python 3.11 has an option against it, for older ones the
folder is another one while processes start.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any

_OPTION = "PYTHONSAFEPATH"
#: What starts the missing workers of an executor of joblib's.
_START = "_adjust_process_count"


def python_command(code: str) -> list[str]:
    """A command that runs code in another Python, which imports what this one would.

    Args:
        code: what to run; a user's own installations are found as here.
    """
    here = os.path.realpath(os.getcwd())
    path = [folder for folder in sys.path if folder and os.path.realpath(folder) != here]
    return [sys.executable, "-c", f"import sys; sys.path[:] = {path!r}; {code}"]


@contextmanager
def safe_start(*, by_folder: bool = sys.version_info < (3, 11)) -> Iterator[None]:
    """Processes that others start in here, joblib for one, do not import from the current folder.

    Threads can be in here at the same time: what was before comes back with the last of them.

    Args:
        by_folder: whether the current folder is that of Python's own modules meanwhile, and that of
            a process that stays where it started; else Python is told so.
    """
    guard = _BY_FOLDER if by_folder else _BY_OPTION
    guard.enter()
    try:
        yield
    finally:
        guard.leave()


def safe_restarts(executor: Any) -> None:
    """Processes that joblib's executor starts later, for others that have ended, do not either.

    It takes away a worker that has become large, and starts another from a thread of its own.
    """
    start = getattr(executor, _START, None)
    if start is None or hasattr(start, "safe"):
        return

    def start_safely() -> None:
        with safe_start():
            start()

    start_safely.safe = True  # type: ignore[attr-defined]
    setattr(executor, _START, start_safely)


@dataclass
class _Guard:
    """A state of this process, for as long as some of its threads want it."""

    begin: Callable[[], Callable[[], None]]
    end: Callable[[], None] | None = None
    threads: int = 0
    lock: Lock = field(default_factory=Lock)

    def enter(self) -> None:
        with self.lock:
            if not self.threads:
                self.end = self.begin()
            self.threads += 1

    def leave(self) -> None:
        with self.lock:
            self.threads -= 1
            if not self.threads and self.end is not None:
                self.end()


def _elsewhere() -> Callable[[], None]:
    here = os.getcwd()
    os.chdir(os.path.dirname(os.__file__))
    return partial(os.chdir, here)


def _with_option() -> Callable[[], None]:
    before = os.environ.get(_OPTION)
    os.environ[_OPTION] = "1"

    def end() -> None:
        if before is None:
            del os.environ[_OPTION]
        else:
            os.environ[_OPTION] = before

    return end


_BY_FOLDER, _BY_OPTION = _Guard(_elsewhere), _Guard(_with_option)
