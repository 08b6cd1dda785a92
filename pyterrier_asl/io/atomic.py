"""Writes files atomically: a reader finds the old one or the new one, never a part of it."""

from __future__ import annotations

import errno
import os
import stat
import sys
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

#: What a file begins with, by its ending: a file that does not is of another kind.
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
    path: str | os.PathLike[str], *, begins: bytes = b"", force: bool = False
) -> Iterator[Path]:
    """Writes to a new file beside ``path``, which takes its place once it is whole.

    Whatever goes wrong before that (an error, a full disk, the end of the process), the file that
    was there stays as it was. Only a process that is killed leaves the half-written file behind;
    its name begins with a dot and ends in ``.tmp``. Mode and owner stay as they were.

    Args:
        path: The file to write or to replace. A symbolic link is followed.
        begins: What a file begins with that may be replaced; by default its ending says so. An
            empty file always may.
        force: Whether a file of another kind is replaced, too.

    Yields:
        The path to write to, in the same folder.

    Raises:
        FileNotFoundError: If there is no folder to write in.
        FileExistsError: If there is a file of another kind, or one with further names (hard links),
            which would be left behind.
        IsADirectoryError: If ``path`` is a folder.
        PermissionError: If the file must not be written, or its owner cannot be kept.
        OSError: If it is a device or a pipe, or the disk is full.

    Example:
        >>> import tempfile
        >>> target = Path(tempfile.mkdtemp()) / "numbers.txt"
        >>> with replacing(target) as beside:
        ...     _ = beside.write_text("1 2 3")
        >>> target.read_text()
        '1 2 3'
    """
    check_replaceable(path, begins=begins, force=force)
    target = Path(os.path.realpath(path))
    with _beside(target, path) as beside:
        yield beside
        if target.exists():
            _keep_mode_and_owner(target, beside)
        _write_to_disk(beside)
        os.replace(beside, target)


@contextmanager
def _beside(target: Path, path: str | os.PathLike[str]) -> Iterator[Path]:
    """A new path in the folder of the target; a file that is still there at the end is removed."""
    beside = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        with naming_full_disk(path):
            yield beside
    finally:
        beside.unlink(missing_ok=True)


def _write_to_disk(path: Path) -> None:
    """Without this a crash of the machine could leave the new name on an empty file."""
    with open(path, "rb") as written:
        os.fsync(written.fileno())


@contextmanager
def naming_full_disk(what: str | os.PathLike[str]) -> Iterator[None]:
    """Names what cannot be written where the system says only that there is no space.

    Args:
        what: The file, or what is written.

    Raises:
        OSError: For a full disk, an exceeded quota or a file that is too large, with ``what``.
    """
    try:
        yield
    except OSError as error:
        written_less = "requested and" in str(error)  # NumPy's words, without a number
        if error.errno not in FULL and not written_less:
            raise
        reason = os.strerror(errno.ENOSPC if written_less else error.errno or 0)
        raise OSError(f"cannot write {what}: {reason}") from error


@contextmanager
def creating(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Writes to a new file, which becomes ``path`` once it is whole, where there is none yet.

    Of several processes that create one file at the same time, one does.

    Args:
        path: The file to create.

    Yields:
        The path to write to, in the same folder.

    Raises:
        FileExistsError: If there is such a file.
        OSError: If it cannot be written; then there is no file either.

    Example:
        >>> import tempfile
        >>> target = Path(tempfile.mkdtemp()) / "numbers.txt"
        >>> with creating(target) as beside:
        ...     _ = beside.write_text("1 2 3")
        >>> target.read_text()
        '1 2 3'
    """
    if os.path.lexists(path):
        raise FileExistsError(f"cannot write {path}: there is such a file")
    check_replaceable(path)
    with _beside(Path(os.path.abspath(path)), path) as beside:
        yield beside
        _write_to_disk(beside)
        try:
            os.link(beside, path)
        except FileExistsError:
            raise
        except OSError:  # the file system has no links
            open(path, "x").close()
            os.replace(beside, path)


@contextmanager
def locked(file: BinaryIO) -> Iterator[None]:
    """Locks a file: other processes that lock it wait; a lock ends with its process at the latest.

    Args:
        file: open for writing, in binary mode.
    """
    if sys.platform == "win32":
        import msvcrt

        def lock(mode: int) -> None:
            position = file.tell()
            file.seek(_BEYOND)  # Windows forbids to read the locked bytes
            msvcrt.locking(file.fileno(), mode, 1)
            file.seek(position)

        lock(msvcrt.LK_LOCK)
        try:
            yield
        finally:
            file.flush()
            lock(msvcrt.LK_UNLCK)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)


#: A position behind the end of any file.
_BEYOND = 2**40


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
        inputs: Files and folders that are read: none of them, and no file in them, is written. A
            new file in a folder of runs would be read as a run.
        begins: What a file begins with that may be replaced; by default its ending says so.
        force: Whether a file of another kind may be replaced.

    Raises:
        OSError: If not.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {target.parent}")
    for source in inputs:
        if _is_or_holds(source, target):
            what = "is" if target.exists() else "would be"
            raise FileExistsError(f"cannot write {path}: it {what} one of the inputs ({source})")
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(f"cannot write {path}: it is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"cannot write {path}: it is a device or a pipe, not a file")
    if status.st_nlink > 1:
        raise FileExistsError(
            f"cannot write {path}: it has {status.st_nlink} names (hard links), of which only one "
            "would get the new content; remove it first"
        )
    if not os.access(target, os.W_OK):
        raise PermissionError(f"cannot write {path}: it is read-only")
    begins = begins or _BEGINNINGS.get(target.suffix.lower(), b"")
    if not force and status.st_size:
        with open(target, "rb") as file:
            if file.read(len(begins)).lower() != begins.lower():
                raise kind_error(path)


def kind_error(path: str | os.PathLike[str]) -> FileExistsError:
    """The error for a file that would overwrite one of another kind."""
    return FileExistsError(
        f"cannot write {path}: it holds something else; remove it, or overwrite it by --force "
        "(in Python force=True)"
    )


def _is_or_holds(source: str | os.PathLike[str], target: Path) -> bool:
    if not os.path.exists(source):  # such as the id of a dataset
        return False
    if os.path.isdir(source):
        folder = Path(os.path.realpath(source))
        if not target.is_relative_to(folder):
            return False
        first, *below = target.relative_to(folder).parts
        return not below or "=" in first  # other subfolders are not read
    return target.exists() and os.path.samefile(source, target)


def _keep_mode_and_owner(old: Path, new: Path) -> None:
    before, after = old.stat(), new.stat()
    if hasattr(os, "chown") and (before.st_uid, before.st_gid) != (after.st_uid, after.st_gid):
        try:
            os.chown(new, before.st_uid, before.st_gid)
        except PermissionError:
            raise PermissionError(
                f"cannot write {old}: it would change its owner or group; remove it first"
            ) from None
    new.chmod(stat.S_IMODE(before.st_mode))
