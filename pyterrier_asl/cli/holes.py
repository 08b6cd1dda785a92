"""The command ``holes``: what unjudged documents could change, and what to judge next.

\b
Examples:
  pyterrier-asl holes qrels.txt bm25.run dense.run -m ASL@100
  pyterrier-asl holes qrels.txt bm25.run dense.run -m ASL@100 --export todo.tsv
  pyterrier-asl holes qrels.txt bm25.run dense.run -m ASL@100 --labels todo.tsv
  pyterrier-asl holes qrels.txt bm25.run dense.run --labels my.jsonl --judge --docs docs.jsonl
  pyterrier-asl holes irds:vaswani bm25.run dense.run -m nDCG@10 --export todo.jsonl
  pyterrier-asl holes qrels.txt runs/ -m ASL@100 --chart pairs.html

\b
How to read it: unjudged documents count as not relevant. The bounds are the least and the greatest
A - B over all labels of the unjudged documents in the two rankings.
  settled   all labellings agree on which run is better
  open      some labelling would turn the result; this does not say that it is likely
  certain   the t-test is significant under every labelling; impossible: under none

\b
What to judge: --judge asks at the terminal, and goes on where it was interrupted. --export saves
a list to fill in: a table (.tsv), JSON lines (.jsonl), UMBRELA's requests (.umbrela), or qrels.
Labels come back by --labels, in any of these forms: they are merged with the judgements, whose
grades stay as they are. --labels F --export F keeps the labels of F and lists what is open now.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import epilog, options

if TYPE_CHECKING:
    import pandas as pd

    from ..io.texts import Texts
    from ..judging.judgements import Judgements
    from ..unjudged.holes import Holes
    from ..unjudged.pairs import AllPairs


@click.command(name="holes", epilog=epilog(__doc__))
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
@options.switch(
    "--judge",
    help="Ask for labels at the terminal; they are added to the last --labels, JSON lines.",
)
@click.option(
    "--export",
    "export_to",
    metavar="FILE",
    help="Save the documents to judge next; labels in FILE stay, if it is a --labels as well.",
)
@click.option(
    "--form",
    type=click.Choice(["tsv", "jsonl", "umbrela", "trec"]),
    help="Form of the exported file.  [default: by its ending]",
)
@click.option(
    "--most", type=options.NUMBER, metavar="N", help="Export, or ask for, N documents at most."
)
@options.force
@options.text_option("--others", "FOLDER", "Runs whose unjudged documents could be relevant, too.")
@click.option("--depth", type=options.NUMBER, help="Label down to this rank, if deeper.")
@options.highest
@options.text_option(
    "--texts", "ID", "Collection of ir_datasets with the texts.  [default: QRELS, where it is one]"
)
@options.docs
@options.topics
@options.rel(
    help="Least grade of a relevant document, if the measure does not say it.  [default: 1]"
)
@options.switch("--likely", help="How likely A is better, under a model.")
@options.chart("Draw the bounds of each query; of three runs or more the matrix of all pairs")
@options.by_query(help="The bounds of each query.")
@options.duplicates
@options.drop_self
@options.alpha
@options.places
@options.output_format(help="Two runs: a row, or with -q a row per query. More: a row per pair.")
def command(
    qrels: str,
    runs: tuple[str, ...],
    measure: str,
    labels: tuple[str, ...],
    conflicts: str,
    judge: bool,
    export_to: str | None,
    form: str | None,
    others: str | None,
    force: bool,
    chart: str | None,
    width: str | None,
    title: bool,
    duplicates: str | None,
    places: int,
    output_format: str,
    by_query: bool,
    likely: bool,
    **settings: Any,
) -> None:
    """Say which conclusions hold under all labels of unjudged documents, and what to judge next.

    Two runs are compared with each other; a folder, or more runs, in all pairs.
    """
    from ..io.runs import list_runs
    from ..io.tables import counted
    from ..judging.judgements import Judgements
    from ..unjudged.export import export
    from ..unjudged.holes import holes
    from ..unjudged.pairs import all_pairs

    of_lists = {name: settings[name] for name in ("most", "docs", "topics", "texts")}
    if not judge and not export_to:
        for name, value in {**of_lists, "form": form}.items():
            if value is not None:
                raise click.UsageError(f"--{name} goes with --judge or --export")
    inputs = [name for name in (qrels, *runs, others, settings["docs"], settings["topics"]) if name]
    keep = _check_outputs(
        inputs, labels, judge=judge, path=export_to, form=form, chart=chart, force=force
    )
    most, *texts_of = [settings.pop(name) for name in of_lists]
    judgements = _judgements(qrels, labels, conflicts, judge, settings["highest"], duplicates)
    judgements = Judgements.of(judgements, drop_self=settings.pop("drop_self"))
    _print_hint(judgements, measure, settings["rel"])
    named = list_runs(runs)
    if len(named) < 2:
        raise click.UsageError("holes compares runs with each other: give two or more")
    if len(named) != 2:
        if export_to or by_query or likely or judge or others:
            raise click.UsageError("--export, --judge, --likely, --others and -q take two runs")
        matrix = all_pairs(named, judgements, measure, **settings)
        _print(matrix, matrix.table, output_format, places)
        options.save_chart(matrix.chart, chart, width=width, title=title, force=force)
        return
    (a, run_a), (b, run_b) = named.items()
    pair = holes(run_a, run_b, judgements, measure, runs=others, names=(a, b), **settings)
    texts = _texts(pair, qrels, *texts_of) if judge or export_to else None
    if judge:
        pair = _ask(pair, labels[-1], texts, most, conflicts)
    _print(pair, pair.difference.by_query if by_query else pair.table, output_format, places)
    options.save_chart(pair.chart, chart, width=width, title=title, force=force)
    if likely:
        click.echo(pair.likely().sentence(a))
    if export_to:
        size = export(pair, export_to, form=form, most=most, texts=texts, force=force, keep=keep)
        click.echo(f"{export_to}: {counted(size, 'document')} to judge", err=True)


def _print(result: Holes | AllPairs, table: pd.DataFrame, form: str, places: int) -> None:
    """Prints the answer, then a table; for programs the table alone."""
    from ..io.printed import Part, print_parts
    from ..io.tables import write

    if form != "table":
        write(table, form, places=places)
    elif "qid" not in table:
        result.show(places=places)
    else:
        print_parts([*map(Part, result.sentences()), Part(table=table)], places=places)


def _texts(
    pair: Holes, qrels: str, docs: str | None, topics: str | None, dataset: str | None
) -> Callable[[list[str]], Texts]:
    """A function that returns texts of queries and of some documents, from files or ir_datasets."""
    from ..io.texts import Texts, read_texts

    return partial(
        Texts.of,
        None if topics is None else read_texts(topics, "query"),
        dataset or (None if Path(qrels).exists() else qrels),
        docs=None if docs is None else read_texts(docs, wanted=set(pair.todo["docno"])),
        whole=True,
    )


def _ask(pair: Holes, path: str, texts: Any, most: int | None, conflicts: str) -> Holes:
    """Asks for labels at the terminal; the comparison with the labels, which are in the file."""
    from ..io.tables import counted
    from ..unjudged.loop import Round
    from .labelling import label_at_terminal, terminal_keys

    round_ = Round(pair, path, source="terminal", conflicts=conflicts)
    with terminal_keys() as read_key:
        ended = label_at_terminal(round_, texts=texts, most=most, read_key=read_key)
    click.echo(f"{path}: {counted(len(round_.rows()), 'label')} added ({ended})", err=True)
    return round_.holes


def _judgements(
    qrels: str,
    labels: tuple[str, ...],
    conflicts: str,
    judge: bool,
    highest: float | None,
    duplicates: str | None,
) -> Judgements:
    """The judgements with all labels; the file of --judge may not exist yet."""
    from ..judging.judgements import Judgements
    from ..judging.labels import qrels_with

    files = [name for name in labels if not judge or name != labels[-1] or Path(name).exists()]
    read = options.read_labels(files)
    merged = qrels_with(qrels, read, duplicates, conflicts=conflicts, highest=highest)
    return Judgements.of(merged, duplicates)


def _print_hint(judgements: Judgements, measure: str, rel: float | None) -> None:
    """Prints a hint where grades above 1 exist and nothing says which are relevant."""
    from ..evaluation.inputs import grades_hint
    from ..measures.names import named_measures

    if hint := grades_hint(judgements.grades, named_measures(measure), rel=rel):
        click.echo(f"Hint: {hint}", err=True)


def _check_outputs(
    inputs: list[str],
    labels: tuple[str, ...],
    *,
    judge: bool,
    path: str | None,
    form: str | None,
    chart: str | None,
    force: bool,
) -> bool:
    """Checks that labels can be asked for, and list and chart saved.

    Returns:
        Whether the list is saved to a file of labels, which stay.
    """
    from ..io.atomic import check_replaceable
    from ..unjudged.export import check_export

    keep = any(Path(name).resolve() == Path(path or "").resolve() for name in labels)
    if path:
        read = inputs if keep else [*inputs, *labels]
        check_export(path, form, inputs=read, force=force, keep=keep)
    options.check_chart(chart, [*inputs, *labels], force=force)
    if judge and not labels:
        raise click.UsageError("--judge needs --labels FILE.jsonl, to which answers are added")
    if judge:
        check_replaceable(labels[-1], inputs=inputs, force=True)
    if judge and not sys.stdin.isatty():
        raise click.UsageError(
            "--judge asks at a terminal, and the standard input is none: use --export"
        )
    return keep
