"""The command ``analyze``: one subcommand per table or figure of the papers.

\b
Examples:
  pyterrier-asl analyze --list
  pyterrier-asl analyze ties dl20.qrels dl20-runs/ --rel 2
  pyterrier-asl analyze discriminative-power qrels.txt runs/ -m 'AP ASL@1000 AP_Rareness@100'
  pyterrier-asl analyze compare-techniques qrels.txt bm25.run dense.run --old bm25 --new dense
  pyterrier-asl analyze search-length-distribution qrels.txt runs/ --chart lengths.html
  pyterrier-asl analyze headroom -t dl19 dl19.qrels dl19-runs/ -t dl20 dl20.qrels dl20-runs/ --rel 2
  pyterrier-asl analyze stability --help

\b
The arguments are qrels (a file or an ir_datasets id), run files or folders of them, and options of
the analysis. -o tsv and -o jsonl name the columns for scripts.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from difflib import get_close_matches
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

import click

from ..analysis.legends import legend
from ..analysis.registry import CLARKE, Analysis, analyses, find_analyses
from ..common.lazy import pd
from ..common.notices import DoubtfulInput
from ..printing import tables
from . import epilog, options, outputs, print_notes, readers

_OF_TRACKS = """\b
Of one track, or of several:
  pyterrier-asl analyze {name} QRELS RUN...
  pyterrier-asl analyze {name} -t dl19 dl19.qrels dl19-runs/ -t dl20 dl20.qrels dl20-runs/"""


class Analyses(click.Group):
    """The analyses as subcommands, which are built when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the analyses."""
        return [analysis.name for analysis in analyses()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of an analysis."""
        return _command(*find_analyses(cmd_name))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command of a name, or of a figure, as ``diaz-table-3``."""
        named = [analysis.name for analysis in find_analyses(args[0])]
        if len(named) > 1:
            raise click.UsageError(f"{args[0]} has {len(named)} analyses: {', '.join(named)}")
        if not named:
            names = [name for a in analyses() for name in (a.name, *a.figures)]
            close = get_close_matches(args[0], names, n=3)
            hint = f"did you mean {' or '.join(close)}?" if close else "see analyze --list"
            elsewhere = "pyterrier-asl tune makes it" if args[0] == "clarke-table-2" else hint
            raise click.UsageError(f"no analysis is called {args[0]!r}: {elsewhere}")
        return super().resolve_command(ctx, [*named, *args[1:]])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of analyses in the help, by question or by paper."""
        for heading, group in groupby(analyses(), attrgetter("heading")):
            rows = [(a.name, f"{a.what} ({', '.join(a.figures)})") for a in group]
            if heading == CLARKE:  # the table that another command makes
                rows.append(
                    (
                        "pyterrier-asl tune",
                        "How much do tuned parameters improve AP and time-biased gain? "
                        "(clarke-table-2)",
                    )
                )
            with formatter.section(heading.removesuffix("?")):
                formatter.write_dl(rows)


def _print_list(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Prints the list of analyses, and exits."""
    if value and not ctx.resilient_parsing:
        formatter = ctx.make_formatter()
        command.format_commands(ctx, formatter)
        click.echo(formatter.getvalue().strip())
        ctx.exit()


@click.group(
    name="analyze", cls=Analyses, epilog=epilog(__doc__), subcommand_metavar="NAME [ARGS]..."
)
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_list,
    help="List the analyses by question, then by paper, with the names of their figures.",
)
def command() -> None:
    """Make a table or figure of the papers by name, from any runs and qrels."""


def _command(analysis: Analysis) -> click.Command:
    """The subcommand of an analysis, with one option per parameter."""
    needed = not analysis.tracks
    arguments = {
        "qrels": click.argument("qrels", required=needed),
        "runs": click.argument("runs", nargs=-1, required=needed, metavar="RUN..."),
    }
    shared = [name for name in analysis.figures if len(find_analyses(name)) > 1]
    names = [name for name in analysis.figures if name not in shared]
    also = f" Other names: {', '.join(names)}." if names else ""
    also += f" One of the analyses of {', '.join(shared)}." if shared else ""
    decorate = options.together(
        *(arguments[name] for name in analysis.takes),
        *([options.tracks] if analysis.tracks else []),
        options.of(analysis.function, judges={"read": readers.read_judges_by_name}),
        *([options.matching] if analysis.takes == ("qrels", "runs") else []),
        outputs.places,
        outputs.table_size,
        outputs.output("tsv has a header."),
        outputs.chart("Also draw the figure"),
    )
    return click.command(
        analysis.name,
        cls=outputs.Command,
        help=f"{analysis.what}\n\n{analysis.source}.{also}",
        epilog=_OF_TRACKS.format(name=analysis.name) if analysis.tracks else None,
    )(decorate(partial(_run_analysis, analysis)))


def _run_analysis(analysis: Analysis, form: str, qrels: str | None = None, **values: Any) -> None:
    """Runs an analysis and prints its table."""
    source: Any = options.runs_of(list(values.get("runs", ())))
    if analysis.tracks:
        source, qrels = options.sources()
    elif qrels is not None:
        qrels = options.qrels_of(qrels)
    outputs.check_chart()
    given = options.given()
    inputs = {"qrels": qrels, "runs": source}
    given |= {name: inputs[name] for name in inputs if name in analysis.parameters}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulInput)  # the notes have all
        table = analysis.function(**given)
    frame = table if values.get("tracks") else table.drop(columns="track", errors="ignore")
    if analysis.hidden and set(analysis.hidden) <= set(frame) and form in ("table", "latex"):
        frame = frame.drop(columns=[*analysis.hidden]).dropna(axis="columns", how="all")
    if form == "table":
        click.echo(f"{analysis.what} ({analysis.source})\n")
        frame = frame[_with_verdict_in_sight([*frame])]
    tables.write(frame, form, group_by=analysis.group_by, **outputs.style())
    if form == "table":
        lines = [*legend(analysis.function.__name__, frame), attributes_line(frame)]
        click.echo("\n" + "\n".join(filter(None, lines)))
    print_notes(table.attrs.get("notes", ()))
    outputs.save_chart(partial(analysis.draw, table))


def _with_verdict_in_sight(columns: list[str]) -> list[str]:
    """The columns with what decides before the interval, as a terminal may not show the last.

    >>> _with_verdict_in_sight("difference ci_low ci_high p p_corrected significant".split())
    ['difference', 'p_corrected', 'significant', 'ci_low', 'ci_high', 'p']
    """
    later = columns[columns.index("ci_low") :] if "ci_low" in columns else []
    verdict = ("p_corrected", "significant")
    return sorted(columns, key=lambda name: name in later and name not in verdict)


def attributes_line(frame: pd.DataFrame) -> str:
    """The attributes of the table in a line, '' for none."""
    return "; ".join(
        f"{name}: {_as_text(value)}"
        for name, value in frame.attrs.items()
        if value is not False and value != [] and name != "notes"
    )


def _as_text(value: Any) -> str:
    if isinstance(value, Mapping):
        value = [f"{part} of {name}" for name, part in value.items()]
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
