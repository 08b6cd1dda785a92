"""Reads text files with columns between white space into Arrow tables, as trec_eval does.

White space is C's ``isspace`` (blank, tab, carriage return, vertical tab, form feed). A line ends
with a line feed; blank lines are skipped. A line of a run or of qrels that begins with ``#`` is a
comment, as in trec_eval 10. There are no quotes and no missing values.

Arrow's CSV reader reads blocks of lines on all cores. It needs exactly one delimiter between
columns, so blocks are tidied first. `_parse_slowly` reads a block that Arrow refuses line by line:
it reports the wrong line, or accepts text that only Arrow cannot read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pcsv

from ..common.lazy import pc
from ..common.notices import excerpt
from ..common.threads import cores, map_ahead
from .declared import grade_of, grades_hint
from .values import NUMBER

# Blocks of 2 MB are fastest: smaller ones need more calls, larger ones do not fit the cache.
_BLOCK = 1 << 21
# Bytes of a block that are compared at the same time.
_PIECE = 1 << 16
# Smaller files, of which there are often many, are read by one thread each.
_SMALL = 1 << 22

# A longer line is not part of a run or of qrels; it is not read to its end.
_LONGEST_LINE = 1 << 24

#: The column with the name of the run, which is the same in all lines; the column of ranks.
_NAME, _RANK = "name", "rank"
#: A byte order mark of UTF-8.
MARK = b"\xef\xbb\xbf"
_MARKS = re.compile(rb"^(?:%s)+" % MARK, re.MULTILINE)
_WHOLE = re.compile(rb"-?[0-9]{1,18}")
_COMMENT = re.compile(rb"^#[^\n]*\n", re.MULTILINE)

#: The table of a block, and the different values of the last column of a run.
Parsed: TypeAlias = tuple[pa.Table, Collection[bytes]]


@dataclass(frozen=True)
class Layout:
    """The columns of a kind of file.

    Attributes:
        kind: The name of such files in errors.
        columns: The names of the columns, in order.
        number: The column of numbers; all others are text.
        infinite: Whether numbers can be infinite.
    """

    kind: str
    columns: tuple[str, ...]
    number: str
    infinite: bool

    def __str__(self) -> str:
        return f"{len(self.columns)} columns ({' '.join(self.columns)})"

    @property
    def types(self) -> dict[str, pa.DataType]:
        """The type of each column in Arrow."""
        texts = dict.fromkeys(self.columns, pa.large_string())
        return texts | {self.number: pa.float64(), _RANK: pa.int64()}


RUN = Layout("run", ("qid", "Q0", "docno", "rank", "score", "name"), "score", True)
QRELS = Layout("qrels", ("qid", "iteration", "docno", "label"), "label", False)
#: A run of MS MARCO, ``qid pid rank``, and of ColBERT.
RANKED = Layout("run", ("qid", "docno", "rank-or-score"), "rank-or-score", False)
SCORED = Layout("run", ("qid", "docno", "rank", "score"), "score", True)


def read_columns(
    path: Path,
    stream: Any,
    layout: Layout,
    include: Sequence[str],
    *,
    head: bytes = b"",
    grades: Mapping[str, float] | None = None,
) -> pa.Table:
    """Reads some columns of a text file.

    Args:
        path: The file, for errors and for its size.
        stream: The text of the file.
        layout: Its columns.
        include: The columns to keep, ``layout.number`` among them.
        head: The beginning of the text, if it has been read from the stream.
        grades: The grades of labels that are words.

    Returns:
        The lines in their order; ``layout.number`` as float64; ranks as int64, null where they are
        not whole numbers; other columns as text.

    Raises:
        ValueError: If the file is empty, binary, not UTF-8, or a line has another layout (the
            message has the file, the line's number and its text), or a run file holds several runs.
        OSError: If the file cannot be decompressed.
    """

    def parse(block: bytearray) -> Parsed | None:
        return None if grades else _parse_quickly(block, layout, include)

    blocks, lines = _blocks(path, stream, head), 0
    parsed = (
        ((block, parse(block)) for block in blocks)
        if path.stat().st_size < _SMALL
        else map_ahead(parse, blocks, ahead=cores())
    )
    chunks: dict[str, list[pa.Array]] = {name: [] for name in include}
    names: dict[bytes, None] = {}
    for block, quick in parsed:
        table, tags = quick or _parse_slowly(path, lines, block, layout, include, grades or {})
        for name, arrays in chunks.items():
            arrays += table[name].chunks
        lines += int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))
        names |= dict.fromkeys(tags)
        if len(names) > 1 and layout is RUN:
            first, second = map(excerpt, [*names][:2])
            raise ValueError(
                f"{path} holds several runs (its last column has {first} and {second}): save "
                "each in a separate file, or give all lines one name"
            )
    if not sum(map(len, chunks[layout.number])):
        raise ValueError(f"{path} is empty: it has no line but blank lines and comments")
    # Column by column, so that blocks are freed before all columns are joined.
    return pa.table({name: pa.concat_arrays(chunks.pop(name)) for name in include})


def _parse_quickly(block: bytearray, layout: Layout, include: Sequence[str]) -> Parsed | None:
    """Parses a block with Arrow; None if it refuses it, without rows, for forbidden numbers."""
    types, columns = layout.types, [*include]
    if layout is RUN and _NAME not in include:
        columns, types = [*include, _NAME], types | {_NAME: pa.binary()}  # perhaps not UTF-8
    if b"#" in block:
        if any(_is_line(comment, layout) for comment in _COMMENT.findall(block)):
            return None
        block = bytearray(_COMMENT.sub(b"", block))
    text, delimiter = _tidy(block) if block else (block, " ")
    if text.startswith(MARK):
        text = bytearray(b"\n") + text  # Arrow would remove the mark at the beginning.
    table = _csv(text, delimiter, layout, columns, types)
    if table is None and _RANK in include:
        table = _csv(text, delimiter, layout, [c for c in columns if c != _RANK], types)
        if table is not None:
            table = table.append_column(_RANK, pa.nulls(len(table), pa.int64()))
    if table is None:
        return None
    numbers = table[layout.number]
    wrong = pc.is_nan(numbers) if layout.infinite else pc.invert(pc.is_finite(numbers))
    if pc.any(wrong).as_py():
        return None
    return table.select(include), _tags(table[_NAME]) if layout is RUN else []


def _csv(
    text: bytearray,
    delimiter: str,
    layout: Layout,
    include: Sequence[str],
    types: Mapping[str, pa.DataType],
) -> pa.Table | None:
    """Some columns of tidy text; None if Arrow refuses it."""
    try:
        return pcsv.read_csv(
            pa.py_buffer(text),
            # Arrow's threads sometimes lose a block or never end with several files at a time.
            read_options=pcsv.ReadOptions(
                column_names=layout.columns, block_size=len(text) + 1, use_threads=False
            ),
            parse_options=pcsv.ParseOptions(delimiter=delimiter, quote_char=False),
            convert_options=pcsv.ConvertOptions(
                include_columns=include, column_types=types, null_values=[]
            ),
            # Arrow's pool would return pages to the system, which clears them for each block.
            memory_pool=pa.system_memory_pool(),
        )
    except pa.ArrowInvalid:
        return None


def _tags(names: pa.ChunkedArray) -> Collection[bytes]:
    """The different values of a column: mostly one."""
    if len(names) and pc.all(pc.equal(names, names[0])).as_py():
        names = names[:1]
    return [bytes(name.as_buffer()) for name in pc.unique(names)]


def _parse_slowly(
    path: Path,
    lines: int,
    block: bytearray,
    layout: Layout,
    include: Sequence[str],
    grades: Mapping[str, float],
) -> Parsed:
    """Parses a block line by line, after ``lines`` lines of the file."""
    values: dict[str, list[str | float | None]] = {name: [] for name in include}
    tags: dict[bytes, None] = {}
    for line, text in enumerate(bytes(block[:-1]).split(b"\n"), lines + 1):
        fields, is_comment = _fields(text, layout), text.startswith(b"#")
        if not fields or (is_comment and not _is_line(text, layout)):
            continue
        try:
            if is_comment:
                raise ValueError(
                    f"a line that begins with '#' is a comment, but this one has {layout}: "
                    "ids at the beginning of a line must not begin with '#'"
                )
            _check_columns(text, fields, layout, first=not (lines or tags))
            row = dict(zip(layout.columns, fields))
            for name in include:
                values[name].append(_value(row[name], name, layout, grades))
        except ValueError as error:
            raise ValueError(
                f"{path}, line {line}: {error}: {excerpt(text)}"
                f"{_labels_hint(block, fields, layout, grades)}"
            ) from None
        tags[fields[-1]] = None
    return pa.table({name: pa.array(values[name], layout.types[name]) for name in include}), tags


def _fields(text: bytes, layout: Layout) -> list[bytes]:
    """The columns of a line; the tag of a run can have blanks, unless ids could have them."""
    fields = text.split()
    if layout is RUN and len(fields) > len(layout.columns):
        has_score, is_shifted = (
            whole_number(fields[at - 1]) is not None and is_number(fields[at])
            for at in (4, len(fields) - 2)
        )
        return text.split(None, 5) if has_score and not is_shifted else fields
    return fields


def _labels_hint(
    block: bytearray, fields: Sequence[bytes], layout: Layout, grades: Mapping[str, float]
) -> str:
    """The option of grades, where the label of a line is a word."""
    width = len(layout.columns)
    if layout is not QRELS or len(fields) != width or is_number(fields[-1]):
        return ""
    rows = map(bytes.split, bytes(block).split(b"\n"))
    return grades_hint(
        (row[-1].decode("utf-8", "replace") for row in rows if len(row) == width), grades
    )


def _check_columns(text: bytes, fields: Sequence[bytes], layout: Layout, first: bool) -> None:
    if len(fields) == len(layout.columns):
        return
    similar = [other.kind for other in (RUN, QRELS) if len(fields) == len(other.columns)]
    hint = f" (this looks like a {similar[0]} file)" if first and similar else ""
    if text.count(b"\t") == len(layout.columns) - 1:
        names = "\\t".join(layout.columns)
        hint = (
            " (columns between tabs whose ids have blanks: blanks separate columns here, so write "
            f"the names of the columns into the first line, {names})"
        )
    if first and len(fields) in (1, 3):
        hint = (
            f" (a table names its columns in the first line, such as qid docno {layout.number}; "
            "other names need --columns, in Python columns=)"
        )
    raise ValueError(f"expected {layout}, found {len(fields)}{hint}")


def _is_line(comment: bytes, layout: Layout) -> bool:
    """Whether a comment could be a line of a query whose id begins with ``#``."""
    fields = comment.split()
    return fields[0] != b"#" and fits(fields, layout)


def fits(fields: Sequence[bytes], layout: Layout) -> bool:
    """Whether the fields of a line could be of this layout."""
    at = layout.columns.index(layout.number)
    if len(fields) != len(layout.columns) or not is_number(fields[at]):
        return False
    return layout is not SCORED or (
        whole_number(fields[2]) is not None and fields[1] not in (b"0", b"Q0")  # as in qrels
    )


def is_number(field: bytes) -> bool:
    """Whether a field is a number."""
    return NUMBER.fullmatch(field.strip().decode("utf-8", "replace")) is not None


def whole_number(field: bytes) -> int | None:
    """A whole number of at most 18 digits, None for other fields."""
    return int(field) if _WHOLE.fullmatch(field) else None


def _value(
    field: bytes, name: str, layout: Layout, grades: Mapping[str, float]
) -> str | float | None:
    """The value of a field of a column."""
    if name == _RANK:
        return whole_number(field)
    if grades and name == layout.number:
        return grade_of(field.decode("utf-8", "replace"), grades)
    if name != layout.number:
        try:
            return field.decode()
        except UnicodeDecodeError:
            raise ValueError(
                f"{excerpt(field)} is not UTF-8 (convert the file, for instance with "
                "`iconv -f latin1 -t utf-8`)"
            ) from None
    value = float(field) if is_number(field) else math.nan
    if math.isnan(value) or (math.isinf(value) and not layout.infinite):
        raise ValueError(f"the {name} {excerpt(field)} is not a number")
    return value


def _blocks(path: Path, stream: Any, rest: bytes) -> Iterator[bytearray]:
    """The text after ``rest`` in blocks of whole lines, each with a line feed at its end."""
    size = min(_BLOCK, 64 * path.stat().st_size)  # a small file needs less memory
    while True:
        # Reads into the block: copies of megabytes take as long as reading.
        block = bytearray(max(size, 2 * len(rest)))
        block[: len(rest)] = rest
        read = stream.readinto(memoryview(block)[len(rest) :])
        del block[len(rest) + read :]
        if block.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise ValueError(
                f"{path} is UTF-16; convert it, for instance with `iconv -f utf-16 -t utf-8`"
            )
        if b"\xef" in block:  # Concatenated files have byte order marks inside.
            block = bytearray(_MARKS.sub(b"", block))
        if b"\0" in block:
            raise ValueError(
                f"{path} is a binary file (it holds NUL bytes): give text, or text compressed with "
                "gzip, bzip2, zstd or LZ4"
            )
        if not read:
            break
        end = block.rfind(b"\n") + 1
        rest = bytes(memoryview(block)[end:])
        if len(rest) > _LONGEST_LINE:
            raise ValueError(
                f"{path} has a line of more than {_LONGEST_LINE >> 20} MiB, beginning with "
                f"{excerpt(rest[:100])}: it is not a text file of lines"
            )
        if end:
            del block[end:]
            yield block
    if block:
        yield block if block.endswith(b"\n") else block + b"\n"


def _tidy(block: bytearray) -> tuple[bytearray, str]:
    """The lines with exactly one delimiter between columns, and the delimiter: blank or tab."""
    blanks = [blank for blank in (b" ", b"\t", b"\r", b"\v", b"\f") if blank in block]
    delimiter = b"\t" if blanks == [b"\t"] else b" "
    for other in {*blanks} - {delimiter}:
        block = block.replace(other, delimiter)
    text = np.frombuffer(block, np.uint8)
    if _has_single_delimiters(text):
        return block, delimiter.decode()
    blank = text == ord(delimiter)
    is_extra = blank[:-1] & (blank[1:] | (text[1:] == ord("\n")))
    block = bytearray(text[:-1][~is_extra])  # the last byte is a line feed
    return block.replace(b"\n" + delimiter, b"\n").lstrip(delimiter + b"\n"), delimiter.decode()


def _has_single_delimiters(text: npt.NDArray[np.uint8]) -> bool:
    """Whether no blank or line feed is next to another or at the beginning, as in most files.

    Other control characters count as blanks here; they only make `_tidy` slower. Pieces of the text
    stay in the processor's cache: memory for the whole comparison would take longer than comparing.
    """
    for begin in range(0, len(text), _PIECE):
        low = text[max(begin - 1, 0) : begin + _PIECE] <= ord(" ")
        if np.any(low[1:] & low[:-1]):
            return False
    return bool(text[0] > ord(" "))
