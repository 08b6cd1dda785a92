"""Prefetching: files are read, on other threads, while there is something else to do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .threads import iterated_ahead

if TYPE_CHECKING:
    import pyarrow as pa

#: Tables of a file that are read before they are asked for; some 2 MB of text each.
_TABLES = 8
#: A file of as many bytes is worth reading while the judgements are got ready.
LARGE = 1 << 23


class PrefetchedFile(os.PathLike[str]):
    """A path whose content is being read: its tables can be taken once.

    Args:
        path: the file.
        tables: the tables of its content.
    """

    def __init__(self, path: str | os.PathLike[str], tables: Iterator[pa.Table]) -> None:
        self._path = os.fspath(path)
        self._tables: Iterator[pa.Table] | None = tables

    def __fspath__(self) -> str:
        return self._path

    def __str__(self) -> str:
        return self._path

    def take(self) -> Iterator[pa.Table] | None:
        """The tables, in order, where nobody has taken them yet."""
        tables, self._tables = self._tables, None
        return tables


@contextmanager
def begun(
    sources: Mapping[str, Any], read: Callable[[str | os.PathLike[str]], Iterator[pa.Table]]
) -> Iterator[Mapping[str, Any]]:
    """Sources, of which the first is being read where it is a large file.

    Args:
        sources: files, and whatever else there is, by name.
        read: reads a file, table by table.

    Returns:
        A context with the same sources. No more is read once it is left.
    """
    name, first = next(iter(sources.items()))
    is_file = isinstance(first, (str, os.PathLike)) and os.path.isfile(first)
    if not is_file or os.path.getsize(first) < LARGE:
        yield sources
        return
    with iterated_ahead(read(first), _TABLES) as tables:
        yield {**sources, name: PrefetchedFile(first, tables)}
