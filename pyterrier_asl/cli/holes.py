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
B - A over all labels of the unjudged documents in the rankings of these runs.
  A, B      settled: the run of column a, or of column b, is better under all labels
  equal     settled: the runs are equal under all labels
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

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..common.notices import counted
from ..judging.qrels import merge_labels
from ..printing.tables import write
from ..unjudged import holes as library
from . import epilog, options, outputs, print_notes


@click.command(name="holes", cls=outputs.Command, epilog=epilog(__doc__))
@options.qrels
@options.runs
@options.of(
    library.holes,
    measure={
        "help": "P, R, RR, Success, AP, nDCG, RBP(rel=...), ASL, nASL, LexiP, TBG or a rareness "
        "measure.",
        "required": False,
        "default": "nDCG@10",
    },
    depth={"help": "Label down to this rank, if deeper.", "none": None},
)
@options.matching
@options.of(merge_labels, "conflicts")
@click.option(
    "--export",
    "export_to",
    metavar="FILE",
    help="Save the documents to judge next. If FILE is also given by --labels, its labels stay.",
)
@click.option("--most", type=options.NUMBER, metavar="N", help="Export N documents at most.")
@click.option(
    "--dataset",
    metavar="irds:ID",
    help="Collection of ir_datasets with the texts.  [default: QRELS, if it is one]",
)
@options.docs
@options.topics
@outputs.show("pairs", "queries", help="queries: the bounds of each query, of two runs.")
@outputs.chart("Also draw the bounds of each query, or for three or more runs all pairs")
@outputs.places
@outputs.table_size
@outputs.output("Two runs: one row, or with -q one per query. More: one row per pair.")
def command(
    qrels: str,
    runs: tuple[str, ...],
    measure: str,
    labels: tuple[str, ...],
    export_to: str | None,
    show: str | None,
    form: str,
    force: bool,
    **values: Any,
) -> None:
    """Say which conclusions hold under all labels of unjudged documents, and what to judge next.

    All pairs of the runs in RUN..., files or folders, are compared.
    """
    from ..io.runs import list_runs
    from ..io.texts import Texts
    from ..printing.printed import Part, print_parts
    from ..unjudged.export import export

    by_query = show == "queries"
    keep = _check(labels, export_to, by_query, force, values)
    named = list_runs(options.runs_of(runs))
    if by_query and len(named) > 2:
        raise click.UsageError(f"-q is for two runs, not {len(named)}: name two of them")
    style = outputs.style()
    settings = options.given("measure")
    of_labels = options.take(settings, "conflicts")
    judged_by = options.qrels_of(qrels)
    if labels:
        judged_by = judged_by.merged_by(highest=settings.get("highest"), **of_labels)
    elif of_labels:
        raise click.UsageError("--conflicts goes with --labels")
    found = library.holes(named, judged_by, measure, **settings)
    table = found.difference.by_query if by_query else found.table
    dataset = values["dataset"] or (None if Path(qrels).exists() else qrels)
    texts_of = partial(Texts.of, values["topics"], dataset, docs=values["docs"], whole=True)
    if by_query and values["topics"]:
        texts = texts_of().queries
        table.insert(1, "query", [texts.get(str(qid), "") for qid in table["qid"]])
    if form != "table":
        write(table, form, **style)
    elif by_query:
        notes = ["", *found.notes] if found.notes else []
        print_parts([*map(Part, found.sentences()), Part(table=table), *map(Part, notes)], **style)
    else:
        found.show(**style)
    print_notes(found.notes, form)
    outputs.save_chart(partial(found.chart, show))
    if export_to:
        size = export(found, export_to, most=values["most"], texts=texts_of, force=force, keep=keep)
        click.echo(f"{export_to}: {counted(size, 'document')} to judge", err=True)


def _check(
    labels: tuple[str, ...],
    export_to: str | None,
    by_query: bool,
    force: bool,
    values: Mapping[str, Any],
) -> bool:
    """Checks that list and chart can be saved, and that no option is ignored.

    Returns:
        Whether the list is saved to a file of labels, which keeps its labels.
    """
    from ..unjudged.export import check_export

    for name in () if export_to else ("most", "docs", "topics", "dataset"):
        if values[name] is not None and not (name == "topics" and by_query):
            raise click.UsageError(f"--{name} goes with --export")
    keep = any(Path(name).resolve() == Path(export_to or "").resolve() for name in labels)
    if export_to:
        check_export(
            export_to,
            inputs=[name for name in options.inputs() if not (keep and name in labels)],
            force=force,
            keep=keep,
        )
    outputs.check_chart()
    return keep
