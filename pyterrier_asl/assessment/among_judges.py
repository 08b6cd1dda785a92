"""Agreement of every two judges, and judges that are one opinion."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

from ..charts.drawing import alt, captioned, cells, square, tooltips
from ..charts.scales import coefficient_colors
from ..common.lazy import pd
from ..common.notices import names_of
from ..measures.parsing import NamedMeasure
from .agreement import agreements_of, each_once
from .judges import Judges
from .verdicts import DOCUMENTS, SYSTEMS

#: The kappa above which judges are one opinion, if they agree less with people.
_COPIES = 0.95

_SWAPPED = {"judge": "other", "other": "judge"}

COLUMNS = ["judge", "other", "measure", "agreement", "value", "pairs", "queries"]


def agreement_among(judges: Judges, measures: Iterable[NamedMeasure] = ()) -> pd.DataFrame:
    """kappa, and tau by each measure, of every two judges on the pairs that both judged.

    Args:
        judges: the judges, the reference first.
        measures: those that rank the runs.

    Returns:
        The frame :attr:`.JudgeReport.among`.
    """
    rows = []
    together = judges.on_shared_pairs is judges
    for pair in judges.pairs():
        group = judges if together else judges.select(pair).on_shared_pairs
        if group is None:  # without a pair of query and document in common
            continue
        for measure in [None, *measures]:
            own = agreements_of(group.select(pair), measure, each_once)[frozenset(pair)]
            kind = DOCUMENTS if measure is None else SYSTEMS
            label = "" if measure is None else judges.label(measure)
            rows.append((*pair, label, kind, float(own.values[kind][0]), own.pairs, own.queries))
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return pd.concat([frame, frame.rename(columns=_SWAPPED)], ignore_index=True)


def opinions(among: pd.DataFrame, reference: str) -> list[str]:
    """Sentences on judges that agree with each other and not with the reference.

    Args:
        among: the frame of :func:`agreement_among`.
        reference: the name of the reference.

    >>> rows = [("p", "a", 0.4), ("p", "b", 0.3), ("a", "b", 0.99), ("b", "a", 0.99)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "other", "value"]).assign(agreement="kappa")
    >>> opinions(frame, "p")
    ['a and b are one opinion: their kappa with each other is 0.990, with p 0.300 to 0.400.']
    """
    kappa: dict[Any, float] = (
        among[among["agreement"] == DOCUMENTS].set_index(["judge", "other"])["value"].to_dict()
    )
    people = {b: value for (a, b), value in kappa.items() if a == reference}
    left = [name for name, value in people.items() if value <= _COPIES]
    sentences = []
    while left:
        group = [n for n in left if n == left[0] or kappa.get((left[0], n), 0) > _COPIES]
        left = [name for name in left if name not in group]
        inside = [kappa[pair] for pair in combinations(group, 2) if pair in kappa]
        if len(group) > 1:
            sentences.append(
                f"{names_of(group)} are one opinion: their kappa with each other is "
                f"{_range(inside)}, with {reference} {_range([people[name] for name in group])}."
            )
    return sentences


def _range(values: list[float]) -> str:
    return " to ".join(dict.fromkeys(f"{end:.3f}" for end in (min(values), max(values))))


def matrices(among: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The agreement of every two judges, a square frame for each kind and measure, by its name."""
    names = among["judge"].unique()
    return {
        f"{kind} {measure}".rstrip(): rows.pivot(index="judge", columns="other", values="value")
        .reindex(index=names, columns=names)
        .rename_axis(columns=None)
        .reset_index()
        for (kind, measure), rows in among.groupby(["agreement", "measure"], sort=False)
    }


def among_chart(among: pd.DataFrame) -> Any:
    """The agreement of every two judges as matrices."""
    names, shown = list(among["judge"].unique()), among.dropna(subset="value")
    color = alt.Color("value:Q", scale=coefficient_colors(shown["value"]), title="agreement")
    panels = []
    for (kind, measure), rows in shown.groupby(["agreement", "measure"], sort=False):
        base = square(alt.Chart(rows, title=f"{kind} {measure}"), "judge", "other", names)
        panels.append(cells(base, color, "value", "datum.value > 0.6", tooltips(*COLUMNS)))
    caption = (
        "Agreement of every two judges, on the pairs of query and document that both judged: kappa "
        "of their labels, tau of their rankings of the runs."
    )
    return captioned(alt.hconcat(*panels), "Judges among themselves", caption)
