"""The command ``holes``: what unjudged documents could change, and what to judge next.

\b
Examples:
  pyterrier-asl holes qrels.txt bm25.run dense.run -m ASL@100
  pyterrier-asl holes qrels.txt bm25.run dense.run -m ASL@100 --export todo.tsv
  pyterrier-asl holes qrels.txt bm25.run dense.run -m ASL@100 --labels todo.tsv
  pyterrier-asl holes irds:vaswani bm25.run dense.run -m nDCG@10 --export todo.jsonl
  pyterrier-asl holes qrels.txt runs/ -m ASL@100 --chart pairs.html

\b
How to read it: unjudged documents count as not relevant. The bounds are the lowest and the highest
A - B over all labels of the unjudged documents in the compared rankings.
  settled   the same run is better under all labels
  open      another run is better under some labels, however likely they are
  certain   the t-test is significant under all labels; impossible: under none

\b
What to judge: --export saves a list to fill in, as JSON lines (.jsonl) or as a table. --labels
reads it, or qrels, and merges the labels with the qrels, whose grades do not change. --labels F
--export F keeps the labels of F and lists the documents that are open now.
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
    import pandas as pd

    from ..io.texts import Texts
    from ..unjudged.holes import Holes
    from ..unjudged.pairs import AllPairs


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
@options.text_option("--others", "FOLDER", "Runs whose unjudged documents could also be relevant.")
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
@options.by_query(help="The bounds of each query.")
@options.duplicates
@options.drop_self
@options.alpha
@options.places
@options.output_format(help="Two runs: one row, or with -q one per query. More: one row per pair.")
def command(
    qrels: str,
    runs: tuple[str, ...],
    measure: str,
    labels: tuple[str, ...],
    conflicts: str,
    export_to: str | None,
    by_query: bool,
    duplicates: str | None,
    **settings: Any,
) -> None:
    """Say which conclusions hold under all labels of unjudged documents, and what to judge next.

    Two runs are compared with each other; a folder, or more runs, in all pairs.
    """
    from ..io.runs import list_runs
    from ..judging.judgements import Judgements
    from ..judging.labels import qrels_with
    from ..unjudged.export import export
    from ..unjudged.holes import holes
    from ..unjudged.pairs import all_pairs

    of_list = options.take(settings, "most", "docs", "topics", "texts")
    picture = options.take(settings, "chart", "title")
    printed = options.take(settings, "output_format", "places")
    others, force, most = settings.pop("others"), settings.pop("force"), of_list["most"]
    if given := [name for name, value in of_list.items() if value is not None]:
        if not export_to:
            raise click.UsageError(f"--{given[0]} goes with --export")
    inputs = filter(None, (qrels, *runs, others, of_list["docs"], of_list["topics"]))
    keep = _check_outputs([*inputs], labels, export_to, force, picture)
    rules = {"conflicts": conflicts, "highest": settings["highest"]}
    merged = qrels_with(qrels, options.read_labels(labels), duplicates, **rules)
    judgements = Judgements.of(merged, duplicates, settings.pop("drop_self"))
    named = list_runs(runs)
    if len(named) < 2:
        raise click.UsageError("holes compares runs with each other: give two or more")
    if len(named) > 2:
        if export_to or by_query or others:
            raise click.UsageError("--export, --others and -q take two runs")
        matrix = all_pairs(named, judgements, measure, **settings)
        _print(matrix, matrix.table, **printed)
        options.save_chart(matrix.chart, force=force, **picture)
        return
    (a, run_a), (b, run_b) = named.items()
    pair = holes(run_a, run_b, judgements, measure, runs=others, names=(a, b), **settings)
    _print(pair, pair.difference.by_query if by_query else pair.table, **printed)
    options.save_chart(pair.chart, force=force, **picture)
    if export_to:
        texts = _texts(pair, qrels, of_list)
        size = export(pair, export_to, most=most, texts=texts, force=force, keep=keep)
        click.echo(f"{export_to}: {counted(size, 'document')} to judge", err=True)


def _print(result: Holes | AllPairs, table: pd.DataFrame, output_format: str, places: int) -> None:
    """Prints the answer and a table; in machine-readable forms the table alone."""
    from ..io.printed import Part, print_parts

    if output_format != "table":
        write(table, output_format, places=places)
    elif "qid" not in table:
        result.show(places=places)
    else:
        print_parts([*map(Part, result.sentences()), Part(table=table)], places=places)


def _texts(pair: Holes, qrels: str, sources: Mapping[str, Any]) -> Callable[[list[str]], Texts]:
    """A function that returns texts of queries and of some documents, from files or ir_datasets."""
    from ..io.texts import Texts, read_texts

    docs, topics = sources["docs"], sources["topics"]
    return partial(
        Texts.of,
        None if topics is None else read_texts(topics, "query"),
        sources["texts"] or (None if Path(qrels).exists() else qrels),
        docs=None if docs is None else read_texts(docs, wanted=set(pair.todo["docno"])),
        whole=True,
    )


def _check_outputs(
    inputs: list[str],
    labels: tuple[str, ...],
    path: str | None,
    force: bool,
    picture: Mapping[str, Any],
) -> bool:
    """Checks that list and chart can be saved.

    Returns:
        Whether the list is saved to a file of labels, which keeps its labels.
    """
    from ..unjudged.export import check_export

    keep = any(Path(name).resolve() == Path(path or "").resolve() for name in labels)
    options.check_force(force, path, picture["chart"])
    if path:
        read = inputs if keep else [*inputs, *labels]
        check_export(path, inputs=read, force=force, keep=keep)
    options.check_chart(picture["chart"], [*inputs, *labels], force=force)
    return keep
