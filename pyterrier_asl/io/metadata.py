"""ir_metadata at the head of runs: the authors, data and methods of a run.

Source of the schema: Breuer, Keller, Schaer (2022).

The metadata is YAML in comments between ``# ir_metadata.start`` and ``# ir_metadata.end``, with the
keys ``platform``, ``research goal``, ``implementation``, ``method``, ``actor`` and ``data``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Any

from .files import StrPath, check_file, file_format, local_path
from .trec_text import open_text

_START, _END = "ir_metadata.start", "ir_metadata.end"
#: The most bytes of the head of a run.
_HEAD = 1 << 20


def parse_metadata(comments: Iterable[str], source: str = "the run") -> dict[str, Any]:
    """Parses the metadata in the comments of a run.

    Args:
        comments: The lines that begin with ``#``.
        source: The name of the run in errors.

    Returns:
        The metadata; empty if the comments have no metadata.

    Raises:
        ValueError: If it does not end, is not a YAML mapping, or is nested too deeply.

    Example:
        >>> parse_metadata(["# ir_metadata.start", "# actor:", "#   team: A", "# ir_metadata.end"])
        {'actor': {'team': 'A'}}
    """
    lines = [line.removeprefix("#").removeprefix(" ").rstrip() for line in comments]
    if _START not in lines:
        return {}
    lines = lines[lines.index(_START) + 1 :]
    if _END not in lines:
        raise ValueError(f"the metadata of {source} does not end: add a line '# {_END}'")
    import yaml

    try:
        metadata = yaml.safe_load("\n".join(lines[: lines.index(_END)]).replace("\t", "  "))
    except RecursionError:
        raise ValueError(f"the metadata of {source} is nested too deeply") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date with month 13, for example
        raise ValueError(f"the metadata of {source} is not YAML: {error}") from None
    if metadata is not None and not isinstance(metadata, dict):
        raise ValueError(f"the metadata of {source} is not a mapping: write 'key: value' lines")
    return metadata or {}


def read_metadata(path: StrPath) -> dict[str, Any]:
    """Reads only the metadata at the head of a run.

    Args:
        path: A run file, compressed or not. Parquet and Arrow files have no metadata.

    Returns:
        The metadata; empty if the file does not begin with comments.

    Raises:
        ValueError: If the metadata does not end, or is not a YAML mapping.
        OSError: If the file cannot be read.
    """
    path = local_path(path)
    check_file(path)
    if file_format(path) is not None:
        return {}
    with open_text(path) as stream:
        lines = stream.read(_HEAD).decode("utf-8", "replace").splitlines()
    return parse_metadata(takewhile(lambda line: line.startswith("#"), lines), str(path))


def metadata_lines(metadata: Mapping[str, Any]) -> list[str]:
    """The comments that hold metadata; no lines if it is empty.

    >>> metadata_lines({"method": {"automatic": True}})
    ['# ir_metadata.start', '# method:', '#   automatic: true', '# ir_metadata.end']
    """
    if not metadata:
        return []
    import yaml

    text = yaml.safe_dump(dict(metadata), sort_keys=False, allow_unicode=True)
    return [f"# {line}" for line in [_START, *text.splitlines(), _END]]
