"""Any frame, printed: as a table for the terminal, in LaTeX or Markdown, or machine-readable."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

#: What frames can be printed as.
FORMS = ("table", "tsv", "jsonl", "latex", "markdown")

#: What one row is called that stands for all queries, as in ir_measures and trec_eval.
ALL = "all"

#: All digits that a number has; ir_measures' way of asking for them.
EVERY_PLACE = -1

#: Columns of p-values, which many places or few must not turn into 0.
_P = ("p", "p_corrected", "p_a", "p_b")
#: How many of a list a human-readable cell names; machine-readable ones have all.
_NAMED = 4
#: Columns of numbers that someone chose, which stand as they are.
_CHOSEN = ("alpha", "fraction", "grade", "level")


@dataclass(frozen=True)
class Style:
    """How a frame is printed.

    Attributes:
        places: decimal places; -1: all digits, as JSON lines always have.
        titles: what to call columns in human-readable tables; others have the names as they are.
        group_by: a column whose equal neighbours are shown once, with a line between groups.
        higher_is_better: the columns of measures, and which way each is better, None where neither.
            The best values are bold where several runs are compared, and arrows show directions.
    """

    places: int = 4
    titles: Mapping[str, str] = field(default_factory=dict)
    group_by: str = ""
    higher_is_better: Mapping[str, bool | None] = field(default_factory=dict)


def write(frame: pd.DataFrame, form: str, *, header: bool = True, **style: Any) -> None:
    """Prints a frame; its index is not.

    Args:
        frame: what to print.
        form: one of :data:`FORMS`.
        header: whether tab-separated lines begin with the names of the columns.
        style: what :class:`Style` has.
    """
    if form == "table":
        show(frame, **style)
    elif form == "tsv":
        _print(tsv_lines(frame, header=header, places=style.get("places", 4)))
    elif form == "jsonl":
        _print(jsonl_lines(frame))
    else:
        print({"latex": latex, "markdown": markdown}[form](frame, **style), end="")


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        print(line)


def arrow(higher_is_better: bool | None, ascii_only: bool = False) -> str:
    """Which way is better, as an arrow; nothing where neither is.

    >>> arrow(True), arrow(False, ascii_only=True), arrow(None)
    ('↑', 'v', '')
    """
    up, down = "^v" if ascii_only else "↑↓"
    return {True: up, False: down, None: ""}[higher_is_better]


def formatted(value: float, places: int) -> str:
    """A value with so many decimal places; -1: all its digits. No zero has a sign.

    >>> formatted(1 / 3, 4), formatted(1 / 3, -1), formatted(-1e-9, 4)
    ('0.3333', '0.3333333333333333', '0.0000')
    """
    if places == EVERY_PLACE:
        return str(float(value) + 0.0)
    return f"{round(value, places) + 0.0:.{places}f}"  # + 0.0 takes the sign off a zero


def counted(number: int, one: str, several: str = "") -> str:
    """How many there are, in words.

    >>> counted(1, "run"), counted(1200, "run"), counted(2, "query", "queries")
    ('1 run', '1,200 runs', '2 queries')
    """
    return f"{number:,} {one if number == 1 else several or one + 's'}"


# Machine-readable


def a_row_per_value(scores: pd.DataFrame, *, with_run: bool = True) -> pd.DataFrame:
    """Values of measures as ir_measures' own command prints them, a row for each.

    Args:
        scores: columns ``run``, ``qid`` where there is a row per query, and one for each measure.
        with_run: whether rows begin with the run.

    Returns:
        Columns ``run``, ``query_id`` where there are queries, ``measure`` and ``value``.

    >>> import pandas as pd
    >>> scores = pd.DataFrame({"run": ["bm25"], "AP": [0.25], "ASL@1000": [186.4]})
    >>> list(tsv_lines(a_row_per_value(scores), header=False, places=2))
    ['bm25\\tAP\\t0.25', 'bm25\\tASL@1000\\t186.40']
    """
    import numpy as np
    import pandas as pd

    keys = [name for name in ("run", "qid") if name in scores]
    measures = [name for name in scores if name not in keys]
    columns: dict[str, Any] = {
        "query_id" if name == "qid" else name: np.repeat(scores[name].to_numpy(), len(measures))
        for name in keys
        if with_run or name != "run"
    }
    columns["measure"] = np.tile(np.array(measures, dtype=object), len(scores))
    columns["value"] = scores[measures].to_numpy(float).ravel()
    return pd.DataFrame(columns)


def tsv_lines(frame: pd.DataFrame, *, header: bool = True, places: int = 4) -> Iterator[str]:
    r"""The names of the columns, then a line per row, between tabs; nothing where a value is none.

    In text, tabs, line feeds, carriage returns and backslashes are written as ``\t``, ``\n``,
    ``\r`` and a double backslash.

    >>> import pandas as pd
    >>> list(tsv_lines(pd.DataFrame({"run": ["a"], "AP": [1 / 3], "p": [2e-7]}), places=2))
    ['run\tAP\tp', 'a\t0.33\t2e-07']
    """
    columns = [
        [_machine_readable(value, column, places) for value in frame[column].tolist()]
        for column in frame.columns
    ]
    if header:
        yield "\t".join(_in_a_cell(str(name)) for name in frame.columns)
    yield from map("\t".join, zip(*columns))


_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


def _in_a_cell(text: str) -> str:
    """Text that ends neither column nor line; a backslash is doubled."""
    return text.translate(_ESCAPES) if any(c in text for c in "\\\t\n\r") else text


def _machine_readable(value: Any, column: Any, places: int) -> str:
    plain = _plain(value)
    if column in _P and isinstance(plain, float) and places != EVERY_PLACE:
        return f"{plain:.{max(places, 1)}g}"
    if isinstance(plain, bool):
        return str(plain).lower()
    if isinstance(plain, list):
        return _in_a_cell(" ".join(map(str, plain)))
    return "" if plain is None else _in_a_cell(_number_or_text(plain, column, places))


def jsonl_lines(frame: pd.DataFrame) -> Iterator[str]:
    """A JSON object per row, all digits; null where a value is none.

    >>> import pandas as pd
    >>> for line in jsonl_lines(pd.DataFrame({"run": ["a", "b"], "AP": [0.25, float("nan")]})):
    ...     print(line)
    {"run": "a", "AP": 0.25}
    {"run": "b", "AP": null}
    """
    columns = {str(name): [_plain(value) for value in frame[name].tolist()] for name in frame}
    for row in zip(*columns.values()):
        yield json.dumps(dict(zip(columns, row)), ensure_ascii=False)


def _plain(value: Any) -> Any:
    """A value as Python's own text, number, truth or list; None for what is missing."""
    if isinstance(value, (str, int)):  # bool is an int
        return value
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(one) for one in value]
    if hasattr(value, "item"):
        value = value.item()
    try:
        missing = value is None or bool(value != value)
    except TypeError:  # of pandas' NA nobody can say what it equals
        missing = True
    if missing:
        return None
    return value if isinstance(value, (bool, int, float)) else str(value)


# Human-readable


def show(frame: pd.DataFrame, **style: Any) -> None:
    """Prints a table; see :func:`write`.

    Where a table of measures is wider than the terminal, rows and columns change places if that
    helps; none is cut off. Written to a file or a pipe it is as wide as it is.
    """
    from rich.console import Console

    console = Console(file=sys.stdout)
    ascii_only = bool(console.options.ascii_only)
    table = rich_table(frame, Style(**style), ascii_only=ascii_only)
    wide = _width(console, table)
    if console.is_terminal and wide > console.width and _can_be_turned(frame, Style(**style)):
        turned = rich_table(frame, Style(**style), ascii_only=ascii_only, turned=True)
        if _width(console, turned) <= console.width:
            table, wide = turned, console.width
    console.width = max(wide, console.width)
    console.print(table)


def _can_be_turned(frame: pd.DataFrame, style: Style) -> bool:
    return list(frame.columns) == ["run", *style.higher_is_better]


def rich_table(
    frame: pd.DataFrame, style: Style, *, ascii_only: bool = False, turned: bool = False
) -> Table:
    """The table that `show` prints.

    Args:
        frame: what is in it.
        style: how it looks.
        ascii_only: whether there are no arrows to be had.
        turned: whether measures are rows and runs columns.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    bold = _best(frame, style)
    columns = {
        name: [
            Text(_printable(text), style="bold" if best else "")
            for text, best in zip(texts, bold[name])
        ]
        for name, texts in _cells(frame, style, missing="-").items()
    }
    arrows = {name: arrow(up, ascii_only) for name, up in style.higher_is_better.items()}
    if turned:
        table.add_column("measure", no_wrap=True)
        for text in columns.pop("run"):
            table.add_column(text, justify="right", overflow="fold", min_width=style.places + 6)
        for name, cells in columns.items():
            table.add_row(Text(f"{name} {arrows[name]}".rstrip()), *cells)
        return table
    for name in frame.columns:
        title = style.titles.get(name, str(name))
        if name in arrows:
            table.add_column(_header(title, arrows[name]), justify="right", no_wrap=True)
        else:
            side: Any = "right" if _is_number(frame[name]) else "left"
            table.add_column(Text(title, justify=side), justify=side, no_wrap=True)
    groups: list[Any] = columns.get(style.group_by, [])
    if groups:
        shown_once = zip(groups, ["", *groups])
        columns[style.group_by] = [Text("") if new == old else new for new, old in shown_once]
    for number, row in enumerate(zip(*columns.values())):
        if number and groups and groups[number] != groups[number - 1]:
            table.add_section()
        table.add_row(*row)
    return table


def _header(measure: str, arrow: str) -> Text:
    """The name over two lines, its cut-off below, so that columns are as narrow as can be."""
    from rich.text import Text

    name, at, cutoff = measure.rpartition("@")
    lines = (name, f"@{cutoff}") if at else (measure, "")
    return Text(f"{lines[0]}\n{lines[1]} {arrow}".rstrip(), justify="right")


def _width(console: Console, table: Table) -> int:
    """How wide a table would like to be."""
    from rich.measure import Measurement

    options = console.options.update(max_width=100_000)
    return Measurement.get(console, options, table).maximum


def _printable(text: str) -> str:
    r"""Text without what would move a terminal's cursor or colour what follows.

    >>> print(_printable("bm25" + chr(27) + "[31m"))
    bm25\x1b[31m
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def latex(frame: pd.DataFrame, **style: Any) -> str:
    """A ``tabular`` with booktabs' rules, the best value of each measure bold.

    It needs ``\\usepackage{booktabs}``.
    """
    import pandas as pd

    looks = Style(**style)
    cells = pd.DataFrame(_cells(frame, looks, missing="--"), dtype=object)
    bold = pd.DataFrame(_best(frame, looks)).replace({True: "textbf:--rwrap;", False: ""})
    titles = dict(looks.titles)
    styler = cells.rename(columns=titles).style.hide(axis="index")
    styler.format(escape="latex")
    styler.format_index(escape="latex", axis="columns")
    styler.apply(lambda _: bold.rename(columns=titles), axis=None)
    layout = "".join("r" if _is_number(frame[name]) else "l" for name in frame.columns)
    # As text these two are other characters in LaTeX's default encoding.
    text = str(styler.to_latex(hrules=True, column_format=layout))
    return text.replace("<", "$<$").replace(">", "$>$")


def markdown(frame: pd.DataFrame, **style: Any) -> str:
    """A table as GitHub shows it, the best value of each measure bold.

    >>> import pandas as pd
    >>> print(markdown(pd.DataFrame({"run": ["a|b"], "AP": [0.25]})), end="")
    | run | AP |
    | :-- | --: |
    | a\\|b | 0.2500 |
    """
    looks = Style(**style)
    bold = _best(frame, looks)
    columns = [
        [f"**{text}**" if best else text for text, best in zip(_escaped(texts), bold[name])]
        for name, texts in _cells(frame, looks, missing="-").items()
    ]
    titles = [looks.titles.get(name, str(name)) for name in frame.columns]
    sides = ["--:" if _is_number(frame[name]) else ":--" for name in frame.columns]
    rows = [_escaped(titles), sides, *zip(*columns)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _escaped(texts: list[str]) -> list[str]:
    return [_printable(text).replace("|", "\\|") for text in texts]


def _best(frame: pd.DataFrame, style: Style) -> dict[str, list[bool]]:
    """Which cells hold the best value of a measure: none where there is a single run or queries."""
    best = {}
    for name in frame.columns:
        up = style.higher_is_better.get(name)
        if up is None or "qid" in frame or len(frame) < 2:
            best[name] = [False] * len(frame)
        else:
            values = frame[name].to_numpy(float)
            best[name] = (values == (values.max() if up else values.min())).tolist()
    return best


def _cells(frame: pd.DataFrame, style: Style, missing: str) -> dict[str, list[str]]:
    """What stands in each cell, as text, column by column."""
    return {
        name: [
            _human_readable(value, name, style.places, missing) for value in frame[name].tolist()
        ]
        for name in frame.columns
    }


def _human_readable(value: Any, column: Any, places: int, missing: str) -> str:
    plain = _plain(value)
    if plain is None:
        return missing
    if isinstance(plain, bool):
        return "yes" if plain else "no"
    if isinstance(plain, list):
        more = f" and {len(plain) - _NAMED} more" if len(plain) > _NAMED else ""
        return (", ".join(map(str, plain[:_NAMED])) or missing) + more
    if column in _P and isinstance(plain, float) and 0 <= plain < 10**-places:
        return f"<{10**-places:.{max(places, 0)}f}" if places > 0 else f"{plain:.2g}"
    return _number_or_text(plain, column, places)


def _number_or_text(value: Any, column: Any, places: int) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:g}" if column in _CHOSEN else formatted(value, places)


def _is_number(column: pd.Series[Any]) -> bool:
    """Whether a column is set to the right: numbers, also among objects."""
    known = [value for value in map(_plain, column.tolist()) if value is not None]
    return bool(known) and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in known
    )
