"""Names in charts, next to points and at the ends of lines, without covering anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..io.lazy import alt, pd
from ..scoring.arrays import Floats
from .forms import GAP, HEIGHT, LETTERS, RADIUS, ROW, WIDTH

#: The most characters of a name at the end of a line.
LONGEST = 16

#: Mean width of a character of a name, in pixels of a chart.
_CHARACTER = 5.8

#: Distances above and below its point that are tried for a name: one line to five lines.
_LIFTS = [ROW * lines for lines in range(1, 6)]


def names_beside_points(
    frame: pd.DataFrame,
    named: pd.DataFrame,
    name: str,
    *,
    x: tuple[str, Sequence[float]],
    y: tuple[str, Sequence[float]],
    radius: str | None = None,
    sure: int | None = None,
) -> alt.TopLevelMixin:
    """Names next to some of the points of a chart of the usual size.

    Each name is where it covers the fewest points and names, within the chart. A line joins a name
    to its point if they are not adjacent.

    Args:
        frame: one row per point of the chart.
        named: the rows of the points to name.
        name: the column of the names.
        x: the column across, and the values at the left and at the right end of the axis.
        y: the column upwards, and the values at the bottom and at the top.
        radius: the column of the points' radii in pixels; None: all points are small.
        sure: the number of first names that are always drawn, others only where they cover nothing;
            None: all.
    """
    (across, ends), (up, heights) = x, y
    spans = np.array([ends[1] - ends[0], heights[1] - heights[0]], dtype=np.float64)
    spans[spans == 0] = 1.0

    def points_of(rows: pd.DataFrame) -> Floats:
        """Pixels from the lower left, and radii, shape (n, 3)."""
        shares = (rows[[across, up]].to_numpy(dtype=np.float64) - [ends[0], heights[0]]) / spans
        radii = np.full(len(rows), RADIUS) if radius is None else rows[radius].to_numpy()
        return np.column_stack([shares * [WIDTH, HEIGHT], radii])

    lengths = _CHARACTER * named[name].astype(str).map(len).to_numpy(dtype=np.float64)
    anchors = points_of(named)
    here = {"x": alt.X(f"{across}:Q"), "y": alt.Y(f"{up}:Q")}
    layers = []
    for row, place in enumerate(free_places(anchors, lengths, points_of(frame), sure)):
        if np.isnan(place).any():
            continue
        (right, above), size = place, anchors[row, 2]
        base = alt.Chart(named.iloc[[row]]).encode(**here)
        if abs(above) > size + _LIFTS[0]:
            height = np.sign(above) * ROW / 2 - above
            line = base.mark_rule(
                color="gray", x2Offset=np.sign(right) * (size + GAP), y2Offset=height
            )
            layers.append(line.encode(x2=alt.X2(f"{across}:Q"), y2=alt.Y2(f"{up}:Q")))
        text = base.mark_text(fontSize=LETTERS, color="#333", dx=right, dy=-above)
        layers.append(text.encode(text=alt.Text(f"{name}:N")))
    return alt.layer(*layers)


def free_places(
    anchors: Floats, lengths: Floats, points: Floats, sure: int | None = None
) -> Floats:
    """The places of names: pixels to the right of and above their points.

    Args:
        anchors: the named points in pixels, with their radii, shape (n, 3).
        lengths: lengths of the names in pixels, shape (n,).
        points: all points, which no name should cover, with their radii, shape (m, 3).
        sure: the number of first names that have a place in any case, others only next to their
            points and where they cover nothing; None: all.

    Returns:
        Shape (n, 2); NaN for a name without a place.

    >>> anchors = np.array([[100.0, 100.0, 4.0], [104.0, 100.0, 4.0]])
    >>> free_places(anchors, np.array([30.0, 30.0]), anchors).tolist()
    [[-22.0, 0.0], [22.0, 0.0]]
    """
    places, size = np.full((len(lengths), 2), np.nan), np.array([WIDTH, HEIGHT])
    for row, length in enumerate(lengths):
        half, radius = np.array([length, ROW]) / 2, anchors[row, 2]
        beside = radius + GAP + half[0]
        lifts = (sign * (radius + step) for step in _LIFTS for sign in (1, -1))
        candidates = np.array(
            [
                (side, lift)
                for lift in (0, *lifts)
                for side in (beside, -beside, *([0] if lift else []))
            ]
        )
        must_fit = sure is not None and row >= sure
        if must_fit:
            candidates = candidates[np.abs(candidates[:, 1]) <= radius + _LIFTS[0]]
        # Names within the chart come first, then those that cover the fewest names, then points.
        centres = anchors[row, :2] + candidates
        outside = np.abs(centres - np.clip(centres, half, size - half)).sum(axis=1)
        halves = np.column_stack((lengths[:row], np.full(row, ROW))) / 2
        apart = np.abs(centres[:, None] - anchors[:row, :2] - places[:row])
        taken = (apart < half + halves).all(axis=2).sum(axis=1)
        covered = np.abs(points[:, :2] - centres[:, None]) < half + points[:, 2:]
        faults = np.array([covered.all(axis=2).sum(axis=1), taken, outside])
        best = np.lexsort((np.abs(candidates[:, 1]), *faults))[0]
        if not (must_fit and faults[:, best].any()):
            places[row] = candidates[best]
    return places


def labelled_lines(
    frame: pd.DataFrame,
    *,
    x: alt.X,
    y: alt.Y,
    color: alt.Color,
    tooltip: Sequence[Any],
    named: bool = True,
    **mark: Any,
) -> alt.LayerChart:
    """Lines, each with its name at its end, so that no legend is needed.

    Names that are too long for a narrow chart are in a legend below it.

    Args:
        frame: one row per point.
        x: the channel along x, with a column of numbers.
        y: the channel along y, with a column of numbers and a scale with the ends of the axis.
        color: the channel of the lines.
        tooltip: columns of the tooltip.
        named: whether lines have names; False: an adjacent chart names them.
        **mark: options of the lines, such as ``point=True``.
    """
    lines = alt.Chart(frame).mark_line(**mark).encode(x=x, y=y, tooltip=list(tooltip))
    if frame[_field(color)].map(len).max() > LONGEST:
        return alt.layer(
            lines.encode(color=color.legend(orient="bottom", columns=2, symbolOpacity=1))
        )
    lines = lines.encode(color=color.legend(None))
    return alt.layer(lines, *([end_labels(frame, x=x, y=y, color=color)] if named else []))


def end_labels(frame: pd.DataFrame, *, x: alt.X, y: alt.Y, color: alt.Color) -> alt.Chart:
    """The names of lines next to their last points; see :func:`labelled_lines`."""
    across, value, name = map(_field, (x, y, color))
    by_line = frame.dropna(subset=[value]).sort_values(across).groupby(name)
    ends = by_line.tail(1).sort_values(value)
    domain = y["scale"]["domain"] if isinstance(y["scale"], alt.Scale) else alt.Undefined
    if domain is alt.Undefined:
        domain = frame[value].min(), frame[value].max()
    within = float(min(domain)), float(max(domain))
    ends[value] = spread_apart(ends[value].to_numpy(dtype=np.float64), within)
    text = alt.Chart(ends).mark_text(align="left", dx=2 * GAP, fontSize=LETTERS)
    return text.encode(x=x, y=y, text=alt.Text(f"{name}:N"), color=color.legend(None))


def _field(channel: alt.X | alt.Y) -> str:
    """The column that a channel shows."""
    return str(channel.shorthand).partition(":")[0]


def spread_apart(ascending: Floats, within: tuple[float, float]) -> Floats:
    """The places of names next to values, without overlaps and within the axis.

    >>> spread_apart(np.array([0.0, 1.0, 100.0]), (0, 100)).round(1).tolist()
    [0.0, 6.7, 100.0]
    """
    low, high = within
    gap = ROW / HEIGHT * ((high - low) or 1.0)  # of the height of the chart, a line of text
    steps = gap * np.arange(len(ascending))
    free = ascending - steps
    # Halfway between names that are only moved up and names that are only moved down.
    up, down = np.maximum.accumulate(free), np.minimum.accumulate(free[::-1])[::-1]
    moved, room = (up + down) / 2, high - low - gap * (len(ascending) - 1)
    return steps + (np.clip(moved, low, low + room) if room >= 0 else moved)
