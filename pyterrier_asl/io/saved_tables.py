"""Saves and loads tables as Parquet files with a kind, a version and checksums of its pages."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from ..common.lazy import pq
from .atomic import check_replaceable, kind_error, replacing
from .files import parquet_table
from .opening import StrPath, open_file

#: The keys of what a file says of itself.
_KIND, _VERSION, _CHECKSUM = (b"pyterrier_asl." + key for key in (b"kind", b"version", b"checksum"))


def save_table(
    table: pa.Table, path: StrPath, *, kind: str, version: int, force: bool = False
) -> None:
    """Saves a table as a Parquet file of a kind.

    A complete file replaces the old one. Its metadata hold its kind, its version and a checksum
    of the metadata, which those of Parquet's pages do not cover.

    Args:
        table: The table. The metadata of its schema is kept.
        path: The file.
        kind: The kind, such as ``"doc_lengths"``.
        version: The version of the format of this kind.
        force: Whether a file of another kind is replaced.

    Raises:
        OSError: If it cannot be written, or there is a file of another kind; an existing file is
            then unchanged.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "lengths.parquet"
        >>> lengths = pa.table({"docno": ["d1"], "words": [12]})
        >>> save_table(lengths, path, kind="doc_lengths", version=1)
        >>> load_table(path, kind="doc_lengths", version=1).to_pylist()
        [{'docno': 'd1', 'words': 12}]
        >>> load_table(path, kind="pool", version=1)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        ValueError: ...lengths.parquet is a pyterrier_asl doc_lengths file, not a pool file
    """
    about = {_KIND: kind.encode(), _VERSION: str(version).encode()}
    metadata = {**(table.schema.metadata or {}), **about}
    table = table.replace_schema_metadata({**metadata, _CHECKSUM: _checksum(metadata)})
    check_saved(path, kind=kind, force=force)
    with replacing(path, begins=b"PAR1", force=force) as new:
        pq.write_table(table, new, compression="zstd", write_page_checksum=True)


def check_saved(
    path: StrPath, *, kind: str, force: bool = False, inputs: Iterable[StrPath] = ()
) -> None:
    """Checks that `save_table` can write a file: there is no file, or a file of this kind.

    Raises:
        OSError: If it cannot; see :func:`~pyterrier_asl.io.atomic.check_replaceable`.
    """
    check_replaceable(path, inputs=inputs, begins=b"PAR1", force=force)
    if force or not Path(path).is_file() or not Path(path).stat().st_size:
        return
    try:
        metadata = pq.read_schema(path).metadata or {}
    except (pa.ArrowException, OSError):
        raise kind_error(path) from None
    if metadata.get(_KIND, b"").decode(errors="replace") != kind:
        raise kind_error(path)


def load_table(path: StrPath, *, kind: str, version: int) -> pa.Table:
    """Loads a table that `save_table` saved.

    Args:
        path: The file.
        kind: The kind that it must have.
        version: The version of the format that it must have.

    Returns:
        The table, with its metadata in ``table.schema.metadata``.

    Raises:
        ValueError: For another file, another kind or version, or a damaged file.
        OSError: If it cannot be found or read.
    """
    path = Path(path)
    with open_file(path) as file:
        try:
            table = parquet_table(path, file)
            table.validate(full=True)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is not a pyterrier_asl {kind} file: {error}") from error
    metadata = dict(table.schema.metadata or {})
    if metadata.pop(_CHECKSUM, None) not in (None, _checksum(metadata)):
        raise ValueError(f"{path} is damaged: its metadata do not have their checksum")
    kind_of_file, written = (
        metadata.pop(key, b"").decode(errors="replace") for key in (_KIND, _VERSION)
    )
    if kind_of_file != kind:
        of = f"pyterrier_asl {kind_of_file}" if kind_of_file else "Parquet"
        raise ValueError(f"{path} is a {of} file, not a {kind} file")
    if written != str(version):
        raise ValueError(
            f"{path} is a {kind} file of format version {written}, this pyterrier_asl reads "
            f"version {version}; save it again, or use the release that wrote it"
        )
    return table.replace_schema_metadata(metadata or None)


def _checksum(metadata: Mapping[bytes, bytes]) -> bytes:
    return str(zlib.crc32(repr(sorted(metadata.items())).encode())).encode()


@contextmanager
def naming_damage(path: StrPath) -> Iterator[None]:
    """Names the file in errors about columns: page checksums do not cover the names and types.

    Raises:
        ValueError: For columns that are missing or hold something else.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
