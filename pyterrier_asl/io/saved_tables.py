"""Saves and loads tables as Parquet files with a kind, a version and a digest."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..common.lazy import pq
from .atomic import check_replaceable, kind_error, replacing
from .digests import digest_of
from .files import StrPath, check_file

_KIND = b"pyterrier_asl.kind"
_VERSION = b"pyterrier_asl.version"
_DIGEST = b"pyterrier_asl.digest"


def save_table(
    table: pa.Table, path: StrPath, *, kind: str, version: int, force: bool = False
) -> None:
    """Saves a table as a Parquet file of a kind.

    A complete file replaces the old one. Its metadata hold its kind, its version, and a digest of
    its content, which shows damage.

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
        >>> load_table(path, kind="rareness_pool", version=1)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        ValueError: ...lengths.parquet is a pyterrier_asl doc_lengths file, not a rareness_pool file
    """
    about = {_KIND: kind, _VERSION: str(version), _DIGEST: _digest(table)}
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), **about})
    check_saved(path, kind=kind, force=force)
    with replacing(path, begins=b"PAR1", force=force) as new:
        pq.write_table(table, new, compression="zstd")


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
    check_file(path)
    try:
        table = pq.ParquetFile(path).read()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a pyterrier_asl {kind} file: {error}") from error
    metadata = dict(table.schema.metadata or {})
    kind_of_file, written, digest = (
        metadata.pop(key, b"").decode(errors="replace") for key in (_KIND, _VERSION, _DIGEST)
    )
    if not kind_of_file:
        raise ValueError(f"{path} is a Parquet file, but not a pyterrier_asl {kind} file")
    if kind_of_file != kind:
        raise ValueError(f"{path} is a pyterrier_asl {kind_of_file} file, not a {kind} file")
    if written != str(version):
        raise ValueError(
            f"{path} is a {kind} file of format version {written}, this pyterrier_asl reads "
            f"version {version}; save it again, or use the release that wrote it"
        )
    table = table.replace_schema_metadata(metadata or None)
    with suppress(UnicodeDecodeError):
        if digest == _digest(table):
            return table
    raise ValueError(f"{path} is damaged: its content has changed; save it again")


def _digest(table: pa.Table) -> str:
    """The digest of the names, types, metadata and values of a table."""
    about = sorted((table.schema.metadata or {}).items())
    content: list[Any] = [repr((about, table.num_rows)).encode()]
    for field in table.schema:
        content.append(repr((field.name, str(field.type))).encode())
        column = table[field.name].combine_chunks()
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if column.null_count:
            content.append(column.is_null().to_numpy(zero_copy_only=False))
            column = column.drop_null()
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            content.append(column.cast(pa.large_string()))
        elif pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            content.append(column.to_numpy())
        else:
            content.append(repr(column.to_pylist()).encode())
    return digest_of(content)
