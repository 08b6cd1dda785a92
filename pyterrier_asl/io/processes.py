"""Starts Python processes that import nothing from the current folder.

``python -c`` and ``python -m`` look there first: whoever runs a command in a folder of somebody
else's would run that one's ``json.py``. Python 3.11 has an option against it, for older ones the
folder is another one while processes start.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_OPTION = "PYTHONSAFEPATH"


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

    Args:
        by_folder: whether the current folder is that of Python's own modules meanwhile, and that of
            a process that stays where it started; else Python is told so.
    """
    if by_folder:
        here = os.getcwd()
        os.chdir(os.path.dirname(os.__file__))
        try:
            yield
        finally:
            os.chdir(here)
        return
    before = os.environ.get(_OPTION)
    os.environ[_OPTION] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_OPTION]
        else:
            os.environ[_OPTION] = before
