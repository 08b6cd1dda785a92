"""The tables and figures of Türkmen, Lease and Kutlu (2023), New Metrics, for a folder of runs.

    python examples/reproduce_rareness.py trec8-adhoc/runs trec8-adhoc/qrels.txt.gz --qid 431 \\
        --track trec-8 --table trec8-adhoc/runs_table.tsv --charts figures

RUNS is a folder of run files, QRELS a file or an ir_datasets id. ``--track`` prints the published
values next to the computed values. ``--table`` is a file with tab-separated columns run, group and
type. With it, rareness is also computed for pools of the runs of one type, and without the other
runs of a run's group. ``--charts`` saves the figures as HTML and needs ``pip install '.[charts]'``.
Tables 1 to 3 are computed as published, and Table 1 also with Holm's correction. The seed of the
paper is unknown.
"""

from __future__ import annotations

from pathlib import Path

import click
import pandas as pd
from published import PUBLISHED, help_of, show, side_by_side, track_option

from pyterrier_asl.analysis import (
    Evaluation,
    agreement_by_alpha,
    agreement_by_number_of_systems,
    agreement_of_pools,
    discriminative_power,
    pools_by,
    rare_documents,
    rareness_by_pool,
    rareness_without_own_group,
    stability,
    synthetic_systems,
)

#: The query of Table 4.
QUERY = "431"


def _cell(measure: str, alpha: float, *more: str) -> str:
    """The name of a cell: the measure without its parameters, alpha, and further texts."""
    name = measure.split("(")[0].split("@")[0].removesuffix("_Rareness") + "_Rareness@100"
    return ", ".join([name, f"alpha {alpha:g}", *more])


def _alpha(measure: str) -> float:
    if "Rareness" not in measure:
        return 0
    return 1 if "alpha=1" in measure else 0.5


def tables(runs: Evaluation, query: str, seed: int, track: str | None) -> None:
    """Tables 1 to 4."""
    levels = {0.05: "95%", 0.01: "99%"}
    for published in (True, False):
        power = discriminative_power(runs, as_published=published)
        power = power[power["level"].isin(levels)]
        cells = {
            _cell(row.measure, _alpha(row.measure), levels[row.level]): row.significant
            for row in power.itertuples()
        }
        pairs = f"significant pairs of {power['pairs'].iloc[0]}"
        if published:
            show(f"Table 1: {pairs}", side_by_side("Türkmen, Table 1", track, cells))
        else:
            frame = pd.DataFrame({"cell": list(cells), "computed": list(cells.values())})
            show(f"{pairs}, Holm over paired t-tests", frame)
    table = stability(runs, seed=seed, as_published=True)
    cells = {_cell(row.measure, _alpha(row.measure)): row.absolute for row in table.itertuples()}
    show("Table 2: stability", side_by_side("Türkmen, Table 2", track, cells))
    table = agreement_by_number_of_systems(runs, seed=seed, as_published=True)
    cells = {
        f"{_cell(row.measure, 1).split(',')[0]}, N = {row.systems}": row.tau
        for row in table.itertuples()
    }
    title = "Table 3: tau of N systems with their order among all, alpha 1"
    show(title, side_by_side("Türkmen, Table 3", track, cells))
    documents = rare_documents(runs, None, query).set_index("docno")
    of_paper = PUBLISHED["Türkmen, Table 4"].get(track or "", {})
    chosen = documents.loc[[docno for docno in of_paper if docno in documents.index], "rareness"]
    if query == QUERY and of_paper:
        title = f"Table 4: rareness of five documents of query {query}"
        show(title, side_by_side("Türkmen, Table 4", track, chosen.to_dict(), "not judged"))
    show(
        f"Relevant documents of query {query}, rarest first",
        documents.reset_index().drop(columns=["qid", "found_by"]).head(20),
    )


def pools(runs: Evaluation, table: pd.DataFrame) -> None:
    """Rareness in pools of the runs of one type, and without the other runs of a run's group."""
    known = table[table["run"].astype(str).isin(runs.names)].set_index("run")
    types, groups = (dict(zip(map(str, known.index), known[c])) for c in ("type", "group"))
    by_type = rareness_by_pool(runs, None, pools_by(types))
    show("S_d from the runs of one type: agreement with all runs", agreement_of_pools(by_type), 4)
    alone = rareness_without_own_group(runs, None, groups)
    moved = alone.assign(moved=alone["rank"] - alone["rank_without"])
    largest = moved["moved"].abs().sort_values(ascending=False, kind="stable").index[:10]
    show("S_d without the run's own group: the largest changes of rank", moved.loc[largest], 4)


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


@click.command(help=help_of(__doc__))
@click.argument("runs", type=click.Path(exists=True, path_type=Path))
@click.argument("qrels")
@click.option("--qid", help="The query of Table 4 and Figure 1; the first by default.")
@click.option("--table", type=click.Path(exists=True, path_type=Path), help="Types and groups.")
@click.option("--seed", default=0, show_default=True, help="Seed of all draws.")
@track_option("Türkmen")
@click.option("--charts", type=click.Path(path_type=Path), help="Folder to save figures in.")
def main(
    runs: Path,
    qrels: str,
    qid: str | None,
    table: Path | None,
    seed: int,
    track: str | None,
    charts: Path | None,
) -> None:
    judged = Evaluation.of(runs, qrels)
    query = str(judged.qids[0]) if qid is None else qid
    tables(judged, query, seed, track)
    if table is not None:
        pools(judged, pd.read_csv(table, sep="\t", dtype=str))
    if charts is not None:
        figures(judged, query, seed, charts)


if __name__ == "__main__":
    main()
