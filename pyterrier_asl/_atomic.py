"""Files that are either the old one or the new one, never half of one, and known when damaged."""

from __future__ import annotations

import os
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Gives a new file beside ``path`` to write to, which takes its place once it is whole.

    Whatever goes wrong before that (an error, a full disk, the end of the process), the file that
    was there stays as it was. Only a process that is killed leaves the half-written file behind;
    its name begins with a dot and ends in ``.tmp``.

    Args:
        path: The file to write or to replace. A symbolic link is followed.

    Yields:
        The path to write to, in the same folder.

    Raises:
        FileNotFoundError: If there is no folder to write in.
        IsADirectoryError: If ``path`` is a folder.

    Example:
        >>> import tempfile
        >>> target = Path(tempfile.mkdtemp()) / "numbers.txt"
        >>> with replacing(target) as beside:
        ...     _ = beside.write_text("1 2 3")
        >>> target.read_text()
        '1 2 3'
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {target.parent}")
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a folder")
    beside = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        yield beside
        # Without this a crash of the machine could leave the new name on an empty file.
        with open(beside, "rb+") as written:
            os.fsync(written.fileno())
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def checksum(path: str | os.PathLike[str]) -> int:
    """The CRC-32 of a file, which a changed byte changes; some 0.3 s a gigabyte.

    Args:
        path: The file.

    Returns:
        A number from 0 to 2^32 - 1.

    Raises:
        OSError: If it cannot be read.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "digits.txt"
        >>> _ = file.write_text("123456789")
        >>> hex(checksum(file))
        '0xcbf43926'
    """
    crc = 0
    with open(path, "rb", buffering=0) as file:
        while block := file.read(1 << 20):
            crc = zlib.crc32(block, crc)
    return crc
