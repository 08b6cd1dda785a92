"""The command ``holes``: what unjudged documents could change, and what to judge next.

\b
Examples:
  pyterrier-asl holes qrels.txt bm25.run dense.run -m ASL@100
  pyterrier-asl holes qrels.txt bm25.run dense.run -m ASL@100 --export todo.tsv
  pyterrier-asl holes qrels.txt bm25.run dense.run -m ASL@100 --labels todo.tsv
  pyterrier-asl holes irds:vaswani bm25.run dense.run -m nDCG@10 --export todo.jsonl
  pyterrier-asl holes qrels.txt runs/ -m AP@100 --export todo.tsv
  pyterrier-asl holes qrels.txt runs/ -m ASL@100 --chart pairs.html

\b
How to read it: unjudged documents count as not relevant. The bounds are the lowest and the highest
A - B over all labels of the unjudged documents in the rankings of these runs.
  settled   the same run is better under all labels
  open      another run is better under some labels, however likely they are
Two runs:
  certain   the t-test is significant under all labels; impossible: under none

\b
What to judge: --export saves a list to fill in, as JSON lines (.jsonl) or as a table. For three or
more runs the documents that could change the most open pairs come first. --labels reads it, or
qrels, and merges the labels with the qrels, whose grades do not change. --labels F --export F keeps
the labels of F and lists the documents that are open now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..io.notices import counted
from ..io.tables import write
from . import Command, epilog, options

if TYPE_CHECKING:
    from ..io.texts import Texts
    from ..unjudged.holes import Holes


@click.command(name="holes", cls=Command, epilog=epilog(__doc__))
@options.qrels
@options.runs
@click.option(
    "-m",
    "--measure",
    default="nDCG@10",
    show_default=True,
    metavar="NAME",
    help="P, R, RR, Success, AP, nDCG, RBP(rel=...), ASL, nASL, LexiP, TBG or a rareness measure.",
)
@options.labels
@options.conflicts
@click.option(
    "--export",
    "export_to",
    metavar="FILE",
    help="Save the documents to judge next. If FILE is also given by --labels, its labels stay.",
)
@click.option("--most", type=options.NUMBER, metavar="N", help="Export N documents at most.")
@options.force
@click.option("--depth", type=options.NUMBER, help="Label down to this rank, if deeper.")
@options.highest
@options.text_option(
    "--texts",
    "ID",
    "Collection of ir_datasets with the texts.  [default: QRELS, if it is one]",
)
@options.docs
@options.topics
@options.rel(help="Minimum grade of a relevant document, for a measure without rel.  [default: 1]")
@options.chart("Also draw the bounds of each query, or for three or more runs all pairs")
@options.kind("pairs", "queries")
@options.by_query(help="The bounds of each query, of two runs.")
@options.duplicates
@options.drop_self
@options.collapse
@options.alpha
@options.places
@options.table_size
@options.output_format(help="Two runs: one row, or with -q one per query. More: one row per pair.")
def command(
    qrels: str,
    runs: tuple[str, ...],
    measure: str,
    labels: tuple[str, ...],
    conflicts: str,
    export_to: str | None,
    most: int | None,
    by_query: bool,
    output_format: str,
    **settings: Any,
) -> None:
    """Say which conclusions hold under all labels of unjudged documents, and what to judge next.

    All pairs of the runs in RUN..., files or folders, are compared.
    """
    from ..io.printed import Part, print_parts
    from ..io.runs import list_runs
    from ..judging.labels import qrels_with
    from ..unjudged.export import export
    from ..unjudged.holes import holes

    sources = options.take(settings, "docs", "topics", "texts")
    picture, force = options.take(settings, "chart", "title"), settings.pop("force")
    kind, shown = settings.pop("kind"), options.take(settings, "places", "wide", "all_rows")
    keep = _check(qrels, runs, labels, export_to, most, by_query, force, sources, picture)
    rules = {"conflicts": conflicts, "highest": settings["highest"]}
    merged = qrels_with(qrels, options.read_labels(labels), settings["duplicates"], **rules)
    found = holes(list_runs(runs), merged, measure, **settings)
    table = found.difference.by_query if by_query else found.table
    if by_query and sources["topics"]:
        texts = _texts(found, qrels, sources)([]).queries
        table.insert(1, "query", [texts.get(str(qid), "") for qid in table["qid"]])
    if output_format != "table":
        write(table, output_format, places=shown["places"])
    elif by_query:
        print_parts([*map(Part, found.sentences()), Part(table=table)], **shown)
    else:
        found.show(**shown)
    options.save_chart(partial(found.chart, kind), force=force, **picture)
    if export_to:
        texts_of = _texts(found, qrels, sources)
        size = export(found, export_to, most=most, texts=texts_of, force=force, keep=keep)
        click.echo(f"{export_to}: {counted(size, 'document')} to judge", err=True)


def _check(
    qrels: str,
    runs: tuple[str, ...],
    labels: tuple[str, ...],
    export_to: str | None,
    most: int | None,
    by_query: bool,
    force: bool,
    sources: Mapping[str, Any],
    picture: Mapping[str, Any],
) -> bool:
    """Checks that list and chart can be saved, and that no option is ignored.

    Returns:
        Whether the list is saved to a file of labels, which keeps its labels.
    """
    from ..unjudged.export import check_export

    for name, value in {"most": most, **sources}.items():
        if value is not None and not export_to and not (name == "topics" and by_query):
            raise click.UsageError(f"--{name} goes with --export")
    inputs = [*filter(None, (qrels, *runs, sources["docs"], sources["topics"]))]
    keep = any(Path(name).resolve() == Path(export_to or "").resolve() for name in labels)
    options.check_force(force, export_to, picture["chart"])
    if export_to:
        read = inputs if keep else [*inputs, *labels]
        check_export(export_to, inputs=read, force=force, keep=keep)
    options.check_chart(picture["chart"], [*inputs, *labels], force=force)
    return keep


def _texts(found: Holes, qrels: str, sources: Mapping[str, Any]) -> Callable[[list[str]], Texts]:
    """A function that returns texts of queries and of some documents, from files or ir_datasets."""
    from ..io.texts import Texts, read_texts

    docs, topics = sources["docs"], sources["topics"]
    return partial(
        Texts.of,
        None if topics is None else read_texts(topics, "query"),
        sources["texts"] or (None if Path(qrels).exists() else qrels),
        docs=None if docs is None else read_texts(docs, wanted=set(found.todo["docno"])),
        whole=True,
    )
