"""Prefetching: a large file is read on other threads while the qrels are prepared."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .threads import iterate_ahead

if TYPE_CHECKING:
    import pyarrow as pa

#: The number of tables, of some 2 MB of text, that are read before they are needed.
_TABLES = 8
#: The least size in bytes of a file that is prefetched.
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

    __str__ = __fspath__

    def take(self) -> Iterator[pa.Table] | None:
        """The tables in order; None if they have been taken."""
        tables, self._tables = self._tables, None
        return tables


@contextmanager
def prefetch(
    sources: Mapping[str, Any], read: Callable[[str | os.PathLike[str]], Iterator[pa.Table]]
) -> Iterator[Mapping[str, Any]]:
    """Reads the first of several sources, if it is a large file.

    Args:
        sources: files and other sources by name.
        read: reads a file table by table.

    Returns:
        A context with the same sources. Reading stops when it is left.
    """
    name, first = next(iter(sources.items()))
    is_file = isinstance(first, (str, os.PathLike)) and os.path.isfile(first)
    if not is_file or os.path.getsize(first) < LARGE:
        yield sources
        return
    with iterate_ahead(read(first), _TABLES) as tables:
        yield {**sources, name: PrefetchedFile(first, tables)}
