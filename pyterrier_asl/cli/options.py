"""Arguments and options that several commands share, with their help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any, TypeAlias

import click

from ..io.notices import counted
from ..io.table_forms import EVERY_PLACE
from ..io.tables import FORMS

#: Adds an option to a command.
Decorator: TypeAlias = Callable[[Any], Any]

#: The type of an option that is a whole number from 1 on.
NUMBER = click.IntRange(min=1)

#: An option without a value.
switch = partial(click.option, is_flag=True)

#: An option that can be given several times.
repeated = partial(click.option, multiple=True)


def take(settings: dict[str, Any], *names: str) -> dict[str, Any]:
    """Removes these options from the settings, and returns them."""
    return {name: settings.pop(name) for name in names}


def together(*several: Decorator) -> Decorator:
    """Several options as one decorator, in the order of help."""
    return lambda command: reduce(lambda done, add: add(done), reversed(several), command)


def text_option(name: str, metavar: str, help: str) -> Decorator:
    """An option with the name of a file, an id, or other text."""
    return click.option(name, metavar=metavar, help=help)


qrels = click.argument("qrels")
runs = click.argument("runs", nargs=-1, required=True, metavar="RUN...")

#: QRELS and RUN... of commands that also take tracks or scores instead.
qrels_if_any = click.argument("qrels", required=False)
runs_if_any = click.argument("runs", nargs=-1, metavar="[RUN...]")


#: Several collections, with ``-t`` where that is free.
tracks = partial(
    click.option,
    "--track",
    "tracks",
    multiple=True,
    nargs=3,
    metavar="NAME QRELS RUNS",
    help="Instead of QRELS and RUN...: the name, the qrels, and the folder of the runs of a track; "
    "can be given again for another track.",
)

common = switch("--common", help="Leave out systems that a track lacks.")

#: Scores by topic that were computed before, with directions and a value for missing ones.
scores = together(
    repeated(
        "--scores",
        metavar="FILE",
        help="Instead of QRELS and RUN...: values by topic, a CSV, TSV or Parquet table, or "
        "what trec_eval -q and ir_measures -q print; can be given again.",
    ),
    repeated("--lower-is-better", metavar="NAME", help="Lower scores are better by this measure."),
    repeated(
        "--higher-is-better", metavar="NAME", help="Higher scores are better by this measure."
    ),
    click.option("--fill", type=float, help="Value used for missing scores."),
)
#: Their names.
OF_SCORES = ("lower_is_better", "higher_is_better", "fill")


def sources(
    qrels: str | None,
    runs: Sequence[str],
    tracks: Sequence[tuple[str, str, str]] = (),
    scores: Sequence[str] = (),
    **of_scores: Any,
) -> tuple[Any, Any]:
    """Runs and qrels, scores, or several tracks, for the functions of the library.

    Args:
        qrels: the argument QRELS.
        runs: the arguments RUN.
        tracks: ``--track``.
        scores: ``--scores``.
        **of_scores: the values of :data:`OF_SCORES`.
    """
    if sum(map(bool, (qrels, tracks, scores))) != 1:
        or_scores = ", or --scores" if "scores" in click.get_current_context().params else ""
        raise click.UsageError(f"give QRELS and RUN..., or --track for each track{or_scores}")
    if scores:
        from ..evaluation.scores import read_scores

        return read_scores(scores, **of_scores), None
    for name, value in of_scores.items():
        if value not in (None, ()):
            raise click.UsageError(f"--{name.replace('_', '-')} needs --scores")
    if tracks:
        from ..evaluation.inputs import tracks_by_name

        return tracks_by_name(tracks), None
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

#: Size of the table in a terminal.
table_size = together(
    switch("--wide", help="In a terminal: all columns, even if lines wrap."),
    switch("--all", "all_rows", help="In a terminal: all rows."),
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

#: Help of ``--groups``.
GROUPS = (
    "Lines of run and group, between them a tab: rareness counts groups instead of runs, so that "
    "two runs of one group do not make a document common."
)
groups = text_option("--groups", "TSV", GROUPS)

#: Other judges than QRELS.
judges = partial(repeated, "--judge", "judges", metavar="NAME=QRELS")

judges_of_tracks = judges(
    help="Another judge: a name, and a file or ir_datasets id; for a track TRACK=NAME=QRELS; can "
    "be given again."
)


def read_judges(
    judges: Sequence[str], judge_rel: Sequence[str], tracks: Sequence[Any]
) -> dict[str, Any]:
    """The judges of ``--judge``, perhaps by track, and their minimum grades; None: none given."""
    from ..analysis import command_line

    read = command_line.read_judges_of_tracks if tracks else command_line.read_judges_by_name
    return {
        "judges": read(judges) or None,
        "judge_rel": command_line.read_grades(judge_rel) if judge_rel else None,
    }


#: The grades of these judges, and which of them are people.
about_judges = together(
    repeated(
        "--judge-rel",
        metavar="NAME=GRADE",
        help="Minimum grade of a relevant document for this judge; it has priority over the rel of "
        "a measure.  [default: --rel]",
    ),
    repeated(
        "--person",
        "people",
        metavar="NAME",
        help="This judge is a person; machines are compared with how people agree. Can be given "
        "again.",
    ),
)

#: Labels of unjudged documents.
labels = repeated(
    "--labels",
    metavar="FILE",
    help="Labels of documents that QRELS does not judge, merged with QRELS. Several files must not "
    "contradict each other.",
)


conflicts = click.option(
    "--conflicts",
    type=click.Choice(["error", "official"]),
    default="error",
    show_default=True,
    help="If a label contradicts an official grade: stop, or leave the label out.",
)

highest = click.option(
    "--highest",
    type=click.FloatRange(min=0),
    help="The best grade that a label can give.  [default: the best grade in QRELS, at least 1]",
)


def read_labels(files: Sequence[str]) -> list[Any] | None:
    """The labels in files; prints how many each file has. None without a file."""
    from ..io.label_files import label_rows, labels_of

    tables = []
    for name in files:
        rows = label_rows(name)
        tables.append(labels_of(rows, Path(name).name))
        is_open = len(rows) - int((rows["label"] >= 0).sum())
        rest = f", {counted(is_open, 'row')} without a label" if is_open else ""
        click.echo(f"{name}: {counted(len(tables[-1]), 'label')}{rest}", err=True)
    return tables or None


force = switch("--force", help="Overwrite a file of another kind, but never an input.")


def check_force(force: bool, *files: str | None) -> None:
    """Raises a UsageError for ``--force`` without a file that is written."""
    if force and not any(files):
        raise click.UsageError("--force goes with an option that writes a file")


duplicates = click.option(
    "--duplicates",
    type=click.Choice(["error", "best"]),
    help="A document that occurs twice in a ranking is an error, or is counted once, at its best "
    "rank.  [default: error]",
)
drop_self = switch(
    "--drop-self", help="Leave documents with the id of their query out of rankings."
)
collapse = text_option(
    "--collapse",
    "SEPARATOR",
    "Cut the ids of passages at the last SEPARATOR, such as '#', and keep the best passage of each "
    "document.",
)


#: The minimum grade of a relevant document, also with the name in trec_eval.
rel = partial(click.option, "-l", "--rel", "--level_for_rel", type=float)

#: The minimum grade for measures by name.
rel_of_measures = rel(
    help="Minimum grade of a relevant document, for measures without rel.  [default: 1]"
)

#: Texts of queries and documents, to be shown.
topics = text_option("--topics", "FILE", "Texts of queries: lines qid<TAB>query, or JSON lines.")
docs = text_option("--docs", "FILE", "Texts of documents: JSON lines, or lines docno<TAB>text.")

#: The seed of random numbers.
seed = partial(click.option, "--seed", type=click.IntRange(min=0), default=0, show_default=True)

#: One row per query.
by_query = partial(switch, "-q", "--by_query")

#: The form of a printed table.
output_format = partial(
    click.option,
    "-o",
    "--output_format",
    type=click.Choice(FORMS),
    default="table",
    show_default=True,
)

#: The number of processes.
jobs = partial(click.option, "-j", "--jobs", default=1, show_default=True)


def measures(help: str) -> Decorator:
    """``-m``, which can be given several times, each with one or several measures."""
    text = f"Measures, in one or several -m: {help}"
    return repeated("-m", "--measures", metavar="NAMES", help=text)


def pool(help: str) -> Decorator:
    """``--pool``, with its default."""
    text = f"a file that 'pyterrier-asl pool' made, or a folder of runs. Default: {help}"
    return text_option("--pool", "FILE", f"Pool for rareness: {text}")


def chart(help: str) -> Decorator:
    """``--chart``, and ``--no-title``."""
    endings = "into .html, .svg, .png or .pdf. Needs pip install '.[charts]'."
    return together(
        text_option("--chart", "FILE", f"{help}, {endings}"),
        click.option("--title/--no-title", default=True, help="Draw it with title and caption."),
    )


def kind(*kinds: str) -> Decorator:
    """``--kind``: what the chart of ``--chart`` shows."""
    return click.option("--kind", type=click.Choice(kinds), help="What the chart shows.")


def check_chart(
    path: str | None,
    inputs: Sequence[str | None],
    tracks: Sequence[tuple[str, str, str]] = (),
    *,
    force: bool = False,
) -> None:
    """Checks that a chart, if any, can be saved without overwriting an input.

    Args:
        path: the file of ``--chart``; None: no chart.
        inputs: files and folders that are read; None for one that was not given.
        tracks: name, qrels and runs of each track, which are read too.
        force: whether a file of another kind is overwritten.
    """
    if path:
        from ..charts.saving import check_path

        paths = [*inputs, *(name for track in tracks for name in track[1:])]
        check_path(path, inputs=filter(None, paths), force=force)
    elif not click.get_current_context().params["title"]:
        raise click.UsageError("--no-title needs --chart")


def save_chart(draw: Callable[[], Any], chart: str | None, **form: Any) -> None:
    """Draws and saves the chart of ``--chart``, if any, and prints the name of the file."""
    if chart:
        from ..charts.saving import save_chart

        save_chart(draw(), chart, **form)
        click.echo(f"wrote {chart}", err=True)
