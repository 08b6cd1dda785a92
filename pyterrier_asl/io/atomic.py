"""Writes files atomically: a reader gets the old file or the new file, never a part of one."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

#: The first bytes of files by their endings; a file with other first bytes has other content.
_BEGINNINGS = {
    ".html": b"<",
    ".svg": b"<",
    ".xml": b"<",
    ".json": b"{",
    ".png": b"\x89PNG",
    ".pdf": b"%PDF",
    ".parquet": b"PAR1",
}

#: Errors of a file that cannot grow.
FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


@contextmanager
def replacing(
    path: str | os.PathLike[str],
    *,
    begins: bytes = b"",
    force: bool = False,
    only_new: bool = False,
) -> Iterator[Path]:
    """Writes to a new file in the folder of ``path``, which replaces it when it is complete.

    After an error, for a full disk, or if the process ends, the existing file is unchanged. Only a
    process that is killed leaves the incomplete file, whose name begins with a dot and ends in
    ``.tmp``. The mode is kept.

    Args:
        path: The file to write or to replace. A symbolic link is followed.
        begins: The first bytes of a file that can be replaced; by default they follow from its
            ending. An empty file can always be replaced.
        force: Whether a file with other content is replaced, too.
        only_new: Whether any existing file is an error, also one that another process writes
            meanwhile.

    Yields:
        The path to write to, in the same folder.

    Raises:
        FileNotFoundError: If the folder does not exist.
        FileExistsError: For a file with other content; with ``only_new`` for any file.
        IsADirectoryError: For a folder.
        PermissionError: If the file cannot be written.
        OSError: For a device or a pipe, or a full disk.

    Example:
        >>> import tempfile
        >>> target = Path(tempfile.mkdtemp()) / "numbers.txt"
        >>> with replacing(target) as new:
        ...     _ = new.write_text("1 2 3")
        >>> target.read_text()
        '1 2 3'
    """
    check_replaceable(path, begins=begins, force=force)
    target = Path(os.path.realpath(path))
    new = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        with naming_full_disk(path):
            yield new
            if target.exists():
                shutil.copymode(target, new)
            with new.open("rb") as written:  # a crash of the machine must not leave it empty
                os.fsync(written.fileno())
            if only_new:
                _claim(new, path)
            os.replace(new, target)
    finally:
        new.unlink(missing_ok=True)


def _claim(new: Path, path: str | os.PathLike[str]) -> None:
    """Gives a complete file its name, which only one of several processes can do."""
    try:
        os.link(new, path)
    except OSError:  # the file system has no links, or there is such a file
        open(path, "x").close()


@contextmanager
def naming_full_disk(what: str | os.PathLike[str]) -> Iterator[None]:
    """Names what cannot be written in the errors of a full disk.

    Args:
        what: The file, or a description of it.

    Raises:
        OSError: For a full disk, an exceeded quota or a file that is too large, with ``what``.
    """
    try:
        yield
    except OSError as error:
        if error.errno in FULL or "requested and" in str(error):  # of NumPy, without a number
            raise OSError(
                f"cannot write {what}: {os.strerror(error.errno or errno.ENOSPC)}"
            ) from error
        raise


def check_replaceable(
    path: str | os.PathLike[str],
    *,
    inputs: Iterable[str | os.PathLike[str]] = (),
    begins: bytes = b"",
    force: bool = False,
) -> None:
    """Checks that a file can be written without destroying another; see :func:`replacing`.

    Args:
        path: The file.
        inputs: Input files and folders: no such file, and no file in such a folder, can be
            written. A new file in a folder of runs would be read as a run.
        begins: The first bytes of a file that can be replaced; by default they follow from its
            ending.
        force: Whether a file with other content can be replaced.

    Raises:
        OSError: If it cannot be written.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {target.parent}")
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(f"cannot write {path}: the folder {target.parent} is read-only")
    for source in inputs:
        if _is_or_holds(source, target):
            verb = "is" if target.exists() else "would be"
            raise FileExistsError(f"cannot write {path}: it {verb} one of the inputs ({source})")
    if not target.exists():
        return
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a folder")
    if not target.is_file():
        raise OSError(f"cannot write {path}: it is a device or a pipe, not a file")
    if not os.access(target, os.W_OK):
        raise PermissionError(f"cannot write {path}: it is read-only")
    begins = begins or _BEGINNINGS.get(target.suffix.lower(), b"")
    if not force and target.stat().st_size:
        with open(target, "rb") as file:
            if file.read(len(begins)).lower() != begins.lower():
                raise kind_error(path)


def kind_error(path: str | os.PathLike[str]) -> FileExistsError:
    """The error for a file that would replace other content."""
    return FileExistsError(
        f"cannot write {path}: it holds something else; remove it, or overwrite it by --force "
        "(in Python force=True)"
    )


def _is_or_holds(source: str | os.PathLike[str], target: Path) -> bool:
    if os.path.isdir(source):  # subfolders are not read
        return Path(os.path.realpath(source)) in (target, target.parent)
    # The source can also be the id of a dataset.
    return target.exists() and os.path.exists(source) and os.path.samefile(source, target)
