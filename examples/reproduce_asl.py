"""The tables and figures of Alex, Hall and Metzler (2022), as numbers, for any tracks.

    python examples/reproduce_asl.py trec8/runs trec8/qrels.txt dl20/runs dl20/qrels.txt
    python examples/reproduce_asl.py dl20/runs dl20/qrels.txt \\
        --old DLH_d_5_t_25 --new p_d2q_rm3_duo --as-published

A track is a folder of run files and its judgements, a file or an ir_datasets id. Table 1 compares
two runs, of the first track; the figures that show one run show the first track's best by ASL.
"""

from __future__ import annotations

from pathlib import Path

import click
import pandas as pd

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


def shown(title: str, frame: pd.DataFrame, digits: int = 3) -> None:
    """Prints a table under its title."""
    click.echo(f"\n{title}\n\n{frame.round(digits).to_string(index=False)}")


def read(sources: tuple[str, ...]) -> dict[str, Evaluation]:
    """The tracks, named after the folder that the runs' folder is in."""
    if not sources or len(sources) % 2:
        raise click.UsageError("give each track as two arguments: its runs, then its qrels")
    tracks: dict[str, Evaluation] = {}
    for runs, qrels in zip(sources[::2], sources[1::2]):
        name = Path(runs).resolve().parent.name
        tracks[f"{name}-{len(tracks) + 1}" if name in tracks else name] = Evaluation.of(runs, qrels)
    return tracks


@click.command(help=__doc__)
@click.argument("sources", nargs=-1, metavar="RUNS QRELS [RUNS QRELS]...")
@click.option("--rel", default=1.0, show_default=True, help="Minimum grade of a relevant document.")
@click.option("--old", help="Run of the old technique, for Table 1.")
@click.option("--new", help="Run of the new technique, for Table 1.")
@click.option("--as-published", is_flag=True, help="Missing documents right after the list.")
def main(
    sources: tuple[str, ...], rel: float, old: str | None, new: str | None, as_published: bool
) -> None:
    tracks = read(sources)
    first = next(iter(tracks.values()))
    options = {"rel": rel, "missing": "after" if as_published else "pad"}
    shown("Figures 1 to 4. The best run of each track", headroom(tracks, **options))
    if old and new:
        table = compare_techniques(first, old=old, new=new, rel=rel, as_published=as_published)
        shown("Table 1. Techniques, with the relative reduction in error", table)
        click.echo(
            f"{table.attrs['test']} test, correction {table.attrs['correction']} over "
            f"{table.attrs['family']} comparisons"
        )
    shown("Table 2. Reordering of the systems, step by step", reordering(tracks, **options))
    distribution = search_length_distribution(first, **options)
    shown(f"Figure 5. Search lengths of {distribution.attrs['run']}", distribution)
    changes = search_length_changes(first, **options)
    shown(f"Figure 6. {changes.attrs['a']} less {changes.attrs['b']}", changes)
    shares = effective_share(tracks, rel=rel).groupby("track", sort=False)[["share", "pooled"]]
    shown(
        "Appendix A.1. The share of the documents that AP is about; paper, 76 tracks: .57 ± .16",
        shares.agg(["mean", "std"]).reset_index(),
    )
    click.echo(f"\nEquivalents of {EXAMPLE}:\n{equivalents(EXAMPLE).round(3).tolist()}")


if __name__ == "__main__":
    main()
