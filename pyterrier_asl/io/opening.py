"""Opens files: checks them, and decompresses text by its first bytes."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from .atomic import naming_full_disk

StrPath: TypeAlias = str | os.PathLike[str]

_COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
}
_FORMATS = {".parquet": "Parquet", ".feather": "Arrow", ".arrow": "Arrow"}
_MAGIC = {b"PAR1": "Parquet", b"ARRO": "Arrow"}


def local_path(source: StrPath) -> Path:
    """The path of a source; for ``"-"`` a file with the content of standard input."""
    if source != "-":
        return Path(source)
    folder = tempfile.mkdtemp(prefix="pyterrier_asl-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / "stdin"
    with naming_full_disk(path), path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def open_file(path: Path) -> BufferedReader:
    """Opens a file that exists and can be read.

    Raises:
        OSError: For a folder, a pipe, a link to nothing, or a file without permission.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a file")
    if not path.exists():
        target = f": it is a link to {os.readlink(path)}" if path.is_symlink() else ""
        raise FileNotFoundError(f"there is no file {path}{target}")
    if not path.is_file():
        raise OSError(f"{path} is not a regular file (a pipe, perhaps); write it to a file first")
    try:
        return path.open("rb")
    except OSError as error:
        raise type(error)(f"{path} cannot be read: {error.strerror}") from None


def file_format(path: Path, file: BufferedReader) -> str | None:
    """``'Parquet'`` or ``'Arrow'``, by the first bytes or the name; None for text."""
    return _MAGIC.get(file.peek(4)[:4]) or _FORMATS.get(path.suffix.lower())


@contextmanager
def decompressed(path: Path, file: BufferedReader) -> Iterator[Any]:
    """The text of a file, decompressed by its first bytes.

    Raises:
        OSError: within the context, for a file that cannot be read to its end.
    """
    codec = next(
        (of for magic, of in _COMPRESSIONS.items() if file.peek(4).startswith(magic)), None
    )
    try:
        yield file if codec is None else _stream(file, codec)
    except (ValueError, MemoryError):
        raise
    except Exception as error:  # its type depends on the compression
        raise OSError(
            f"{path} cannot be read to its end, it may be damaged or cut short: {error}"
        ) from error


def _stream(file: BufferedReader, codec: str) -> Any:
    """The decompressed bytes of a file; isal, where it is installed, is faster for gzip."""
    if codec == "gzip":
        with suppress(ImportError):
            from isal import igzip

            return igzip.open(file, "rb")
    return pa.input_stream(file, compression=codec)


@contextmanager
def open_text(path: Path) -> Iterator[Any]:
    """Opens the text of a file; see :func:`open_file` and :func:`decompressed`."""
    with open_file(path) as file, decompressed(path, file) as stream:
        yield stream
