"""How much of the error does a new technique remove? (Alex et al. 2022, Table 1.)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..charts import BESIDE_NAMES, STEP, alt, bars, captioned, in_rows, tooltips, yes_or_no
from ..common.lazy import pd
from ..common.parameters import check_names
from ..evaluation.evaluation import Evaluation, Runs
from ..evaluation.sources import QrelsLike, refuse
from ..measures.directions import higher_is_better, value_range
from ..measures.parsing import Measures, named_measures
from ..statistics.settings import ArrayLike
from ..statistics.tests import PairedTest, with_corrected_p
from .asl_options import PUBLISHED, AslOptions, label_of
from .inputs import RelOfTracks, read_tracks
from .registry import ALEX, analysis
from .tables import as_frame, described, per_track, significance


def relative_error_reduction(old: ArrayLike, new: ArrayLike, best: float) -> Any:
    """RRIE: the part of the distance from the old value to the best possible value that is removed.

    Args:
        old: the old value.
        new: the new value.
        best: the best possible value: 1 for P and AP (Eq. 11), and 1 for ASL, too (Eq. 12).

    Returns:
        1 if the error is removed, 0 if it is unchanged, negative if it is larger; NaN if the old
        value has no error.

    Source: Alex, Hall, Metzler 2022, Eq. 11 and 12.

    >>> relative_error_reduction([0.517, 51], [0.706, 6], 1).round(3)
    array([0.391, 0.9  ])
    """
    before, after = (np.asarray(value, dtype=np.float64) - best for value in (old, new))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(before != 0, (before - after) / before + 0.0, np.nan)[()]


@analysis(ALEX, "Table 1", tracks=True, group_by="track")
def compare_techniques(
    runs: Runs,
    qrels: QrelsLike | None = None,
    *,
    old: str | Mapping[str, str],
    new: str | Mapping[str, str],
    measures: Measures | None = None,
    rel: RelOfTracks = None,
    cutoff: int | None = None,
    missing: str = "pad",
    as_published: bool = False,
    test: str = "t",
    correction: str = "holm",
    alpha: float = 0.05,
    draws: int | None = None,
    seed: int | None = None,
) -> pd.DataFrame:
    """How much of the error does a new technique remove (RRIE)?

    Two runs by measures of the top and of all documents, with the relative reduction in error.

    Args:
        old: name of the run of the old technique, such as the best BM25; a dict of track -> name
            if its name differs between tracks.
        new: name of the run of the new technique, such as the best neural run; or a dict of track
            -> name.
        measures: measures, or a dict of name -> measure; by default ``P@20``, ``ASL@g1-10``,
            ``AP``, ``ASL``. Their best value must be 1.
        rel: minimum grade of a relevant document, for the default measures.
        cutoff: k, as in ``ASL@k``, for the default measures.
        missing: the rank of a document that was not retrieved, ``missing`` of ``ASL``, for the
            default measures.
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
    if measures is not None:
        refuse("is for the default measures", rel=rel, cutoff=cutoff, missing=missing != "pad")
    refuse(PUBLISHED, correction=as_published and correction != "holm" and correction)
    tracks = read_tracks(runs, qrels, rel, measures)
    label = label_of(tracks)
    paired = PairedTest(test, correction, alpha, draws, seed)
    techniques = [_runs_of_tracks(*named, list(tracks)) for named in (("old", old), ("new", new))]
    given = None if measures is None else _with_best_value_1(measures)

    def of_track(track: str, judged: Evaluation, rel: float) -> pd.DataFrame:
        two = judged.select([run[track] for run in techniques])
        usual = AslOptions(rel, cutoff, missing, as_published).measures()
        chosen = given or {label(name): measure for name, measure in usual.items()}
        rows = []
        for name, measure in chosen.items():
            values = two.values(measure)
            means = dict(zip(("old", "new"), values.mean(axis=-1).tolist()))
            rrie = float(relative_error_reduction(**means, best=1.0))
            rows.append({"measure": name, **means, "RRIE": rrie, **paired.of(values[1], values[0])})
        return described(as_frame(rows), old=old, new=new)

    return with_corrected_p(
        per_track(of_track, tracks), test, "none" if as_published else correction, alpha
    )


@compare_techniques.chart
def compare_techniques_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """The relative reduction in error by each measure."""
    names = [frame.attrs.get(name) for name in ("old", "new")]
    named = all(isinstance(name, str) for name in names)
    old, new = names if named else ("the old run", "the new run")
    chart = bars(
        frame,
        "RRIE",
        ".0%",
        x=alt.X("RRIE:Q", title="relative reduction in error", axis=alt.Axis(format="%")),
        y=alt.Y("measure:N", sort=None, title=None),
        tooltip=tooltips(
            "measure", "old", "new", "RRIE", "difference", "ci_low", "ci_high", "p_corrected"
        ),
    )
    chart.layer[0].encoding.color = yes_or_no("significant")
    return captioned(
        in_rows(chart, "track", frame["track"])
        if "track" in frame and frame["track"].nunique() > 1
        else chart.properties(width=BESIDE_NAMES, height=alt.Step(STEP)),
        f"{new} over {old}" if named else f"{new} over {old}".capitalize(),
        f"The part of the distance of {old} to the best possible value, 1, that {new} removes. "
        + significance(frame),
    )


def _runs_of_tracks(
    what: str, run: str | Mapping[str, str], tracks: list[str]
) -> Mapping[str, str]:
    """The name of a technique's run in each track."""
    if isinstance(run, str):
        return dict.fromkeys(tracks, run)
    check_names(what, run, tracks, "tracks")
    for track in (track for track in tracks if track not in run):
        raise ValueError(f"{what} names no run of track {track!r}, only of {sorted(run)}: add it")
    return run


def _with_best_value_1(measures: Measures) -> dict[str, Any]:
    """Parses measures by name; ValueError unless the best value of each is 1."""
    parsed = {named.name: named.measure for named in named_measures(measures)}
    for name, measure in parsed.items():
        higher = higher_is_better(measure)
        if higher is None or value_range(measure)[higher] != 1:
            raise ValueError(
                f"{name} has no best value of 1, so there is no relative reduction of its error: "
                "use measures such as P, AP, nDCG, RR, ASL, nASL"
            )
    return parsed
