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

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

import click

from ..analysis import command_line
from ..analysis.legends import legend
from ..analysis.registry import CLARKE, Analysis, analyses, find_analyses
from ..io import tables
from ..io.names import read_groups
from . import Command, epilog, options
from .options import Decorator

_OF_TRACKS = """\b
Of one track, or of several:
  pyterrier-asl analyze {name} QRELS RUN...
  pyterrier-asl analyze {name} -t dl19 dl19.qrels dl19-runs/ -t dl20 dl20.qrels dl20-runs/"""

#: Sources of option values that are passed to the function; others are its defaults.
_USER_SOURCES = (click.core.ParameterSource.COMMANDLINE, click.core.ParameterSource.ENVIRONMENT)
#: What None means in all analyses with a parameter.
_NONE_MEANS = {"rel": 1, "seed": 0}
_TESTS = (
    "t, wilcoxon, sign, randomization, unpaired-t; of all pairs also tukey, tukey-two-way, "
    "tukey-randomized."
)


def _option(
    *names: str, help: str, read: Callable[[Any], Any] | None = None, **more: Any
) -> Decorator:
    """An option, and the function that reads its value, if any."""

    def convert(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        return value if read is None or value in (None, ()) else read(value)

    return click.option(*names, help=help, callback=convert, **more)


def _list(kind: Callable[[str], Any], *names: str, help: str) -> Decorator:
    return _option(*names, metavar="LIST", help=help, read=command_line.read_numbers(kind))


_number = partial(_option, type=options.NUMBER)
_switch = partial(_option, is_flag=True, default=None)

#: The options of the analyses, by the parameters of their functions. A key has the annotation if
#: two analyses have different parameters of one name.
_OPTIONS: dict[str, Decorator] = {
    "measures": _option(
        "-m",
        "--measures",
        multiple=True,
        metavar="NAMES",
        read=command_line.read_measures,
        help="Measures, in one or several -m: as 'evaluate' takes them.",
    ),
    "measure": _option(
        "-m", "--measure", metavar="NAME", read=command_line.read_measure, help="The measure."
    ),
    "preference": _option(
        "--preference", metavar="NAME", help="One of rrLP, sgnLP, lexirecall, RPP, RR."
    ),
    "preferences": _option(
        "--preferences",
        metavar="NAMES",
        read=command_line.read_words,
        help="Some of rrLP, sgnLP, lexirecall, RPP, RR.",
    ),
    "rel: RelOfTracks": _option(
        "-l",
        "--rel",
        "--level_for_rel",
        metavar="[TRACK=]GRADE",
        multiple=True,
        read=command_line.read_grades,
        help="Minimum grade of a relevant document, with TRACK= for a track; can be given again.",
    ),
    "rel": _option(
        "-l",
        "--rel",
        "--level_for_rel",
        type=float,
        read=command_line.read_grade,
        help="Minimum grade of a relevant document.",
    ),
    "duplicates": options.duplicates,
    "collapse": options.collapse,
    "cutoff": _number("-k", "--cutoff", help="Number of documents per query to look at."),
    "depth: int": _number("--depth", help="The deepest rank to look at."),
    "depth: int | None": _number(
        "--depth",
        help="A run finds a document if it is among the first DEPTH: 100 as in P_Rareness@100.  "
        "[default: the whole ranking, as in Table 4]",
    ),
    "few": _number("--few", help="Number of systems up to which a retrieved document is rare."),
    "missing": _option(
        "--missing",
        type=click.Choice(["pad", "after", "eq3"]),
        help="The rank of a missed document in ASL; the papers have 'after'.",
    ),
    "test": _option("--test", metavar="NAME", help=_TESTS),
    "correction": _option(
        "--correction",
        metavar="NAME",
        help="holm, bonferroni, bh or none.",
    ),
    "alpha": options.alpha,
    "levels: Sequence[float]": _list(
        float, "--level", "levels", help="Levels of significance: .05,.01"
    ),
    "levels: int": _number("--levels", help="Number of recall levels."),
    "margin": _option(
        "--margin", type=float, help="Minimum relative difference of better systems."
    ),
    "each": _switch("--each", help="One row per system."),
    "as_published": _switch(
        "--as-published", help="Make the choices of the paper instead of the defaults."
    ),
    "draws": _number("--draws", help="Number of random draws."),
    "fractions": _list(float, "--fractions", help="Shares of judgements to keep: .1,.5,1"),
    "sizes": _list(int, "--sizes", help="Numbers of systems: 2,4,8"),
    "fuzz": _option("--fuzz", type=float, help="Differences up to this count as ties."),
    "alphas": _list(float, "--alphas", help="Weights of rareness: 0,.5,1"),
    "normalized": _switch("--normalized", help="The variant that cannot exceed 1."),
    "seed": _option("--seed", type=click.IntRange(min=0), help="Seed of the draws."),
    "deepest": _number("--deepest", help="The last rank to report."),
    "standardized": _switch("--standardized", help="Coefficients of standardized differences."),
    "n": _number("--documents", "n", help="Number of documents."),
    "relevant": _list(int, "--relevant", help="Numbers of relevant documents: 1,5,10"),
    "ranks": _list(int, "--ranks", help="Ranks of the first relevant document: 1,10"),
    "old": _option(
        "--old",
        metavar="[TRACK=]RUN",
        multiple=True,
        read=command_line.read_runs_of_tracks,
        help="Name of the run of the old technique, with TRACK= for a track.",
    ),
    "new": _option(
        "--new",
        metavar="[TRACK=]RUN",
        multiple=True,
        read=command_line.read_runs_of_tracks,
        help="Name of the run of the new technique, with TRACK= for a track.",
    ),
    "run": _option("--run", metavar="RUN", help="Name of the run.  [default: the best by ASL]"),
    "a": _option("--a", metavar="RUN", help="Name of the first run.  [default: the best by ASL]"),
    "b": _option(
        "--b", metavar="RUN", help="Name of the second run.  [default: the median by ASL]"
    ),
    "system": _option(
        "--system", metavar="RUN", help="The run to compare with the judges.  [default: the best]"
    ),
    "qid": _option("--qid", metavar="ID", help="The query."),
    "groups": _option("--groups", metavar="TSV", read=read_groups, help=options.GROUPS),
    "pools": _option(
        "--types",
        "pools",
        metavar="TSV",
        read=command_line.read_pools,
        help="Lines of run and type, each type a pool.",
    ),
    "run_types": _option(
        "--types",
        "run_types",
        metavar="TSV",
        read=read_groups,
        help="Lines of run and 'manual' or 'automatic'.",
    ),
    "judges": _option(
        "--judge",
        "--assessor",
        "judges",
        multiple=True,
        metavar="NAME=QRELS",
        read=command_line.read_judges_by_name,
        help="The judgements of another judge, a person or a machine; can be given again.",
    ),
    "judge_rel": _option(
        "--judge-rel",
        "--assessor-rel",
        "judge_rel",
        multiple=True,
        metavar="NAME=GRADE",
        read=command_line.read_grades,
        help="Minimum grade of a relevant document for this judge; can be given again. A grade "
        "without name is for all judges except QRELS, whose name is qrels.  [default: --rel]",
    ),
    "both_ways": _switch("--both-ways", help="Also with the other judges' judgements."),
    "lengths": options.lengths,
    "missing_length": _option(
        "--missing-length", type=float, help="Length of documents with unknown length."
    ),
}


#: The table that another command makes.
_TUNING = "How much do tuned parameters improve AP and time-biased gain? (Table 2)"


class Analyses(click.Group):
    """The analyses as subcommands, which are built when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the analyses."""
        return [analysis.name for analysis in analyses()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of an analysis."""
        [analysis] = find_analyses(cmd_name)
        return _command(analysis)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command of a name, or of a figure, as ``diaz-table-3``."""
        named = [analysis.name for analysis in find_analyses(args[0])]
        if len(named) != 1:
            names = [name for a in analyses() for name in (a.name, *a.figures)]
            close = named or get_close_matches(args[0], names, n=3)
            hint = f"did you mean {' or '.join(close)}?" if close else "see analyze --list"
            elsewhere = "pyterrier-asl tune makes it" if args[0] == "clarke-table-2" else hint
            raise click.UsageError(f"no analysis is called {args[0]!r}: {elsewhere}")
        return super().resolve_command(ctx, [*named, *args[1:]])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of analyses in the help, by question or by paper."""
        for heading, group in groupby(analyses(), attrgetter("heading")):
            rows = [(a.name, f"{a.what} ({a.source if a.question else a.figure})") for a in group]
            if heading == CLARKE:
                rows.append(("pyterrier-asl tune", _TUNING))
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
    help="List the analyses by question, then by paper, with table or figure.",
)
def command() -> None:
    """Make a table or figure of the papers by name, from any runs and qrels."""


def option_of(parameter: inspect.Parameter) -> Decorator | None:
    """The option of a parameter; None for a parameter in Python only."""
    typed_name = f"{parameter.name}: {parameter.annotation}"
    return _OPTIONS.get(typed_name) or _OPTIONS.get(parameter.name)


def _command(analysis: Analysis) -> click.Command:
    """The subcommand of an analysis, with one option per parameter."""
    command = Command(
        analysis.name,
        callback=partial(_run_analysis, analysis),
        help=f"{analysis.what}\n\n{analysis.source}.",
        epilog=_OF_TRACKS.format(name=analysis.name) if analysis.tracks else None,
    )
    needed = not analysis.tracks
    if "qrels" in analysis.takes:
        command.params.append(click.Argument(["qrels"], required=needed))
    if "runs" in analysis.takes:
        command.params.append(click.Argument(["runs"], nargs=-1, required=needed, metavar="RUN..."))
    if analysis.tracks:
        options.tracks("-t")(command)
    for parameter in analysis.parameters.values():
        if option := option_of(parameter):
            option(command)
            _describe_default(command.params[-1], analysis, parameter)
    options.places(command)
    options.output_format(help="tsv has a header.")(command)
    options.chart("Also draw the figure")(command)
    return command


def _describe_default(option: Any, analysis: Analysis, parameter: inspect.Parameter) -> None:
    """Adds the default of the function to the help of an option without default."""
    default = parameter.default
    option.required = parameter.name in analysis.required
    if default is None:
        default = _NONE_MEANS.get(parameter.name)
    if not (option.required or option.show_default or default is None or default is False):
        text = ",".join(map(str, default)) if isinstance(default, tuple) else default
        option.help = f"{option.help}  [default: {text}]"


def _run_analysis(
    analysis: Analysis,
    places: int,
    output_format: str,
    qrels: str | None = None,
    runs: tuple[str, ...] = (),
    chart: str | None = None,
    title: bool = True,
    tracks: tuple[tuple[str, str, str], ...] = (),
    **values: Any,
) -> None:
    """Runs an analysis and prints its table."""
    source: Any = list(runs)
    if analysis.tracks:
        source, qrels = options.sources(qrels, runs, tracks)
    source_of = click.get_current_context().get_parameter_source
    chosen = {name: value for name, value in values.items() if source_of(name) in _USER_SOURCES}
    options.check_chart(chart, [qrels, *runs], tracks)
    table = command_line.analyze(analysis, qrels, source, chosen)
    frame = command_line.without_unnamed_track(table)
    if analysis.shown and output_format in ("table", "latex"):
        frame = analysis.shown(frame)
    if output_format == "table":
        click.echo(f"{analysis.what} ({analysis.source})\n")
    groups = analysis.group_by if analysis.group_by in frame else ""
    tables.write(frame, output_format, places=places, group_by=groups)
    if output_format == "table":
        notes = [*legend(map(str, frame.columns)), command_line.attributes_line(frame)]
        click.echo("\n" + "\n".join(filter(None, notes)))
    options.save_chart(partial(analysis.draw, table), chart, title=title)
