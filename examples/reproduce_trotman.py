"""The numbers of the figures and the table of Trotman and Keeler (2011), for any runs and judges.

    python examples/reproduce_trotman.py runs qrels.txt --judge alt1=alt1.txt --system bm25
    python examples/reproduce_trotman.py runs qrels.txt --types runs_table.tsv

RUNS is a folder of run files. QRELS are the judgements of the original judge, a file or an
ir_datasets id. The file of ``--types`` has tab-separated columns run and type (manual or
automatic).
"""

from __future__ import annotations

import click
import pandas as pd
from published import NOT_PUBLIC, help_of, show, side_by_side, track_option

from pyterrier_asl.analysis import (
    Evaluation,
    assessor_scores,
    compare_with_assessors,
    human_range,
    satisfaction,
)


def by_name(pairs: tuple[str, ...], what: str) -> dict[str, str]:
    """name=value pairs as a dict."""
    wrong = [pair for pair in pairs if "=" not in pair]
    if wrong:
        raise click.UsageError(f"give {what} as name=value, not {wrong[0]!r}")
    return dict(pair.split("=", 1) for pair in pairs)


@click.command(help=help_of(__doc__))
@click.argument("runs")
@click.argument("qrels")
@click.option(
    "--judge", "judges", multiple=True, metavar="NAME=QRELS", help="The qrels of another judge."
)
@click.option("--system", help="The run to compare; by default the best automatic run.")
@click.option("--types", type=click.Path(exists=True), help="Table of runs and their types.")
@click.option("--rel", default=1.0, show_default=True, help="Minimum grade of a relevant document.")
@click.option(
    "--judge-rel", "least", multiple=True, metavar="NAME=GRADE", help="The minimum of this judge."
)
@track_option("Trotman")
def main(
    runs: str,
    qrels: str,
    judges: tuple[str, ...],
    system: str | None,
    types: str | None,
    rel: float,
    least: tuple[str, ...],
    track: str | None,
) -> None:
    judged = Evaluation.of(runs, qrels)
    others = by_name(judges, "judges")
    grades = {name: float(grade) for name, grade in by_name(least, "grades").items()}
    table = pd.read_csv(types, sep="\t", dtype=str) if types else None
    options = {
        "judges": others,
        "rel": rel,
        "judge_rel": {**dict.fromkeys(others, rel), **grades},
    }
    ranges = (
        human_range(judged, system=system, run_types=table, **options)
        if (others or table is not None)
        else pd.DataFrame()
    )
    bar = system or (ranges["bar_run"].iloc[0] if len(ranges) else judged.names[0])
    curves = satisfaction(judged.select([bar]), **options)
    show(
        "Figures 1 and 3. S@n",
        curves.pivot(index="system", columns="n", values="S@n").reset_index(),
        4,
    )
    if len(ranges):
        show("Figure 2. The range of human scores and the score of the system", ranges, 4)
    if others:
        scores = assessor_scores(qrels, others, rel=rel, judge_rel=options["judge_rel"])
        show("MAP of judges, from the worst order to the best", scores, 4)
        tests = compare_with_assessors(judged.select([bar]), **options)
        cells = {f"{row.bound}, {row.judge}": row.p for row in tests.itertuples()}
        title = f"Table 1. p of {bar} against each judge, as published (not corrected)"
        show(title, side_by_side("Trotman, Table 1", track, cells, NOT_PUBLIC), 4)
        corrected = tests.pivot(index="bound", columns="judge", values="p_corrected")
        show(f"The same, Holm over {tests.attrs['family']}", corrected.reset_index(), 4)


if __name__ == "__main__":
    main()
