"""``pyterrier-asl compare``."""

from __future__ import annotations

import click

from . import options

EPILOG = """\b
Examples:
  pyterrier-asl compare qrels.txt bm25.run dense.run
  pyterrier-asl compare qrels.txt bm25.run dense.run -m 'AP ASL@1000' --test wilcoxon
  pyterrier-asl compare qrels.txt bm25.run dense.run -m LexiP -q -o tsv > queries.tsv
  pyterrier-asl compare qrels.txt live.run new.run --fail-if 'nASL@1000 worse p<.05'
  pyterrier-asl compare qrels.txt live.run new.run \\
      --fail-if 'nDCG@10 worse by 2%' --fail-if 'sgnLP worse p<.01'

\b
How to read it: RUN_A is the baseline, RUN_B is judged against it.
  B - A      what RUN_B changes; for ASL, where less is better, below 0 is a gain
  from, to   its confidence interval; one that holds 0 leaves the direction open
  wins       queries in which RUN_B is better
  rrLP       lexicographic precision: 1/rank of the first relevant document, or of the second
             where the first is equal, and so on, B's less A's; above 0 prefers B
  sgnLP      the share of queries that prefer B less the share of those that prefer A

\b
Conditions (--fail-if): MEASURE better|worse|lower|higher|different [by AMOUNT] [p<LEVEL]
  'worse' knows that less ASL is better; measures, rrLP and sgnLP can be named
  'by .02' is at least .02, 'by 2%' at least 2 % of RUN_A's value; without, any difference
  p is two-sided, corrected over the conditions that have one, whatever else is shown

\b
Exit status: 0, compared, and no condition holds; 1, one holds, or something failed; 2, what
was asked or given cannot be used."""


@click.command(name="compare", epilog=EPILOG)
@options.qrels
@click.argument("run_a", metavar="RUN_A")
@click.argument("run_b", metavar="RUN_B")
@options.measures(
    "as 'evaluate' takes them; rrLP and sgnLP always stand beside them. Default: as of 'evaluate'."
)
@click.option(
    "--fail-if",
    "conditions",
    multiple=True,
    metavar="CONDITION",
    help="Exit with 1 if it holds, such as 'nASL@1000 worse p<.05' (below); can be given again.",
)
@click.option(
    "-t",
    "--test",
    type=click.Choice(["t", "wilcoxon", "sign", "randomization"]),
    default="t",
    show_default=True,
    help="Two-sided test for pairs. sgnLP always has the sign test.",
)
@click.option(
    "--correction",
    type=click.Choice(["holm", "bonferroni", "bh", "none"]),
    default="holm",
    show_default=True,
    help="Of p-values, over all measures and preferences shown (bh: Benjamini and Hochberg).",
)
@options.alpha
@click.option("--seed", default=0, show_default=True, help="Seed of the randomization test.")
@click.option("-q", "--by_query", is_flag=True, help="Each query's differences, too.")
@click.option(
    "--moved",
    type=click.IntRange(min=0),
    metavar="N",
    help="The N relevant documents whose search length changed most.  [default: 5 in a table]",
)
@options.places
@options.output_format(
    "All but table are a row for each measure; with -q for each query and measure; with --moved "
    "for each document. tsv begins with the names of the columns."
)
@options.rel(
    "Least grade of a relevant document, for preferences, and measures that do not say.  "
    "[default: 1]"
)
@options.pool("the two runs.")
@options.lengths
def command(
    qrels: str,
    run_a: str,
    run_b: str,
    measures: tuple[str, ...],
    conditions: tuple[str, ...],
    test: str,
    correction: str,
    alpha: float,
    seed: int,
    by_query: bool,
    moved: int | None,
    places: int,
    output_format: str,
    rel: float | None,
    pool: str | None,
    lengths: str | None,
) -> None:
    """Compare RUN_B with RUN_A, the baseline: means, tests, preferences, queries, documents.

    With --fail-if the exit status says whether RUN_B is worse, so that the command can guard a
    search engine's tests. QRELS is a file, or the id of an ir_datasets dataset.
    """
    from .. import comparison, comparison_tables

    if by_query and moved is not None and output_format != "table":
        raise click.UsageError(f"-q and --moved are two tables: -o {output_format} has one")
    compared = comparison.compare_runs(
        qrels, run_a, run_b, measures,
        conditions=conditions,
        options=comparison.Options(
            test, None if correction == "none" else correction, alpha, seed
        ),
        pool=pool,
        lengths=lengths,
        rel=rel,
    )  # fmt: skip
    comparison_tables.write(
        compared, output_format, places=places, by_query=by_query, moved=moved
    )
    if compared.hint:
        click.echo(f"Hint: {compared.hint}", err=True)
    verdicts = compared.verdicts()
    for _, line in verdicts:
        click.echo(line, err=True)
    if any(holds for holds, _ in verdicts):
        raise click.exceptions.Exit(1)
