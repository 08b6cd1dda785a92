"""``pyterrier-asl analyze``: one subcommand for each table or figure of the papers.

\b
Examples:
  pyterrier-asl analyze --list
  pyterrier-asl analyze ties dl20.qrels dl20-runs/ --rel 2
  pyterrier-asl analyze discrimination qrels.txt runs/ -m 'AP ASL@1000 AP_Rareness@100'
  pyterrier-asl analyze techniques qrels.txt bm25.run dense.run --old bm25 --new dense
  pyterrier-asl analyze search-lengths qrels.txt runs/ --chart lengths.html
  pyterrier-asl analyze headroom --rel 2 -t dl19 dl19.qrels dl19-runs/ -t dl20 dl20.qrels dl20-runs/
  pyterrier-asl analyze stability --help

\b
Each takes the judgements (a file or an ir_datasets id), then run files or folders of them, and
options of its own. Programs get the columns by name: -o tsv, -o jsonl.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import click

from ..analysis import command_line as typed
from ..charts.saving import check_path
from ..evaluation.files import read_groups
from . import epilog, options
from .options import Decorator

if TYPE_CHECKING:
    from ..analysis.registry import Analysis

_OF_TRACKS = """\b
Of one track, or of several:
  pyterrier-asl analyze {name} QRELS RUN...
  pyterrier-asl analyze {name} -t dl19 dl19.qrels dl19-runs/ -t dl20 dl20.qrels dl20-runs/"""

#: Sources of an option that the user set; for others the function has its default.
_SAID = (click.core.ParameterSource.COMMANDLINE, click.core.ParameterSource.ENVIRONMENT)
_TESTS = (
    "t, wilcoxon, sign, randomization, unpaired-t; of all pairs also tukey, tukey-two-way, "
    "tukey-randomized."
)


def _option(
    *names: str, help: str, read: Callable[[Any], Any] | None = None, **more: Any
) -> Decorator:
    """An option, and how its value is read, where it is not taken as it is."""

    def reading(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        return value if read is None or value in (None, ()) else read(value)

    return click.option(*names, help=help, callback=reading, **more)


def _list(kind: Callable[[str], Any], *names: str, help: str) -> Decorator:
    return _option(*names, metavar="LIST", help=help, read=typed.read_numbers(kind))


_number = partial(_option, type=options.NUMBER)
_switch = partial(_option, is_flag=True, default=None)

#: The options of the analyses, by the parameters of their functions. Where two analyses have
#: different parameters of one name, the annotation follows the name.
_OPTIONS: dict[str, Decorator] = {
    "measures": _option(
        "-m",
        "--measures",
        multiple=True,
        metavar="NAMES",
        read=typed.read_measures,
        help="Measures, in one or several -m: as 'evaluate' takes them.",
    ),
    "measure": _option(
        "-m", "--measure", metavar="NAME", read=typed.read_measure, help="The measure."
    ),
    "preference": _option(
        "--preference", metavar="NAME", help="One of rrLP, sgnLP, lexirecall, RPP, RR."
    ),
    "preferences": _option(
        "--preferences",
        metavar="NAMES",
        read=typed.read_words,
        help="Some of rrLP, sgnLP, lexirecall, RPP, RR.",
    ),
    "rel": _option(
        "-l",
        "--rel",
        "--level_for_rel",
        type=float,
        read=typed.read_grade,
        help="Least grade of a relevant document.",
    ),
    "duplicates": options.duplicates,
    "cutoff": _number("-k", "--cutoff", help="Look at the first K documents only."),
    "depth": _number("--depth", help="The largest rank to look at."),
    "few": _number("--few", help="A document that so many systems find is rare."),
    "missing": _option(
        "--missing",
        type=click.Choice(["pad", "after", "eq3"]),
        help="What ASL takes a document for that was not retrieved; the papers' "
        "numbers are 'after'.",
    ),
    "test": _option("--test", metavar="NAME", help=_TESTS),
    "correction": _option(
        "--correction",
        metavar="NAME",
        read=typed.read_correction,
        help="holm, bonferroni, bh or none.",
    ),
    "alpha": options.alpha,
    "levels: Sequence[float]": _list(
        float, "--level", "levels", help="Levels of significance: .05,.01"
    ),
    "levels: int": _number("--levels", help="How many recall levels."),
    "margin": _option("--margin", type=float, help="Least relative difference of a better system."),
    "each": _switch("--each", help="A row for each system."),
    "as_published": _switch(
        "--as-published", help="By the choices of the paper, where ours differ."
    ),
    "draws": _number("--draws", help="How often to draw."),
    "n_resamples": _number("--resamples", "n_resamples", help="Draws of a test that draws."),
    "permutations": _option(
        "--permutations",
        type=click.IntRange(min=0),
        help="Also sample so many orders, as the paper does.",
    ),
    "samples": _number("--samples", help="Samples of each fraction."),
    "fractions": _list(float, "--fractions", help="Shares to keep: .1,.5,1"),
    "sizes": _list(int, "--sizes", help="Numbers of systems: 2,4,8"),
    "fuzz": _option("--fuzz", type=float, help="A difference that is none."),
    "alphas": _list(float, "--alphas", help="Weights of rareness: 0,.5,1"),
    "normalized": _switch("--normalized", help="The variant that cannot exceed 1."),
    "seed": _option("--seed", type=click.IntRange(min=0), help="Of the draws."),
    "deepest": _number("--deepest", help="The last rank to report."),
    "n": _number("--documents", "n", help="How many documents there are."),
    "relevant": _list(int, "--relevant", help="How many are relevant: 1,5,10"),
    "ranks": _list(int, "--ranks", help="Ranks of the first relevant one: 1,10"),
    "old": _option(
        "--old",
        metavar="[TRACK=]RUN",
        multiple=True,
        read=typed.read_runs_of_tracks,
        help="Name of the run of the old technique; of each track with TRACK=.",
    ),
    "new": _option(
        "--new",
        metavar="[TRACK=]RUN",
        multiple=True,
        read=typed.read_runs_of_tracks,
        help="Name of the run of the new technique; of each track with TRACK=.",
    ),
    "run": _option("--run", metavar="RUN", help="Name of the run; else the best by ASL."),
    "a": _option("--a", metavar="RUN", help="Name of one run; else the best by ASL."),
    "b": _option("--b", metavar="RUN", help="Name of the other; else the median by ASL."),
    "system": _option(
        "--system", metavar="RUN", help="The run to set beside the judges; else the best."
    ),
    "qid": _option("--qid", metavar="ID", help="The query."),
    "groups": _option("--groups", metavar="TSV", read=read_groups, help=options.GROUPS),
    "pools": _option(
        "--types",
        "pools",
        metavar="TSV",
        read=typed.read_pools,
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
        read=typed.read_judges,
        help="The judgements of another judge, a person or a "
        "machine, beside QRELS; can be given again.",
    ),
    "judge_rel": _option(
        "--judge-rel",
        "--assessor-rel",
        "judge_rel",
        multiple=True,
        metavar="NAME=GRADE",
        read=typed.read_judge_rel,
        help="Least grade that this judge finds relevant, else as --rel; can be "
        "given again. A grade alone is for all but QRELS, whose name is qrels.",
    ),
    "both_ways": _switch("--both-ways", help="Also by the other judges' judgements."),
    "lengths": options.lengths,
    "missing_length": _option(
        "--missing-length", type=float, help="For documents whose length is not known."
    ),
    "weights": _option(
        "--weights",
        metavar="TSV",
        read=typed.read_weights,
        help="Lines of query and weight in means.",
    ),
    "by": _option(
        "--by",
        metavar="TSV",
        read=typed.read_slices,
        help="Lines of query and slice: a table for each slice.",
    ),
}


class Analyses(click.Group):
    """The analyses as subcommands, each made when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        from ..analysis.registry import analyses

        return [analysis.name for analysis in analyses()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The one of a name."""
        from ..analysis.registry import analysis_named

        analysis = analysis_named(cmd_name)
        return None if analysis is None else _command(analysis)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Their list in help: the most asked for by question, the others by paper."""
        from ..analysis.registry import analyses

        for heading, part in groupby(analyses(), attrgetter("heading")):
            rows = [(a.name, f"{a.what} ({a.source if a.question else a.figure})") for a in part]
            with formatter.section(heading.removesuffix("?")):
                formatter.write_dl(rows)


def _show_list(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
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
    callback=_show_list,
    help="List the names by question, then by paper, with table or figure.",
)
def command() -> None:
    """Make a table or figure of the papers, by name, from any runs and judgements."""


def option_of(parameter: inspect.Parameter) -> Decorator | None:
    """The option of a parameter; None for one that is for Python only."""
    option = _OPTIONS.get(parameter.name)
    return option or _OPTIONS.get(f"{parameter.name}: {parameter.annotation}")


def _command(analysis: Analysis) -> click.Command:
    made = click.Command(
        analysis.name,
        callback=partial(_run_analysis, analysis),
        help=f"{analysis.what}\n\n{analysis.source}.",
        epilog=_OF_TRACKS.format(name=analysis.name) if analysis.tracks else None,
    )
    parameters, needed = analysis.parameters, not analysis.tracks
    if "qrels" in analysis.takes:
        made.params.append(click.Argument(["qrels"], required=needed))
    if "runs" in analysis.takes:
        made.params.append(click.Argument(["runs"], nargs=-1, required=needed, metavar="RUN..."))
    if analysis.tracks:
        options.tracks("-t")(made)
    for name, parameter in parameters.items():
        if option := option_of(parameter):
            option(made)
            _with_default(made.params[-1], name in analysis.required, parameter.default)
    options.places(made)
    options.output_format("tsv begins with the names of the columns.")(made)
    options.chart("Draw the figure as well")(made)
    return made


def _with_default(option: Any, required: bool, default: Any) -> None:
    """Shows the default in an option's help; the function itself has it."""
    option.required = required
    if isinstance(default, tuple):
        default = ",".join(map(str, default))
    if not (required or option.show_default or default in (None, False)):
        option.help = f"{option.help}  [default: {default}]"


def _run_analysis(
    analysis: Analysis,
    places: int,
    output_format: str,
    qrels: str | None = None,
    runs: tuple[str, ...] = (),
    chart: str | None = None,
    width: str | None = None,
    title: bool = True,
    tracks: tuple[tuple[str, str, str], ...] = (),
    **options_of_analysis: Any,
) -> None:
    from ..io import tables

    if analysis.tracks and bool(tracks) == bool(qrels):
        raise click.UsageError("give QRELS and RUN... of one track, or --track for each of several")
    if analysis.tracks and not (tracks or runs):
        raise click.UsageError("Missing argument 'RUN...'")
    source = click.get_current_context().get_parameter_source
    chosen = {name: value for name, value in options_of_analysis.items() if source(name) in _SAID}
    if chart:
        read = [qrels or "", *runs, *(path for track in tracks for path in track[1:])]
        check_path(chart, inputs=read)
    table = typed.analyze(analysis, qrels, runs, chosen, tracks)
    frame = typed.without_unnamed_track(table)
    if analysis.shown and output_format in ("table", "latex"):
        frame = analysis.shown(frame)
    if output_format == "table":
        click.echo(f"{analysis.what} ({analysis.source})\n")
    groups = analysis.group_by if analysis.group_by in frame else ""
    tables.write(frame, output_format, places=places, group_by=groups)
    if output_format == "table" and (notes := typed.notes(frame)):
        click.echo(f"\n{notes}")
    if chart:
        figure = analysis.draw(table, by=typed.SLICE if typed.SLICE in table else None)
        options.draw(figure, chart, width=width, title=title)
