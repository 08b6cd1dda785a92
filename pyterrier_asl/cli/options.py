"""What several commands take, said once: arguments, options, and the words of their help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

import click

from ..io.tables import EVERY_PLACE, FORMS

F = TypeVar("F", bound=Callable[..., Any])

#: Adds an option to a command.
Decorator: TypeAlias = Callable[[Any], Any]

#: What counts from 1.
NUMBER = click.IntRange(min=1)

#: An option that is there or not.
switch = partial(click.option, is_flag=True)

#: An option that can be given several times.
repeated = partial(click.option, multiple=True)


def together(*several: Decorator) -> Decorator:
    """Options that are taken together, in the order of help."""

    def decorate(command: F) -> F:
        for option in reversed(several):
            command = option(command)
        return command

    return decorate


def text_option(name: str, metavar: str, help: str) -> Decorator:
    """An option with the name of a file, an id, or other text."""
    return click.option(name, metavar=metavar, help=help)


qrels = click.argument("qrels")
runs = click.argument("runs", nargs=-1, required=True, metavar="RUN...")

#: QRELS and RUN..., where something else can stand in their place.
qrels_if_any = click.argument("qrels", required=False)
runs_if_any = click.argument("runs", nargs=-1, metavar="[RUN...]")


def tracks(*short: str) -> Decorator:
    """``--track``, for each of several collections."""
    return click.option(
        *short,
        "--track",
        "tracks",
        multiple=True,
        nargs=3,
        metavar="NAME QRELS RUNS",
        help="Instead of QRELS and RUN...: a track by its name, its judgements, and the folder of "
        "its runs; can be given again for another track.",
    )


common = switch("--common", help="Leave out systems that a track lacks.")

#: Scores by topic that were computed before, and what must be said of them.
scores = together(
    repeated(
        "--scores",
        metavar="FILE",
        help="Instead of QRELS and RUN...: values by topic, a CSV, TSV, Parquet or JSONL table, or "
        "what trec_eval -q and ir_measures -q print; can be given again.",
    ),
    repeated("--lower-is-better", metavar="NAME", help="Of this measure of the scores less is."),
    repeated("--higher-is-better", metavar="NAME", help="Of this measure of the scores more is."),
    click.option("--fill", type=float, help="What stands for values that the scores lack."),
)


def sources(
    qrels: str | None,
    runs: Sequence[str],
    tracks: Sequence[tuple[str, str, str]] = (),
    scores: Sequence[str] = (),
    **of_scores: Any,
) -> tuple[Any, Any]:
    """Runs and qrels as functions take them, or scores in their place, or several tracks."""
    if sum(map(bool, (qrels, tracks, scores))) != 1:
        raise click.UsageError("give QRELS and RUN..., or --track for each track, or --scores")
    if scores:
        from ..evaluation.scores import read_scores

        return read_scores(scores, **of_scores), None
    if any(value not in (None, ()) for value in of_scores.values()):
        raise click.UsageError("--lower-is-better, --higher-is-better and --fill need --scores")
    if tracks:
        from ..evaluation.files import of_tracks

        return of_tracks(tracks), None
    if not runs:
        raise click.UsageError("Missing argument 'RUN...'")
    return list(runs), qrels


places = click.option(
    "-p",
    "--places",
    type=click.IntRange(min=EVERY_PLACE),
    default=4,
    show_default=True,
    help="Decimal places; -1: all. JSON lines always have all.",
)

alpha = click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Level of significance; confidence intervals cover 1 - alpha.",
)

lengths = text_option(
    "--lengths",
    "FILE|irds:ID",
    "Words of each document, which TBG needs: a text file with lines 'docno words', a file "
    "that DocLengths.save() wrote, or a collection of ir_datasets to count in.",
)

#: What ``--groups`` takes.
GROUPS = (
    "Lines of run and group, between them a tab: groups are counted instead of runs, so that "
    "two runs of one group cannot make each other's finds common."
)
groups = text_option("--groups", "TSV", GROUPS)

force = switch("--force", help="Overwrite a file of another kind; never one that is read.")

duplicates = click.option(
    "--duplicates",
    type=click.Choice(["error", "best"]),
    default="error",
    show_default=True,
    help="Of a document that stands twice in a ranking: best counts it once, at its best rank.",
)


def measures(help: str) -> Decorator:
    """``-m``, of which there can be several, each with one or several measures."""
    what = f"Measures, in one or several -m: {help}"
    return repeated("-m", "--measures", metavar="NAMES", help=what)


def rel(help: str) -> Decorator:
    """``-l``, as trec_eval calls the least relevant grade."""
    return click.option("-l", "--rel", "--level_for_rel", type=float, help=help)


def chart(help: str) -> Decorator:
    """``--chart`` with what a paper needs: ``--width`` and ``--no-title``."""
    return together(
        text_option(
            "--chart",
            "FILE",
            f"{help}, into .html, .svg, .png or .pdf. Needs pyterrier-asl[charts].",
        ),
        click.option(
            "--width",
            type=click.Choice(["column", "page"]),
            help="Draw it as wide as a column or the page of a paper in two columns.",
        ),
        click.option("--title/--no-title", default=True, help="Draw it with title and caption."),
    )


def draw(figure: Any, path: str, *, width: str | None, title: bool) -> None:
    """Saves what ``--chart`` asks for, and says so."""
    from ..charts.saving import save_chart

    save_chart(figure, path, width=width, title=title)
    click.echo(f"wrote {path}", err=True)


def pool(help: str) -> Decorator:
    """``--pool``."""
    what = "a file that 'pyterrier-asl pool' made, or a folder of runs"
    return text_option("--pool", "FILE", f"Pool for rareness: {what}. Default: {help}")


def seed(help: str, default: int = 0) -> Decorator:
    """``--seed``, of what is drawn."""
    return click.option(
        "--seed", type=click.IntRange(min=0), default=default, show_default=True, help=help
    )


def by_query(help: str) -> Decorator:
    """``-q``: what is by query."""
    return switch("-q", "--by_query", help=help)


def output_format(help: str) -> Decorator:
    """``-o``: how a table is printed."""
    return click.option(
        "-o",
        "--output_format",
        type=click.Choice(FORMS),
        default="table",
        show_default=True,
        help=help,
    )


def jobs(help: str) -> Decorator:
    """``-j``: how many at a time."""
    return click.option(
        "-j", "--jobs", default=1, show_default=True, help=f"{help} at a time; -1: all cores."
    )
