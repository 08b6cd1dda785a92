"""Text files of columns between white space, as trec_eval reads them, into Arrow tables.

White space is what C's ``isspace`` says (blank, tab, carriage return, vertical tab, form feed), a
line ends at a line feed, blank lines count for nothing. Everything else is part of a value: there
are no quotes, no comments and no missing values.

Arrow's CSV reader does the work, a block of lines at a time, on all cores. It wants exactly one
delimiter between columns, so each block is tidied first. What Arrow refuses, `_read_slowly` reads
again line by line: it finds the line to complain about, or accepts what only Arrow could not read.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

# Blocks of 2 MB are fastest: smaller ones cost calls, larger ones fall out of the cache.
_BLOCK = 1 << 21
# Blocks read but not yet taken: enough to keep the cores busy.
_AHEAD = 16

_MARK = b"\xef\xbb\xbf"

_COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
}


@dataclass(frozen=True)
class Layout:
    """The columns of a kind of file.

    Attributes:
        kind: What such a file is called.
        columns: The columns' names, in order.
        number: The column that holds numbers; all others are strings.
        infinite: Whether its numbers may be infinite.
    """

    kind: str
    columns: tuple[str, ...]
    number: str
    infinite: bool

    def __str__(self) -> str:
        return f"{len(self.columns)} columns ({' '.join(self.columns)})"


RUN = Layout("run", ("qid", "Q0", "docno", "rank", "score", "name"), "score", infinite=True)
QRELS = Layout("qrels", ("qid", "iter", "docno", "grade"), "grade", infinite=False)


def read_columns(path: Path, layout: Layout, include: Sequence[str]) -> pa.Table:
    """Reads some columns of a text file, plain or compressed with gzip, bzip2, zstd or LZ4.

    Args:
        path: The file. Its first bytes, not its name, say how it is compressed.
        layout: What its columns are.
        include: The columns to keep, ``layout.number`` among them.

    Returns:
        The lines in their order; ``layout.number`` as float64, other columns as string.

    Raises:
        ValueError: If the file is empty, binary, not UTF-8, or a line does not fit the layout; the
            message has the file, the line's number and its text.
        OSError: If the file cannot be read or decompressed.
    """
    try:
        table = pa.concat_tables(_read_quickly(path, layout, include))
    except pa.ArrowInvalid:
        return _read_slowly(path, layout, include)
    if not table.num_rows or not _acceptable(table[layout.number], layout):
        return _read_slowly(path, layout, include)
    return table


def _acceptable(numbers: pa.ChunkedArray, layout: Layout) -> bool:
    if layout.infinite:
        return not pc.any(pc.is_nan(numbers)).as_py()
    return bool(pc.all(pc.is_finite(numbers)).as_py())


def _read_quickly(path: Path, layout: Layout, include: Sequence[str]) -> list[pa.Table]:
    """The tables of the file's blocks, each read by Arrow, several at a time."""
    parse = partial(_parse, layout=layout, include=include)
    with _open(path) as stream, ThreadPoolExecutor(os.cpu_count()) as threads:
        ahead = deque[Future[pa.Table]]()
        tables = list[pa.Table]()
        for block in _blocks(path, stream):
            ahead.append(threads.submit(parse, block))
            if len(ahead) > _AHEAD:
                tables.append(ahead.popleft().result())
        return tables + [each.result() for each in ahead]


def _parse(block: bytes, layout: Layout, include: Sequence[str]) -> pa.Table:
    types = {name: pa.string() for name in layout.columns} | {layout.number: pa.float64()}
    text = _tidy(block)
    if not text:
        return pa.table({name: pa.array([], types[name]) for name in include})
    if text.startswith(_MARK):
        text = b"\n" + text  # In a block that begins with it, Arrow would take it off an id.
    return pcsv.read_csv(
        pa.py_buffer(text),
        # Threads of Arrow's own, several files at a time, now and then lose a block (or never end).
        read_options=pcsv.ReadOptions(
            column_names=layout.columns, block_size=len(text) + 1, use_threads=False
        ),
        parse_options=pcsv.ParseOptions(delimiter=" ", quote_char=False),
        convert_options=pcsv.ConvertOptions(
            include_columns=include, column_types=types, null_values=[]
        ),
    )


def _read_slowly(path: Path, layout: Layout, include: Sequence[str]) -> pa.Table:
    values: dict[str, list[str | float]] = {name: [] for name in include}
    wanted = [(layout.columns.index(name), values[name].append) for name in include]
    number = layout.columns.index(layout.number)
    seen = False
    with _open(path) as stream:
        lines = (line for block in _blocks(path, stream) for line in block[:-1].split(b"\n"))
        for count, line in enumerate(lines, start=1):
            fields = line.split()
            if not fields:
                continue
            try:
                _check(fields, layout, first=not seen)
                for at, append in wanted:
                    append(_number(fields[at], layout) if at == number else _text(fields[at]))
            except ValueError as error:
                raise ValueError(f"{path}, line {count}: {error}: {_shown(line)}") from None
            seen = True
    if not seen:
        raise ValueError(f"{path} is empty: it has no line that is not blank")
    return pa.table(
        {
            name: pa.array(values[name], pa.float64() if name == layout.number else pa.string())
            for name in include
        }
    )


def _check(fields: Sequence[bytes], layout: Layout, first: bool) -> None:
    if len(fields) == len(layout.columns):
        return
    hint = ""
    for other in (RUN, QRELS):
        if first and len(fields) == len(other.columns):
            hint = f" (this looks like a {other.kind} file)"
    raise ValueError(f"expected {layout}, found {len(fields)}{hint}")


def _number(field: bytes, layout: Layout) -> float:
    # Python also takes '1_000', which no other reader does.
    try:
        value = math.nan if b"_" in field else float(field)
    except ValueError:
        value = math.nan
    if math.isnan(value) or (math.isinf(value) and not layout.infinite):
        raise ValueError(f"the {layout.number} {_shown(field)} is not a number")
    return value


def _text(field: bytes) -> str:
    try:
        return field.decode()
    except UnicodeDecodeError:
        raise ValueError(
            f"{_shown(field)} is not UTF-8 (convert the file, for instance with "
            "`iconv -f latin1 -t utf-8`)"
        ) from None


def _shown(text: bytes, longest: int = 100) -> str:
    shown = text.decode(errors="backslashreplace")
    return repr(shown if len(shown) <= longest else shown[:longest] + "...")


def _open(path: Path) -> pa.NativeFile:
    stream = pa.OSFile(str(path))
    head = stream.read(4)
    stream.seek(0)
    for magic, codec in _COMPRESSIONS.items():
        if head.startswith(magic):
            return pa.CompressedInputStream(stream, codec)
    return stream


def _blocks(path: Path, stream: pa.NativeFile) -> Iterator[bytes]:
    """The stream's text in blocks of whole lines, each with a line feed at its end."""
    rest = b""
    first = True
    while True:
        try:
            read = stream.read(max(_BLOCK - len(rest), _BLOCK // 2))
        except OSError as error:
            raise OSError(
                f"{path} cannot be read to its end, it may be damaged or cut short: {error}"
            ) from error
        if first:
            read = _without_mark(path, read)
            first = False
        if b"\0" in read:
            raise ValueError(f"{path} is a binary file: it holds NUL bytes, which text does not")
        if not read:
            break
        end = read.rfind(b"\n") + 1
        if end:
            yield rest + read[:end]
            rest = read[end:]
        else:
            rest += read
    if rest:
        yield rest + b"\n"


def _without_mark(path: Path, head: bytes) -> bytes:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(
            f"{path} is UTF-16; convert it, for instance with `iconv -f utf-16 -t utf-8`"
        )
    return head.removeprefix(_MARK)


def _tidy(block: bytes) -> bytes:
    """The same lines, with exactly one blank between two columns."""
    for other in (b"\t", b"\r", b"\v", b"\f"):
        block = block.replace(other, b" ")
    text = np.frombuffer(block, np.uint8)
    # Most files have single delimiters throughout, and this sees it at little cost. (Another
    # control character only takes the longer way.)
    low = text <= ord(" ")
    if not low[0] and not np.any(low[1:] & low[:-1]):
        return block
    blank = text == ord(" ")
    needless = blank[:-1] & (blank[1:] | (text[1:] == ord("\n")))
    block = text[np.append(~needless, True)].tobytes()
    return block.replace(b"\n ", b"\n").lstrip(b" \n")
