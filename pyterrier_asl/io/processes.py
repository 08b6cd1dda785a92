"""Python processes that import nothing from the current folder, and end with their parent.

``python -c`` and ``python -m`` search the current folder first: a command in another user's folder
would import the ``json.py`` there. Python 3.11 has an option against it; for older ones the current
folder is another one while processes start.

A process that is killed cannot end its workers: they look whether it is still there.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from threading import Lock, Thread

_OPTION = "PYTHONSAFEPATH"
#: How often a worker looks whether its parent is there, in seconds.
_EVERY = 1.0
#: The folders that a worker removes when its parent has gone.
_FOLDERS: set[str] = set()


def check_address_space(gigabytes: float, what: str) -> None:
    """Checks the limit of ``ulimit -v``: libraries hang or end the process where it is too low.

    Args:
        gigabytes: the address space that is needed.
        what: what needs it.

    Raises:
        MemoryError: where the limit is lower.

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
    """A command that runs code in another Python, which imports what this one would.

    Args:
        code: the code to run; a user's own installations are found as here.
    """
    here = os.path.realpath(os.getcwd())
    path = [folder for folder in sys.path if folder and os.path.realpath(folder) != here]
    return [sys.executable, "-c", f"import sys; sys.path[:] = {path!r}; {code}"]


def safe_start(*, by_folder: bool = sys.version_info < (3, 11)) -> AbstractContextManager[None]:
    """A context in which started processes do not import from the current folder.

    Several threads can be in it at the same time: the last thread restores the state.

    Args:
        by_folder: whether to change to the folder of Python's own modules meanwhile, where a
            process then starts; else to set ``PYTHONSAFEPATH``.
    """
    return _BY_FOLDER if by_folder else _BY_OPTION


@dataclass
class _Guard(AbstractContextManager[None]):
    """A state of this process, which lasts while at least one of its threads is in the context."""

    begin: Callable[[], Callable[[], None]]
    end: Callable[[], None] | None = None
    threads: int = 0
    lock: Lock = field(default_factory=Lock)

    def __enter__(self) -> None:
        with self.lock:
            if not self.threads:
                self.end = self.begin()
            self.threads += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.threads -= 1
            if not self.threads and self.end is not None:
                self.end()


def _chdir_to_stdlib() -> Callable[[], None]:
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


_BY_FOLDER, _BY_OPTION = _Guard(_chdir_to_stdlib), _Guard(_with_option)


def exit_with_parent(sender: int, folder: str | os.PathLike[str] | None = None) -> None:
    """Ends this process soon after ``sender`` has ended, and removes the folder of that.

    Args:
        sender: The process that sent the work. If it is this one, nothing happens.
        folder: A folder of files from the sender, for its workers alone; None: there is none.
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
    # A process that has ended exists until its parent has noticed; to its children it is gone.
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
