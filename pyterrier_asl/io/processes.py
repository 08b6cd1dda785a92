"""Processes that import nothing from the current folder, and end with their parent.

``python -c`` and ``python -m`` search the current folder first: a command in another user's folder
would import the ``json.py`` there. Python 3.11 has an option against it; for older versions the
current folder changes while processes start.

A process that is killed cannot end its workers: they check whether it still exists.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from threading import Lock, Thread

_OPTION = "PYTHONSAFEPATH"
#: How often a worker checks whether its parent exists, in seconds.
_INTERVAL = 1.0
#: The folders that a worker removes when its parent has ended.
_FOLDERS: set[str] = set()


def check_address_space(gigabytes: float, what: str) -> None:
    """Checks the limit of ``ulimit -v``: with a low limit libraries hang or end the process.

    Args:
        gigabytes: the address space that is needed.
        what: the part of this package that needs it.

    Raises:
        MemoryError: for a lower limit.

    >>> check_address_space(0.1, "this example")
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if 0 <= limit < gigabytes * 2**30:
        raise MemoryError(
            f"{what} needs {gigabytes:g} GB of address space, and 'ulimit -v' permits "
            f"{limit / 2**30:.1f} GB: raise it"
        )


def python_command(code: str) -> list[str]:
    """A command that runs code in another Python, which imports the same modules as this one.

    Args:
        code: the code; it also finds modules that the user installed.
    """
    here = os.path.realpath(os.getcwd())
    path = [folder for folder in sys.path if folder and os.path.realpath(folder) != here]
    return [sys.executable, "-c", f"import sys; sys.path[:] = {path!r}; {code}"]


class _Shared(AbstractContextManager[None]):
    """A context that several threads can enter: the first begins it, the last ends it."""

    def __init__(self, begin: Callable[[], AbstractContextManager[None]]) -> None:
        self._begin, self._lock = begin, Lock()
        self._threads = 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._threads:
                self._context = self._begin()
                self._context.__enter__()
            self._threads += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._threads -= 1
            if not self._threads:
                self._context.__exit__(None, None, None)


@_Shared
@contextmanager
def _in_folder_of_stdlib() -> Iterator[None]:
    here = os.getcwd()
    os.chdir(os.path.dirname(os.__file__))
    try:
        yield
    finally:
        os.chdir(here)


@_Shared
@contextmanager
def _with_option() -> Iterator[None]:
    before = os.environ.get(_OPTION)
    os.environ[_OPTION] = "1"
    try:
        yield
    finally:
        del os.environ[_OPTION]
        os.environ |= {} if before is None else {_OPTION: before}


def safe_start(*, by_folder: bool = sys.version_info < (3, 11)) -> AbstractContextManager[None]:
    """A context in which started processes do not import from the current folder.

    Several threads can be in it at the same time: the last thread restores the state.

    Args:
        by_folder: whether to change to the folder of Python's own modules, where processes then
            start; else ``PYTHONSAFEPATH`` is set.
    """
    return _in_folder_of_stdlib if by_folder else _with_option


def exit_with_parent(sender: int, folder: str | os.PathLike[str] | None = None) -> None:
    """Ends this process soon after ``sender`` has ended, and removes its folder.

    Args:
        sender: The process that sent the work. If it is this process, nothing happens.
        folder: A folder of files that only workers of the sender use; None: no folder.
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
    # An ended process exists until its parent has noticed, but is not the parent of its children.
    while os.getppid() == sender if child else _exists(sender):
        time.sleep(_INTERVAL)
    for folder in _FOLDERS:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _exists(process: int) -> bool:
    if os.name == "nt":  # os.kill would end the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
