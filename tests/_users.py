"""Users other than root, to whom files can be forbidden."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_NOBODY = 65534


@contextmanager
def own_folder() -> Iterator[Path]:
    """A folder of another user than root; the body runs as this user.

    The body must not import modules for the first time, because this user may not be allowed to
    read them.
    """
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if is_root and not hasattr(os, "setresuid"):
        pytest.skip("root cannot act as another user here")
    with tempfile.TemporaryDirectory() as folder:
        if is_root:
            os.chown(folder, _NOBODY, _NOBODY)
            os.setresuid(_NOBODY, _NOBODY, 0)
        try:
            yield Path(folder)
        finally:
            if is_root:
                os.setresuid(0, 0, 0)
