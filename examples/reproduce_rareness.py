"""The tables and figures of Türkmen, Lease and Kutlu, New Metrics, for a folder of runs.

    python examples/reproduce_rareness.py trec8-adhoc/runs trec8-adhoc/qrels.txt.gz --query 431 \\
        --table trec8-adhoc/runs_table.tsv --charts figures

RUNS is a folder of run files, QRELS a file or an ir_datasets id. ``--table`` is a file of
tab-separated columns run, group and type, for rareness counted over the runs of one type, and
without a run's own group. ``--charts`` saves the figures as HTML and needs pyterrier-asl[charts].
Tables 1 to 3 are printed as published, and Table 1 by a test that holds what it says, too.
"""

from __future__ import annotations

from pathlib import Path

import click
import pandas as pd

from pyterrier_asl.analysis import (
    Evaluation,
    agreement_by_alpha,
    agreement_by_number_of_systems,
    agreement_of_pools,
    discriminative_power,
    pools_by,
    rare_documents,
    rareness_by_pool,
    stability,
    synthetic_systems,
    without_own_group,
)


def show(title: str, frame: pd.DataFrame, digits: int = 3) -> None:
    """Prints a table under its title."""
    click.echo(f"\n{title}\n{frame.round(digits).to_string(index=False)}")


def tables(runs: Evaluation, query: str, seed: int) -> None:
    """Tables 1 to 4."""
    for published, how in ((True, "as published"), (False, "Holm over paired t-tests")):
        power = discriminative_power(runs, as_published=published)
        counts = power.pivot(index="measure", columns="level", values="significant")
        counts = counts[[0.05, 0.01]].set_axis(["95%", "99%"], axis="columns")
        show(
            f"Table 1, {how}: significant pairs of {power['pairs'].iloc[0]}",
            counts.loc[power["measure"].unique()].reset_index(),
        )
    show("Table 2: stability", stability(runs, seed=seed, as_published=True))
    show(
        "Table 3: tau of N systems with their order among all",
        agreement_by_number_of_systems(runs, seed=seed, as_published=True),
        4,
    )
    documents = rare_documents(runs, None, query).drop(columns=["qid", "found_by"])
    show(f"Table 4: relevant documents of query {query}, rarest first", documents.head(20))


def pools(runs: Evaluation, table: pd.DataFrame) -> None:
    """Rareness counted over the runs of one type, and without a run's own group."""
    known = table[table["run"].astype(str).isin(runs.names)].set_index("run")
    types, groups = (dict(zip(map(str, known.index), known[c])) for c in ("type", "group"))
    by_type = rareness_by_pool(runs, None, pools_by(types))
    show("S_d from the runs of one type: agreement with all runs", agreement_of_pools(by_type), 4)
    alone = without_own_group(runs, None, groups)
    moved = alone.assign(moved=alone["rank"] - alone["rank_without"])
    largest = moved["moved"].abs().sort_values(ascending=False, kind="stable").index[:10]
    show("S_d without the run's own group: the largest moves", moved.loc[largest], 4)


def figures(runs: Evaluation, query: str, seed: int, folder: Path) -> None:
    """Figures 1 and 2, and Tables 3 and 4 as charts."""
    from pyterrier_asl.charts.saving import save_chart

    made = {
        "1-synthetic-systems": synthetic_systems.draw(synthetic_systems(runs, None, query)),
        "2-alpha": agreement_by_alpha.draw(agreement_by_alpha(runs, None)),
        "3-number-of-systems": agreement_by_number_of_systems.draw(
            agreement_by_number_of_systems(runs, seed=seed)
        ),
        "4-rare-documents": rare_documents.draw(rare_documents(runs, None)),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, chart in made.items():
        save_chart(chart, folder / f"rareness-{name}.html")
    click.echo(f"\n{len(made)} figures are in {folder}")


@click.command(help=__doc__)
@click.argument("runs", type=click.Path(exists=True, path_type=Path))
@click.argument("qrels")
@click.option("--query", help="The query of Table 4 and Figure 1; the first by default.")
@click.option("--table", type=click.Path(exists=True, path_type=Path), help="Types and groups.")
@click.option("--seed", default=0, show_default=True, help="Of everything that is drawn.")
@click.option("--charts", type=click.Path(path_type=Path), help="Folder to save figures in.")
def main(
    runs: Path, qrels: str, query: str | None, table: Path | None, seed: int, charts: Path | None
) -> None:
    judged = Evaluation.of(runs, qrels)
    query = str(judged.qids[0]) if query is None else query
    tables(judged, query, seed)
    if table is not None:
        pools(judged, pd.read_csv(table, sep="\t", dtype=str))
    if charts is not None:
        figures(judged, query, seed, charts)


if __name__ == "__main__":
    main()
