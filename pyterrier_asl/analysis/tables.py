"""Tables of analyses: over tracks, and what their captions need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..common.lazy import pd
from ..common.notices import counted
from ..evaluation.evaluation import Evaluation
from .inputs import Tracks, is_relevant


def described(frame: pd.DataFrame, **about: Any) -> pd.DataFrame:
    """The frame, whose ``attrs`` say what its caption needs."""
    frame.attrs.update(about)
    return frame


def per_track(
    analyse: Callable[[str, Evaluation, float], pd.DataFrame], by_track: Tracks
) -> pd.DataFrame:
    """The frames that ``analyse`` gives of each track, as one; its first column is ``track``.

    A track without a relevant document distinguishes no runs: its values are NaN.

    Args:
        analyse: the frame of a track, from its name ('' for the one that has none), its runs and
            its minimum grade of a relevant document.
        by_track: the runs and the minimum grade of each track.

    >>> toy = Evaluation.of({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})
    >>> tracks = {"lenient": (toy, 1), "strict": (toy, 2)}
    >>> per_track(lambda _, judged, rel: pd.DataFrame({"runs": [len(judged)], "AP": 1.0}), tracks)
         track  runs   AP
    0  lenient     1  1.0
    1   strict     1  NaN
    """
    parts = {name: analyse(name, *track) for name, track in by_track.items()}
    for name, track in by_track.items():
        if not is_relevant(*track):
            parts[name][parts[name].select_dtypes("float64").columns] = np.nan
    whole = pd.concat(parts, names=["track"]).reset_index(level="track").reset_index(drop=True)
    whole.attrs = next(iter(parts.values())).attrs
    grades = {name: rel for name, (_, rel) in by_track.items()}
    if len(set(grades.values())) > 1:
        whole.attrs["rel"] = grades
    return whole


def significance(frame: pd.DataFrame) -> str:
    """A sentence for a caption on how the comparisons of a frame were tested.

    >>> attrs = {"test": "t", "alpha": 0.05, "correction": "holm", "family": 3, "dropped": 1}
    >>> frame = pd.DataFrame({"p": [0.1, 0.2, 0.3, float("nan")]})
    >>> frame.attrs = attrs
    >>> significance(frame)
    'Significant: t test at 0.05, corrected over 3 comparisons (holm); 1 cannot be tested.'
    """
    about = frame.attrs
    family = int(about.get("family", frame["p"].notna().sum()))
    dropped = int(about.get("dropped", frame["p"].isna().sum()))
    if family == 0:
        return "No comparison can be tested: there is no difference, or a single query."
    method = about.get("correction", "none")
    over = f"over {counted(family, 'comparison')}"
    corrected = f"{over}, not corrected" if method == "none" else f"corrected {over} ({method})"
    return (
        f"Significant: {about.get('test', 't')} test at {about.get('alpha', 0.05):g}, "
        f"{corrected}{f'; {dropped} cannot be tested' if dropped else ''}."
    )


def as_frame(rows: list[Any], columns: list[str] | None = None) -> pd.DataFrame:
    """Makes a frame of rows; ValueError where there are none."""
    if not rows:
        raise ValueError("there is nothing to compare: give at least one run and one measure")
    return pd.DataFrame(rows, columns=columns)
