"""Scores as a table for the terminal, as LaTeX, or as lines for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

#: What one row is called that stands for all queries, as in ir_measures and trec_eval.
ALL = "all"

#: All digits that a number has; ir_measures' way of asking for them.
EVERY_PLACE = -1


@dataclass(frozen=True)
class Scores:
    """Values of measures, a row per run, or per run and query.

    Attributes:
        values: the frame: columns ``run``, ``qid`` where there is a row per query, and one for each
            measure.
        higher_is_better: of the measures of which one can say so, by column.
    """

    values: pd.DataFrame
    higher_is_better: Mapping[str, bool] = field(default_factory=dict)

    @property
    def keys(self) -> list[str]:
        """The columns that say what a row is about."""
        return [name for name in ("run", "qid") if name in self.values.columns]

    @property
    def measures(self) -> list[str]:
        """The columns of measures."""
        return [name for name in self.values.columns if name not in self.keys]

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return int(self.values["run"].nunique())

    def is_best(self, measure: str) -> list[bool]:
        """Which rows hold the best value: none where a single run or single queries are shown."""
        values = self.column(measure)
        if measure not in self.higher_is_better or self.runs < 2 or "qid" in self.keys:
            return [False] * len(values)
        best = max(values) if self.higher_is_better[measure] else min(values)
        return [value == best for value in values]

    def column(self, measure: str) -> list[float]:
        """The values of a measure, row by row."""
        return [float(value) for value in self.values[measure]]

    def arrow(self, measure: str, ascii_only: bool = False) -> str:
        """Up where larger is better, down where smaller is, nothing where neither."""
        return arrow(self.higher_is_better.get(measure), ascii_only)


def arrow(higher_is_better: bool | None, ascii_only: bool = False) -> str:
    """Which way is better, as an arrow; nothing where neither is.

    >>> arrow(True), arrow(False, ascii_only=True), arrow(None)
    ('↑', 'v', '')
    """
    up, down = "^v" if ascii_only else "↑↓"
    return {True: up, False: down, None: ""}[higher_is_better]


def write(scores: Scores, form: str, *, places: int = 4, with_run: bool = True) -> None:
    """Prints scores.

    Args:
        scores: what to print.
        form: ``'table'``, ``'tsv'``, ``'jsonl'`` or ``'latex'``.
        places: decimal places; -1: all digits.
        with_run: whether lines for programs begin with the run.
    """
    if form == "table":
        show(scores, places=places)
    elif form == "latex":
        print(latex(scores, places=places), end="")
    elif form == "tsv":
        _print_all(tsv_lines(scores, places=places, with_run=with_run))
    else:
        _print_all(jsonl_lines(scores, with_run=with_run))


def _print_all(lines: Iterator[str]) -> None:
    for line in lines:
        print(line)


def formatted(value: float, places: int) -> str:
    """A value with so many decimal places; -1: all its digits.

    >>> formatted(1 / 3, 4), formatted(1 / 3, -1)
    ('0.3333', '0.3333333333333333')
    """
    return str(float(value)) if places == EVERY_PLACE else f"{value:.{places}f}"


def _rounding(places: int) -> Callable[[Any], str]:
    return lambda value: formatted(value, places)


# For programs


def tsv_lines(scores: Scores, *, places: int = 4, with_run: bool = True) -> Iterator[str]:
    """A line per value: run, query id where there are any, measure, value, between tabs.

    Without the run these are the lines that ir_measures' own command prints.

    >>> import pandas as pd
    >>> scores = Scores(pd.DataFrame({"run": ["bm25"], "AP": [0.25], "ASL@1000": [186.4]}))
    >>> list(tsv_lines(scores, places=2))
    ['bm25\\tAP\\t0.25', 'bm25\\tASL@1000\\t186.40']
    """
    for keys, measure, value in _entries(scores, with_run):
        yield "\t".join([*map(str, keys.values()), measure, formatted(value, places)])


def jsonl_lines(scores: Scores, *, with_run: bool = True) -> Iterator[str]:
    """A JSON object per value: ``run``, ``query_id`` where there are any, ``measure``, ``value``.

    >>> import pandas as pd
    >>> list(jsonl_lines(Scores(pd.DataFrame({"run": ["bm25"], "AP": [0.25]}))))
    ['{"run": "bm25", "measure": "AP", "value": 0.25}']
    """
    for keys, measure, value in _entries(scores, with_run):
        named = {"query_id" if name == "qid" else name: key for name, key in keys.items()}
        yield json.dumps({**named, "measure": measure, "value": value}, ensure_ascii=False)


def _entries(scores: Scores, with_run: bool) -> Iterator[tuple[dict[str, Any], str, float]]:
    keys = [name for name in scores.keys if with_run or name != "run"]
    columns = [scores.values[name].tolist() for name in keys]
    values = scores.values[scores.measures].to_numpy(float).tolist()
    for row, of_row in enumerate(values):
        about = {name: column[row] for name, column in zip(keys, columns)}
        for measure, value in zip(scores.measures, of_row):
            yield about, measure, value


# For papers


def latex(scores: Scores, *, places: int = 4) -> str:
    """A ``tabular`` with booktabs' rules, the best value of each measure bold.

    It needs ``\\usepackage{booktabs}``.
    """
    import pandas as pd

    frame = scores.values.reset_index(drop=True)
    styler = frame.style.hide(axis="index")
    styler.format(_rounding(places), subset=pd.Index(scores.measures))
    styler.format(str, subset=pd.Index(scores.keys), escape="latex")
    styler.format_index(escape="latex", axis="columns")
    bold = pd.DataFrame(
        {
            name: ["textbf:--rwrap;" if best else "" for best in scores.is_best(name)]
            for name in scores.measures
        }
    )
    styler.apply(lambda _: bold, axis=None, subset=pd.Index(scores.measures))
    layout = "l" * len(scores.keys) + "r" * len(scores.measures)
    return str(styler.to_latex(hrules=True, column_format=layout))


# For the eye


def show(scores: Scores, *, places: int = 4) -> None:
    """Prints a table, the best value of each measure bold where several runs are compared.

    Where it is wider than the terminal, rows and columns change places if that helps; it is never
    cut off. Written to a file or a pipe it is as wide as it is.
    """
    from rich.console import Console

    console = Console(file=sys.stdout)
    table = partial(rich_table, scores, places=places, ascii_only=console.options.ascii_only)
    upright = table()
    wide = _width(console, upright)
    if console.is_terminal and wide > console.width and "qid" not in scores.keys:
        turned = table(turned=True)
        if _width(console, turned) <= console.width:
            console.print(turned)
            return
    print_whole(console, upright)


def print_whole(console: Console, table: Table) -> None:
    """Prints a table as wide as it is, however wide that is."""
    console.width = max(_width(console, table), console.width)
    console.print(table)


def rich_table(
    scores: Scores, *, places: int = 4, ascii_only: bool = False, turned: bool = False
) -> Table:
    """The table that `show` prints.

    Args:
        scores: what is in it.
        places: decimal places; -1: all digits.
        ascii_only: whether there are no arrows to be had.
        turned: whether measures are rows and runs columns.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    cells = [
        [Text(formatted(value, places), style="bold" if best else "") for value, best in column]
        for column in (
            zip(scores.column(name), scores.is_best(name)) for name in scores.measures
        )
    ]
    labels = [[printable(str(key)) for key in scores.values[name]] for name in scores.keys]
    arrows = {name: scores.arrow(name, ascii_only) for name in scores.measures}
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    if turned:
        table.add_column("measure", no_wrap=True)
        for name in labels[0]:
            table.add_column(Text(name), justify="right", overflow="fold", min_width=places + 6)
        for measure, row in zip(scores.measures, cells):
            table.add_row(Text(f"{measure} {arrows[measure]}".rstrip()), *row)
        return table
    for key in scores.keys:
        table.add_column("query" if key == "qid" else key, no_wrap=True)
    for measure in scores.measures:
        table.add_column(_header(measure, arrows[measure]), justify="right", no_wrap=True)
    for line in zip(*([Text(label) for label in column] for column in labels), *cells):
        table.add_row(*line)
    return table


def printable(text: str) -> str:
    r"""Text without what would move a terminal's cursor or colour what follows.

    >>> print(printable("bm25" + chr(27) + "[31m"))
    bm25\x1b[31m
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


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
