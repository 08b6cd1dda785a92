"""The tables and figures of Diaz (2023), Best-Case Retrieval Evaluation, for a folder of runs.

    python examples/reproduce_lexiprecision.py dl20-passage/runs dl20-passage/qrels.txt --rel 2 \\
        --track dl-2020-passages
    python examples/reproduce_lexiprecision.py RUNS QRELS --charts figures

RUNS is a folder of run files, QRELS a file or an ir_datasets id. ``--track`` prints the published
values next to the computed values. ``--charts`` also saves the figures as HTML and needs
``pip install '.[charts]'``. On the Deep Learning passage collections the paper uses ``--rel 2``,
but ``--rel 1`` in Tables 1 and 2. Its Table 1 counts all topics of the runs, not only the judged
topics. Its 100 randomizations for HSD in Table 4 have another seed.
"""

from __future__ import annotations

from pathlib import Path

import click
from published import help_of, show, side_by_side, track_option

from pyterrier_asl.analysis import (
    Evaluation,
    collection_statistics,
    cycles,
    level_correlations,
    level_regressions,
    missing_labels,
    missing_queries,
    prediction_from_suffixes,
    preference_discrimination,
    preference_levels,
    recall_level_needed,
    system_order,
    tie_probability,
    tie_probability_by_rank,
    ties,
    ties_by_recall_level,
)

#: The collection size and the numbers of relevant documents of Figure 2.
DOCUMENTS, RELEVANT = 50_000, [1, 10, 50, 100, 250]


def tables(runs: Evaluation, rel: float, seed: int, track: str | None) -> None:
    """Tables 1 to 4, and the systems in order."""
    [sizes] = collection_statistics(runs, None).to_dict("records")
    named = {name: sizes[name] for name in ("requests", "runs", "rel/request", "docs/request")}
    show("Table 1: the collection", side_by_side("Diaz, Table 1", track, named), 2)
    predicted = prediction_from_suffixes(runs, None).set_index("predictor")["percent"]
    title = "Table 2: δRR_1 predicted from later positions, %"
    show(title, side_by_side("Diaz, Table 2", track, predicted.to_dict()), 2)
    tied = ties(runs, rel=rel).set_index("preference")["percent"]
    show("Table 3: ties, %", side_by_side("Diaz, Table 3", track, tied.to_dict()), 2)
    power = preference_discrimination(runs, rel=rel, seed=seed)
    tests = power["test"].str.startswith("tukey").map({True: "HSD", False: "paired"})
    cells = dict(zip(tests + ", " + power["preference"], power["percent"], strict=True))
    title = "Table 4: significant differences of systems, %"
    show(title, side_by_side("Diaz, Table 4", track, cells), 2)
    for preference in ("sgnLP", "rrLP"):
        order = system_order(runs, preference=preference, rel=rel)
        show(f"The first systems by {preference}", order.head(10), 4)
        show(f"Cycles in {preference}", cycles(runs, preference=preference, rel=rel).head(5), 4)


def figures(runs: Evaluation, rel: float, seed: int, folder: Path) -> None:
    """Figures 2, 3 and 5 to 9."""
    from pyterrier_asl.analysis.incomplete_judgements import ties_as_labels_go_chart
    from pyterrier_asl.charts.saving import save_chart

    labels = missing_labels(runs, rel=rel, seed=seed)
    by_p_1 = tie_probability(DOCUMENTS, RELEVANT, range(1, 501, 5))
    made = {
        "1-levels": preference_levels.draw(preference_levels(DOCUMENTS, RELEVANT)),
        "2-tie-probability": tie_probability.draw(by_p_1),
        "3-ties-by-rank": tie_probability_by_rank.draw(tie_probability_by_rank(runs, rel=rel)),
        "5-ties-by-recall-level": ties_by_recall_level.draw(ties_by_recall_level(runs, rel=rel)),
        "6-recall-level-needed": recall_level_needed.draw(recall_level_needed(runs, rel=rel)),
        "7a-correlations": level_correlations.draw(level_correlations(runs, rel=rel)),
        "7b-regressions": level_regressions.draw(level_regressions(runs, rel=rel)),
        "8a-missing-labels": missing_labels.draw(labels),
        "8b-missing-queries": missing_queries.draw(missing_queries(runs, rel=rel, seed=seed)),
        "9-ties-as-labels-go": ties_as_labels_go_chart(labels),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, chart in made.items():
        save_chart(chart, folder / f"lexiprecision-{name}.html")
    click.echo(f"\n{len(made)} figures are in {folder}")


@click.command(help=help_of(__doc__))
@click.argument("runs", type=click.Path(exists=True, path_type=Path))
@click.argument("qrels")
@click.option("--rel", default=1.0, show_default=True, help="Minimum grade of a relevant document.")
@click.option("--seed", default=0, show_default=True, help="Seed of all draws.")
@track_option("Diaz")
@click.option("--charts", type=click.Path(path_type=Path), help="Folder to save figures in.")
def main(
    runs: Path, qrels: str, rel: float, seed: int, track: str | None, charts: Path | None
) -> None:
    judged = Evaluation.of(runs, qrels)
    tables(judged, rel, seed, track)
    if charts is not None:
        figures(judged, rel, seed, charts)


if __name__ == "__main__":
    main()
