"""``pyterrier-asl report``."""

from __future__ import annotations

import click

from . import options

EPILOG = """\b
Examples:
  pyterrier-asl report qrels.txt runs/ -o report.html
  pyterrier-asl report irds:vaswani a.run b.run -o report.html --dataset irds:vaswani
  pyterrier-asl report dl20.qrels runs/ --rel 2 --topics topics.tsv -o dl20.html
  pyterrier-asl report qrels.txt runs/ -m 'LexiP ASL@100 AP' --test t -o report.html

\b
The page is one file that opens without a network. The same input makes the same file.
It needs Altair and vl-convert: pip install 'pyterrier-asl[report]'."""


@click.command(name="report", epilog=EPILOG)
@options.qrels
@options.runs
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The HTML file to write, or to replace."
)
@options.measures(
    "as 'evaluate' takes them; the first decides who is best. Default: ours, and AP, nDCG@10, RR, "
    "R@1000, Judged@10."
)
@options.rel(
    "Least grade of a relevant document.  [default: 1, or what an ir_datasets id says]"
)
@click.option(
    "-k",
    "--depth",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="How deep every ranking is looked at.",
)
@click.option("--topics", metavar="TSV", help="Lines of query id and query, between them a tab.")
@click.option(
    "--dataset", metavar="irds:ID", help="ir_datasets collection with the texts to be shown."
)
@click.option("--title", help="The heading.  [default: how many systems, and QRELS]")
@click.option("--note", default="", help="A line at the end, such as a date.")
@click.option(
    "--test",
    default="tukey-two-way",
    show_default=True,
    help="Of which systems differ: tukey, tukey-two-way, tukey-randomized, or t, wilcoxon, sign, "
    "randomization with Holm's correction.",
)
@options.alpha
@options.lengths
@options.groups
@click.option(
    "--stability",
    is_flag=True,
    help="How many pairs each measure tells apart, and how stable they are on half of the topics.",
)
def command(
    qrels: str,
    runs: tuple[str, ...],
    output: str,
    measures: tuple[str, ...],
    rel: float | None,
    depth: int,
    topics: str | None,
    dataset: str | None,
    title: str | None,
    note: str,
    test: str,
    alpha: float,
    lengths: str | None,
    groups: str | None,
    stability: bool,
) -> None:
    """Make a page about runs: who is best, who differs, and where relevant documents are lost.

    QRELS is a file, or the id of an ir_datasets dataset with judgements; RUN are files (plain or
    compressed) or folders of them.
    """
    from pathlib import Path

    from .. import run_files
    from ..reporting import report

    if not Path(output).absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder to write {output} in", param_hint="-o")
    try:
        made = report(
            list(run_files.find_runs(runs).values()), qrels, list(measures) or None,
            topics=topics, dataset=dataset, title=title, note=note, rel=rel, cutoff=depth,
            alpha=alpha, test=test, lengths=lengths, stability=stability,
            groups=run_files.read_groups(groups) if groups else None,
        )  # fmt: skip
    except ImportError as error:
        raise click.ClickException(str(error)) from error
    made.save(output)
    click.echo(f"{output}: {made!r}")
