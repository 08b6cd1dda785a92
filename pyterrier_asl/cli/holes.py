"""``pyterrier-asl holes``.

\b
Examples:
  pyterrier-asl holes qrels.txt bm25.run dense.run -m ASL@100
  pyterrier-asl holes qrels.txt bm25.run dense.run -m ASL@100 --export todo.tsv
  pyterrier-asl holes qrels.txt bm25.run dense.run -m ASL@100 --labels todo.tsv
  pyterrier-asl holes qrels.txt bm25.run dense.run --labels my.jsonl --judge --docs docs.jsonl
  pyterrier-asl holes irds:vaswani bm25.run dense.run -m nDCG@10 --export todo.jsonl
  pyterrier-asl holes qrels.txt runs/ -m ASL@100 --chart pairs.html

\b
How to read it: unjudged documents count as not relevant; the bounds are the least and the greatest
A - B over all ways in which the unjudged documents that a run shows could be labelled.
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
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import epilog, options

if TYPE_CHECKING:
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
@options.repeated(
    "--labels",
    metavar="FILE",
    help="Labels of documents that QRELS does not judge; several files must agree.",
)
@click.option(
    "--conflicts",
    type=click.Choice(["error", "official"]),
    default="error",
    show_default=True,
    help="Where a label contradicts an official grade: stop, or leave the label out.",
)
@options.switch(
    "--judge",
    help="Ask for labels here, a key for each; they are added to the last --labels, JSON lines.",
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
@click.option(
    "--highest",
    type=click.FloatRange(min=0),
    help="The best grade that a label can give in nDCG.  [default: the best of QRELS]",
)
@options.text_option(
    "--texts", "ID", "Collection of ir_datasets with the texts.  [default: QRELS, where it is one]"
)
@options.text_option("--docs", "FILE", "Texts of documents: JSON lines, or lines docno<TAB>text.")
@options.text_option("--topics", "FILE", "Texts of queries: lines qid<TAB>query, or JSON lines.")
@options.rel("Least grade of a relevant document, if the measure does not say it.  [default: 1]")
@options.switch("--likely", help="How likely A is better, under a model.")
@options.chart("Draw the matrix of all pairs")
@options.by_query("The bounds of each query.")
@options.duplicates
@options.alpha
@options.places
@options.output_format("Two runs: a row, or a row a query with -q. More: a row a pair.")
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
    duplicates: str,
    places: int,
    output_format: str,
    by_query: bool,
    likely: bool,
    **given: Any,
) -> None:
    """Say which conclusions hold whatever the unjudged documents are, and what to judge next.

    Two runs are compared with each other; a folder, or more runs, in all pairs.
    """
    from ..charts.saving import check_path
    from ..io.runs import list_runs
    from ..io.tables import write
    from ..unjudged.export import check_export
    from ..unjudged.holes import holes
    from ..unjudged.pairs import all_pairs

    read = [name for name in (qrels, *runs, others, given["docs"], given["topics"]) if name]
    keep = export_to is not None and any(_is_same_file(export_to, name) for name in labels)
    if export_to:
        inputs = read if keep else [*read, *labels]
        check_export(export_to, form, inputs=inputs, force=force, keep=keep)
    if chart:
        check_path(chart, inputs=[*read, *labels], force=force)
    if judge:
        _check_judge(labels)
    of_labels = {name: given.pop(name) for name in ("docs", "topics", "texts", "most")}
    judgements = _judgements(qrels, labels, conflicts, judge, given["highest"], duplicates)
    _hint(judgements, measure, given["rel"])
    named = list_runs(runs)
    if len(named) < 2:
        raise click.UsageError("holes compares runs with each other: give two or more")
    if len(named) != 2:
        if export_to or by_query or likely or judge:
            raise click.UsageError("--export, --judge, --likely and -q take two runs")
        pairs = all_pairs(named, judgements, measure, **given)
        write(pairs.pairs, output_format, places=places)
        _end_of_pairs(pairs, chart, width=width, title=title, force=force)
        return
    if chart:
        raise click.UsageError("--chart draws all pairs of three runs or more")
    (a, run_a), (b, run_b) = named.items()
    pair = holes(run_a, run_b, judgements, measure, runs=others, names=(a, b), **given)
    label = _Labelling(pair, qrels, **of_labels) if judge or export_to else None
    if label and judge:
        pair = label.ask(labels[-1], conflicts)
    write(pair.difference.by_query if by_query else pair.row(), output_format, places=places)
    if output_format == "table":
        click.echo(pair.describe())
    if likely:
        click.echo(pair.likely().sentence(a))
    if label and export_to:
        label.export(pair, export_to, form=form, force=force, keep=keep)


def _end_of_pairs(pairs: AllPairs, chart: str | None, **options: Any) -> None:
    """Counts the pairs on the standard error stream, and saves the chart."""
    from ..charts.saving import save_chart

    click.echo(pairs.describe(), err=True)
    if chart:
        save_chart(pairs.chart(), chart, **options)


class _Labelling:
    """What to judge next, at the terminal or in a file, with texts where they are known."""

    def __init__(
        self,
        pair: Holes,
        qrels: str,
        *,
        docs: str | None,
        topics: str | None,
        texts: str | None,
        most: int | None,
    ) -> None:
        from ..io.texts import read_texts

        self.pair, self.most = pair, most
        self.collection = texts or (None if Path(qrels).exists() else qrels)
        self.queries = None if topics is None else read_texts(topics, "query")
        shown = set() if docs is None else set(pair.todo["docno"])
        self.documents = None if docs is None else read_texts(docs, wanted=shown)

    def texts(self, docnos: list[str]) -> Texts:
        """The texts of documents and of all queries."""
        from ..io.texts import Texts

        return Texts.of(self.queries, self.collection, docnos, docs=self.documents, whole=True)

    def ask(self, path: str, conflicts: str) -> Holes:
        """Asks at the terminal; the comparison with the answers, which are in a file."""
        from ..io.tables import counted
        from ..unjudged.loop import Round
        from .labelling import label_at_terminal, terminal_keys

        round_ = Round(self.pair, path, source="terminal", conflicts=conflicts)
        with terminal_keys() as read_key:
            ended = label_at_terminal(round_, texts=self.texts, most=self.most, read_key=read_key)
        added = counted(len(round_.rows()), "label")
        click.echo(f"{path}: {added} added ({ended})", err=True)
        return round_.holes

    def export(self, pair: Holes, path: str, **options: Any) -> None:
        """Saves a list to fill in."""
        from ..unjudged.export import export

        written = export(pair, path, most=self.most, texts=self.texts, **options)
        click.echo(f"{path}: {written} documents to judge", err=True)


def _judgements(
    qrels: str,
    labels: tuple[str, ...],
    conflicts: str,
    judge: bool,
    highest: float | None,
    duplicates: str,
) -> Judgements:
    """The judgements with all labels; a file for answers may not be there yet."""
    from ..judging.judgements import Judgements
    from ..unjudged.labels import merge_labels

    there = [name for name in labels if not judge or name != labels[-1] or Path(name).exists()]
    if not there:
        return Judgements.of(qrels, duplicates)
    merged = merge_labels(qrels, there, conflicts=conflicts, highest=highest)
    return Judgements.of(merged, duplicates)


def _hint(judgements: Judgements, measure: str, rel: float | None) -> None:
    from ..evaluation.grades import grades_hint
    from ..measures.names import named_measures

    hint = grades_hint(judgements.grades, named_measures(measure), rel=rel)
    if hint:
        click.echo(f"Hint: {hint}", err=True)


def _is_same_file(path: str, other: str) -> bool:
    return Path(path).exists() and Path(other).exists() and Path(path).samefile(other)


def _check_judge(labels: tuple[str, ...]) -> None:
    """That somebody can be asked, and that there is a file for the answers."""
    if not labels:
        raise click.UsageError("--judge needs --labels FILE.jsonl, to which answers are added")
    if not sys.stdin.isatty():
        raise click.UsageError(
            "--judge asks at a terminal, and the standard input is none: use --export"
        )
