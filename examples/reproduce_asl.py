"""The numbers of the tables and figures of Alex, Hall and Metzler (2022), for any tracks.

    python examples/reproduce_asl.py trec8/runs trec8/qrels.txt dl20/runs dl20/qrels.txt
    python examples/reproduce_asl.py dl20/runs dl20/qrels.txt \\
        --old DLH_d_5_t_25 --new p_d2q_rm3_duo --as-published --track dl-2020-passages

RUNS is a folder of run files, QRELS a file or an ir_datasets id. Table 1 compares two runs of the
first track. ``--track`` prints the published values next to the computed values. Figures of one run
show the best run of the first track by ASL.
"""

from __future__ import annotations

from pathlib import Path

import click
from published import help_of, show, side_by_side, track_option

from pyterrier_asl.analysis import (
    Evaluation,
    compare_techniques,
    effective_share,
    equivalents,
    headroom,
    reordering,
    search_length_changes,
    search_length_distribution,
)

EXAMPLE = [1, 1, 1, 2, 4, 5, 10, 10000, 10000]


def read(sources: tuple[str, ...]) -> dict[str, Evaluation]:
    """The tracks, named after the folder that the runs' folder is in."""
    if not sources or len(sources) % 2:
        raise click.UsageError("give RUNS and QRELS, a folder and its qrels, for each track")
    tracks: dict[str, Evaluation] = {}
    for runs, qrels in zip(sources[::2], sources[1::2]):
        name = Path(runs).resolve().parent.name
        tracks[f"{name}-{len(tracks) + 1}" if name in tracks else name] = Evaluation.of(runs, qrels)
    return tracks


@click.command(help=help_of(__doc__))
@click.argument("sources", nargs=-1, metavar="RUNS QRELS [RUNS QRELS]...")
@click.option("--rel", default=1.0, show_default=True, help="Minimum grade of a relevant document.")
@click.option("--old", help="Run of the old technique, for Table 1.")
@click.option("--new", help="Run of the new technique, for Table 1.")
@click.option("--as-published", is_flag=True, help="Missed documents directly after the ranking.")
@track_option("Alex")
def main(
    sources: tuple[str, ...],
    rel: float,
    old: str | None,
    new: str | None,
    as_published: bool,
    track: str | None,
) -> None:
    tracks = read(sources)
    first = next(iter(tracks.values()))
    options = {"rel": rel, "missing": "after" if as_published else "pad"}
    show("Figures 1 to 4. The best run of each track", headroom(tracks, **options))
    if old and new:
        table = compare_techniques(first, old=old, new=new, rel=rel, as_published=as_published)
        columns = {"BM25": "old", "neural": "new", "RRIE": "RRIE"}
        cells = {
            f"{'MAP' if row.measure == 'AP' else row.measure}, {name}": getattr(row, column)
            for row in table.itertuples()
            for name, column in columns.items()
        }
        title = f"Table 1. {old} (BM25) and {new} (neural)"
        show(title, side_by_side("Alex, Table 1", track, cells))
        show("The same, with tests", table)
        click.echo(
            f"{table.attrs['test']} test, correction {table.attrs['correction']} over "
            f"{table.attrs['family']} comparisons"
        )
    show("Table 2. Reordering of the systems, step by step", reordering(tracks, **options))
    click.echo("not reproducible: the values of the paper are means of 76 tracks of TREC")
    distribution = search_length_distribution(first, **options)
    show(f"Figure 5. Search lengths of {distribution.attrs['run']}", distribution)
    changes = search_length_changes(first, **options)
    show(f"Figure 6. {changes.attrs['a']} less {changes.attrs['b']}", changes)
    shares = effective_share(tracks, rel=rel).groupby("track", sort=False)[["share", "pooled"]]
    show(
        "Appendix A.1. The share of the documents that AP is about; paper, 76 tracks: .57 ± .16",
        shares.agg(["mean", "std"]).reset_index(),
    )
    click.echo(f"\nEquivalents of {EXAMPLE}:\n{equivalents(EXAMPLE).round(3).tolist()}")


if __name__ == "__main__":
    main()
