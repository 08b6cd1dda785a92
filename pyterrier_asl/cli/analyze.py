"""``pyterrier-asl analyze``: one subcommand for each table or figure of the papers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from . import options
from .options import Decorator

if TYPE_CHECKING:
    from ..analyses import Analysis

EPILOG = """\b
Examples:
  pyterrier-asl analyze --list
  pyterrier-asl analyze ties dl20.qrels dl20-runs/ --rel 2
  pyterrier-asl analyze discrimination qrels.txt runs/ -m 'AP ASL@1000 AP_Rareness@100'
  pyterrier-asl analyze techniques qrels.txt bm25.run dense.run --old bm25 --new dense
  pyterrier-asl analyze search-lengths qrels.txt runs/ --chart lengths.html
  pyterrier-asl analyze headroom -t dl19 dl19.qrels dl19-runs/ -t dl20 dl20.qrels dl20-runs/
  pyterrier-asl analyze stability --help

\b
Each takes the judgements (a file or an ir_datasets id), then run files or folders of them, and
options of its own. Programs get the columns by name: -o tsv, -o jsonl."""

_OF_TRACKS = """\b
Of one track, or of several:
  pyterrier-asl analyze {name} QRELS RUN...
  pyterrier-asl analyze {name} -t dl19 dl19.qrels dl19-runs/ -t dl20 dl20.qrels dl20-runs/"""

_NUMBER = click.IntRange(min=1)


_option = click.option

#: What can be said to analyses; which of it each takes, its entry in ``analyses`` says.
_OPTIONS: dict[str, Decorator] = {
    "measures": options.measures("as 'evaluate' takes them."),
    "measure": _option("-m", "--measure", metavar="NAME", help="The measure."),
    "preference": _option("--preference", metavar="NAME",
                          help="One of rrLP, sgnLP, lexirecall, RPP, RR."),
    "preferences": _option("--preferences", metavar="NAMES",
                           help="Some of rrLP, sgnLP, lexirecall, RPP, RR."),
    "rel": options.rel("Least grade of a relevant document."),
    "cutoff": _option("-k", "--cutoff", type=_NUMBER, help="Look at the first K documents only."),
    "depth": _option("--depth", type=_NUMBER, help="The largest rank to look at."),
    "missing": _option("--missing", type=click.Choice(["pad", "after", "eq3"]),
                       help="What ASL takes a document for that was not retrieved; the papers' "
                       "numbers are 'after'."),
    "test": _option("--test", metavar="NAME", help="t, wilcoxon, sign, randomization, unpaired-t; "
                    "of all pairs also tukey, tukey-two-way, tukey-randomized."),
    "correction": _option("--correction", metavar="NAME", help="holm, bonferroni, bh or none."),
    "alpha": options.alpha,
    "level": _option("--level", metavar="LIST", help="Levels of significance: .05,.01"),
    "margin": _option("--margin", type=float, help="Least relative difference of a better system."),
    "each": _option("--each", is_flag=True, default=None, help="A row for each system."),
    "as_published": _option("--as-published", is_flag=True, default=None,
                            help="By the choices of the paper, where ours differ."),
    "draws": _option("--draws", type=_NUMBER, help="How often to draw."),
    "resamples": _option("--resamples", type=_NUMBER, help="Draws of a test that draws."),
    "permutations": _option("--permutations", type=click.IntRange(min=0),
                            help="Also sample so many orders, as the paper does."),
    "samples": _option("--samples", type=_NUMBER, help="Samples of each fraction."),
    "fractions": _option("--fractions", metavar="LIST", help="Shares to keep: .1,.5,1"),
    "sizes": _option("--sizes", metavar="LIST", help="Numbers of systems: 2,4,8"),
    "fuzz": _option("--fuzz", type=float, help="A difference that is none."),
    "alphas": _option("--alphas", metavar="LIST", help="Weights of rareness: 0,.5,1"),
    "normalized": _option("--normalized", is_flag=True, default=None,
                          help="The variant that cannot exceed 1."),
    "seed": _option("--seed", type=click.IntRange(min=0), help="Of the draws."),
    "levels": _option("--levels", type=_NUMBER, help="How many recall levels."),
    "deepest": _option("--deepest", type=_NUMBER, help="The last rank to report."),
    "documents": _option("--documents", type=_NUMBER, help="How many documents there are."),
    "relevant": _option("--relevant", metavar="LIST", help="How many are relevant: 1,5,10"),
    "ranks": _option("--ranks", metavar="LIST", help="Ranks of the first relevant one: 1,10"),
    "old": _option("--old", metavar="[TRACK=]RUN", multiple=True,
                   help="Name of the run of the old technique; of each track with TRACK=."),
    "new": _option("--new", metavar="[TRACK=]RUN", multiple=True,
                   help="Name of the run of the new one; likewise."),
    "run": _option("--run", metavar="RUN", help="Name of the run; else the best by ASL."),
    "a": _option("--a", metavar="RUN", help="Name of one run; else the best by ASL."),
    "b": _option("--b", metavar="RUN", help="Name of the other; else the median by ASL."),
    "system": _option("--system", metavar="RUN", help="The run to set beside the assessors; else "
                      "the best."),
    "qid": _option("--qid", metavar="ID", help="The query."),
    "groups": options.groups,
    "types": _option("--types", metavar="TSV", help="Lines of run and type, each type a pool."),
    "run_types": _option("--types", "run_types", metavar="TSV",
                         help="Lines of run and 'manual' or 'automatic'."),
    "assessor": _option("--assessor", multiple=True, metavar="NAME=QRELS",
                        help="Another assessor's judgements; can be given again."),
    "judge": _option("--judge", multiple=True, metavar="NAME=QRELS",
                     help="Another judge's judgements, beside QRELS; can be given again."),
    "assessor_rel": _option("--assessor-rel", type=float,
                            help="Least grade that other assessors find relevant; else as --rel."),
    "both_ways": _option("--both-ways", is_flag=True, default=None,
                         help="Also by the other assessors' judgements."),
    "lengths": options.lengths,
    "missing_length": _option("--missing-length", type=float,
                              help="For documents whose length is not known."),
    "weights": _option("--weights", metavar="TSV", help="Lines of query and weight in means."),
    "by": _option("--by", metavar="TSV", help="Lines of query and slice: a table for each slice."),
}  # fmt: skip

_TRACK = click.option(
    "-t",
    "--track",
    "tracks",
    multiple=True,
    nargs=3,
    metavar="NAME QRELS RUNS",
    help="Instead of QRELS and RUN...: a track by its name, its judgements, and the folder of its "
    "runs; can be given again for another track.",
)
_CHART = click.option(
    "--chart",
    metavar="FILE",
    help="Draw the figure as well, into .html, .svg, .png or .pdf. Needs pyterrier-asl[charts].",
)


class Analyses(click.Group):
    """The analyses as subcommands, each made when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        from ..analyses import ANALYSES

        return [one.name for one in ANALYSES]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The one of a name."""
        from ..analyses import analysis_named

        analysis = analysis_named(cmd_name)
        return None if analysis is None else _command(analysis)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Their list in help, paper by paper."""
        from ..analyses import ANALYSES

        for paper in dict.fromkeys(one.paper for one in ANALYSES):
            with formatter.section(paper):
                formatter.write_dl(
                    [(one.name, f"{one.what} ({one.figure})") for one in ANALYSES
                     if one.paper == paper]
                )  # fmt: skip


def _show_list(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from .. import analyses, frames

    frames.write(analyses.listed(), "table", group_by="paper")
    ctx.exit()


@click.group(name="analyze", cls=Analyses, epilog=EPILOG, subcommand_metavar="NAME [ARGS]...")
@click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=_show_list,
    help="List the names with paper, and table or figure.",
)  # fmt: skip
def command() -> None:
    """Make a table or figure of the papers, by name, from any runs and judgements."""


def _command(analysis: Analysis) -> click.Command:
    made = click.Command(
        analysis.name,
        callback=partial(_run, analysis),
        help=f"{analysis.what}\n\n{analysis.source}.",
        epilog=_OF_TRACKS.format(name=analysis.name) if analysis.tracks else None,
    )
    needed = not analysis.tracks
    if "qrels" in analysis.takes:
        made.params.append(click.Argument(["qrels"], required=needed))
    if "runs" in analysis.takes:
        made.params.append(click.Argument(["runs"], nargs=-1, required=needed, metavar="RUN..."))
    if analysis.tracks:
        _TRACK(made)
    for name in analysis.options:
        _OPTIONS[name](made)
        _complete(made.params[-1], name in analysis.needed, analysis.default(name))
    options.places(made)
    options.output_format("tsv begins with the names of the columns.")(made)
    _CHART(made)
    return made


def _complete(option: Any, required: bool, default: Any) -> None:
    """Says of an option what it is if nobody says; the function knows, and is left to it."""
    option.required = required
    option.default, option.show_default = None, False
    if isinstance(default, tuple):
        default = ",".join(map(str, default))
    if default not in (None, False):
        option.help = f"{option.help}  [default: {default}]"


def _run(
    analysis: Analysis,
    places: int,
    output_format: str,
    qrels: str | None = None,
    runs: tuple[str, ...] = (),
    chart: str | None = None,
    tracks: tuple[tuple[str, str, str], ...] = (),
    **said: Any,
) -> None:
    from .. import analyses, frames

    if analysis.tracks and bool(tracks) == bool(qrels):
        raise click.UsageError("give QRELS and RUN... of one track, or --track for each of several")
    if analysis.tracks and not (tracks or runs):
        raise click.UsageError("Missing argument 'RUN...'")
    given = {name: value for name, value in said.items() if value not in (None, ())}
    if chart:
        analyses.check_chart(chart)
    table = analyses.analyze(analysis, qrels, runs, given, tracks)
    frame = analyses.without_unnamed_track(table)
    if output_format == "table":
        click.echo(f"{analysis.what} ({analysis.source})\n")
    groups = analysis.group_by if analysis.group_by in frame else ""
    frames.write(frame, output_format, places=places, group_by=groups)
    if output_format == "table" and (notes := analyses.notes(frame)):
        click.echo(f"\n{notes}")
    if chart:
        analyses.draw(analysis, table, chart)
        click.echo(f"wrote {chart}", err=True)
