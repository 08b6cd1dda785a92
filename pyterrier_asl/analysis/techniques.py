"""How much of the error does a technique take away? (Alex et al. 2022, Table 1.)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..assessment.system_pairs import PairedTest, as_frame, significance
from ..charts.forms import STEP, WIDTH, alt, bars, captioned, category, tooltips
from ..io.lazy import pd
from ..io.names import check_names
from ..measures.directions import higher_is_better, value_range
from ..measures.names import Measures, parse_measure
from ..statistics.correction import with_corrected_p
from ..statistics.inputs import ArrayLike
from .asl_options import AslOptions
from .reading import per_track_and_slice, read_tracks
from .registry import ALEX, Evaluation, Qrels, Queries, Runs, Slices, Weights, analysis


def relative_error_reduction(old: ArrayLike, new: ArrayLike, best: float) -> Any:
    """RRIE: the share of the distance from the old to the best possible value that is saved.

    Args:
        old: the old value.
        new: the new value.
        best: the best possible value: 1 for P and AP (Eq. 11) as for ASL (Eq. 12), which has its
            best at the other end.

    Returns:
        1 for an error that is gone, 0 for one that is as it was, negative for a larger one; NaN
        where there was none.

    Source: Alex, Hall, Metzler 2022, Eq. 11 and 12.

    >>> relative_error_reduction([0.517, 51], [0.706, 6], 1).round(3)
    array([0.391, 0.9  ])
    """
    before = np.asarray(old, dtype=np.float64) - best
    after = np.asarray(new, dtype=np.float64) - best
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(before != 0, (before - after) / before + 0.0, np.nan)[()]


@analysis(ALEX, "Table 1", tracks=True, group_by="track")
def compare_techniques(
    runs: Runs,
    qrels: Qrels | None = None,
    *,
    duplicates: str | None = None,
    old: str | Mapping[str, str],
    new: str | Mapping[str, str],
    measures: Measures | None = None,
    rel: float | None = None,
    cutoff: int | None = None,
    missing: str = "pad",
    as_published: bool = False,
    test: str = "t",
    correction: str = "holm",
    alpha: float = 0.05,
    draws: int = 10_000,
    seed: int = 0,
    weights: Weights | None = None,
    by: Slices | None = None,
) -> pd.DataFrame:
    """How much of the error does a new technique remove (RRIE)?

    Two runs by top-ranked and by all documents, with the relative reduction in error (RRIE).

    Args:
        old: name of the run of the old technique, such as the best BM25; where it is called
            differently in several tracks, a dict of track -> name.
        new: name of the run of the new technique, such as the best neural run; or a dict of track
            -> name.
        measures: measures, or a dict from how to call them; by default ``P@20``, ``ASL@g1-10``,
            ``AP``, ``ASL``. Their best value must be 1.
        rel: minimum grade of a relevant document, for the default measures.
        cutoff: k, as in ``ASL@k``, for the default measures.
        missing: the rank of a document that was not retrieved, ``missing`` of ``ASL``, for the
            default measures.
        correction: over all rows of the result: ``'holm'``, ``'bonferroni'``, ``'bh'``, ``'none'``.
        as_published: the paper's choices: missing documents right after the list
            (``missing='after'``), and no correction (the paper has no tests at all).

    Returns:
        One row for each track and measure, with ``track``, ``measure``, ``old``, ``new``, ``RRIE``,
        then the paired comparison of new with old over queries: ``difference``, ``ci_low``,
        ``ci_high``, ``effect``, ``statistic``, ``p``, ``p_corrected``, ``significant``. ``attrs``
        name the runs, the test, the correction and the size of its family.

    Source: Alex, Hall, Metzler 2022, Table 1; RRIE Eq. 11 and 12.

    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    >>> runs = {"old": {"q1": {"x": 2, "a": 1}, "q2": {"a": 1}}}
    >>> runs["new"] = {"q1": {"a": 1}, "q2": {"a": 1}}
    >>> compare_techniques(runs, qrels, old="old", new="new")[["measure", "old", "new", "RRIE"]]
         measure   old   new  RRIE
    0       P@20  0.05  0.05   0.0
    1  ASL@g1-10  1.50  1.00   1.0
    2         AP  0.75  1.00   1.0
    3        ASL  1.50  1.00   1.0
    """
    tracks, rel = read_tracks(runs, qrels, duplicates, rel, measures)
    options = AslOptions(rel, cutoff, missing, as_published)
    paired = PairedTest(test, correction, alpha, draws, seed)
    for argument, run in {"old": old, "new": new}.items():
        if not isinstance(run, str):
            check_names(argument, run, tracks, "tracks")
    usual = {options.label(name): measure for name, measure in options.measures().items()}
    asked = usual if measures is None else _with_best_value_1(measures)

    def of_slice(track: str, judged: Evaluation, queries: Queries) -> pd.DataFrame:
        two = judged.select([_of_track(old, track, "old"), _of_track(new, track, "new")])
        rows = []
        for name, measure in asked.items():
            values = two.values(measure)
            means = dict(zip(("old", "new"), queries.mean(values).tolist()))
            rrie = float(relative_error_reduction(**means, best=1.0))
            tested = paired.of(values[1], values[0], queries)
            rows.append({"measure": name, **means, "RRIE": rrie, **tested})
        frame = as_frame(rows)
        frame.attrs = {"old": old, "new": new}
        return frame

    frame = per_track_and_slice(tracks, of_slice, weights, by)
    return with_corrected_p(frame, test, "none" if as_published else correction, alpha)


@compare_techniques.chart
def compare_techniques_chart(frame: pd.DataFrame) -> Any:
    """The relative reduction in error by each measure."""
    about = frame.attrs
    several = frame["track"].nunique() > 1 if "track" in frame else False
    order = list(dict.fromkeys(frame["track"])) if several else []
    row = alt.Row("track:N", title=None, sort=order, header=alt.Header(labelOrient="top"))
    named = isinstance(about.get("old"), str) and isinstance(about.get("new"), str)
    old, new = (about[name] if named else f"the {name} run" for name in ("old", "new"))
    caption = (
        f"The part of the distance to the best possible value, 1, that {new} saves over {old}. "
        + significance(frame)
    )
    drawn = bars(
        frame,
        "RRIE",
        ".0%",
        x=alt.X(
            "RRIE:Q", title="relative reduction in error", axis=alt.Axis(format="%", tickCount=5)
        ),
        y=alt.Y("measure:N", sort=None, title=None),
        tooltip=tooltips(
            "measure", "old", "new", "RRIE", "difference", "ci_low", "ci_high", "p_corrected"
        ),
    )
    drawn.layer[0].encoding.color = category("significant", "significant", domain=[False, True])
    drawn = drawn.properties(width=WIDTH, height=alt.Step(STEP))
    drawn = drawn.facet(row=row) if several else drawn
    title = f"{new} over {old}"
    return captioned(drawn, title if named else title.capitalize(), caption)


def _of_track(run: str | Mapping[str, str], track: str, what: str) -> str:
    """The name of a technique's run in a track."""
    if isinstance(run, str):
        return run
    if track not in run:
        raise ValueError(f"{what} names no run of track {track!r}, only of {sorted(run)}: add it")
    return run[track]


def _with_best_value_1(measures: Measures) -> dict[str, Any]:
    """Parses measures by name; ValueError unless the best value of each is 1."""
    if not isinstance(measures, Mapping):
        measures = {str(measure): measure for measure in measures}
    parsed = {str(name): parse_measure(m) for name, m in measures.items()}
    for name, measure in parsed.items():
        higher = higher_is_better(measure)
        if higher is None or value_range(measure)[higher] != 1:
            raise ValueError(
                f"{name} has no best value of 1, so there is no relative reduction of its error: "
                "use measures such as P, AP, nDCG, RR, ASL, nASL"
            )
    return parsed
