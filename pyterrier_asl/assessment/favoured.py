"""Which runs does a judge favour, beyond what their values by people let expect?"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from ir_measures import Judged

from ..charts.drawing import COLORS, HEIGHT, POINT, WIDTH, alt, captioned, tooltips
from ..charts.scales import around
from ..common.lazy import pd
from ..common.notices import counted, grouped
from ..measures.parsing import NamedMeasure
from ..statistics.favour import favours
from ..statistics.settings import DRAWS
from .judges import FEW_QUERIES, Judges, sign_of

#: The number of runs below which no favour is tested.
FEW_RUNS = 5

#: The number of first documents of which the judged ones are counted for a measure without cut-off.
_DEPTH = 10

#: The columns of :attr:`.JudgeReport.favoured`.
COLUMNS = [
    *("judge", "measure", "run", "value", "people", "favour", "p", "judged"),
    *("expected", "person", "queries"),
]


def favours_by_judge(
    judges: Judges, measures: list[NamedMeasure], *, seed: int = 0
) -> tuple[pd.DataFrame, list[str]]:
    """The favour of each run by each judge who is not a person, the least p first.

    Args:
        judges: the judges, with runs, the reference first.
        measures: the measures of the favour.
        seed: seed of the sign vectors.

    Returns:
        The frame :attr:`.JudgeReport.favoured`, and sentences on what cannot be tested. With
        several people the row of a run is about the person by whom its p is greatest.
    """
    parts, untested = [], []
    for name, measure in [(n, m) for n in judges.names for m in measures]:
        against = []
        for person in judges.people if name not in judges.people else []:
            own, reason = _favours_against(judges.select([person, name]), measure, seed)
            against += [own] * (len(own) > 0)
            if reason:
                untested.append(f"{name} against {person}, {measure.name}: {reason}.")
        if against:
            of_runs = pd.concat(against).sort_values("p", kind="stable")
            by_worst = of_runs.drop_duplicates("run", keep="last")
            parts.append(by_worst.sort_values(["p", "favour"], ascending=[True, False]))
    favoured = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)
    return favoured, untested


def _favours_against(judges: Judges, measure: NamedMeasure, seed: int) -> tuple[pd.DataFrame, str]:
    """The favours of runs by the second judge against the first, and what cannot be tested."""
    person, judge = judges.names
    texts = (set(own.judgements.qid_text.to_pylist()) for own in judges.members.values())
    queries, runs = len(set.intersection(*texts)), len(judges.systems)
    if runs < FEW_RUNS or queries < FEW_QUERIES:
        return pd.DataFrame(), (
            f"no test, because there are {counted(runs, 'run')} and "
            f"{counted(queries, 'query', 'queries')} that both judged: at least {FEW_RUNS} runs "
            f"and {FEW_QUERIES} queries are needed"
        )
    sign, label = sign_of(measure), judges.label(measure)
    people, values = (sign * own for own in judges.values(measure).values())
    slope, favour, p = favours(values, people, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ties, which the measure's own values warn of
        judged = judges.values_by(person, Judged @ (measure.measure.params.get("cutoff") or _DEPTH))
    by_judge = values.mean(axis=1)
    table = pd.DataFrame(
        {
            "judge": judge,
            "measure": label,
            "run": judges.systems,
            "value": sign * by_judge,
            "people": sign * people.mean(axis=1),
            "favour": favour,
            "p": np.where(slope > 0, p, np.nan),
            "judged": judged.mean(axis=1),
            "expected": sign * (by_judge - favour),
            "person": person,
            "queries": queries,
        }
    )
    if slope <= 0:
        return table, (
            "nothing can be said, because its values of the runs do not grow with the values by "
            f"people (slope {slope:.3g})"
        )
    same = f"no test, because the favour is the same in all {queries} queries"
    return table, same * bool(np.isnan(p).any())


def favour_sentences(favoured: pd.DataFrame, alpha: float) -> dict[str, list[str]]:
    """Sentences on the favoured runs, by judge.

    Args:
        favoured: the frame of :func:`favours_by_judge`.
        alpha: the level of significance.
    """
    runs = favoured.groupby(["judge", "measure"])["run"].transform("size")
    rows = zip(favoured.to_dict("records"), runs)
    return grouped((row["judge"], _sentence(row, of)) for row, of in rows if row["p"] <= alpha)


def _sentence(row: dict[Any, Any], runs: int) -> str:
    """The sentence on a run that a judge favours among so many runs."""
    p = f"= {row['p']:.3g}" if row["p"] else f"< {1 / min(2 ** row['queries'], DRAWS):.1g}"
    return (
        f"{row['judge']} favours {row['run']!r} by {row['favour']:.3g} {row['measure']} more than "
        f"its value by people lets expect (p {p}, over {runs} runs; people judged "
        f"{100 * row['judged']:.0f} % of its top documents): was it retrieved or reranked by this "
        "judge, or trained on its labels?"
    )


def favoured_chart(favoured: pd.DataFrame, alpha: float) -> Any:
    """The value of each run by the judge against its value by people."""
    panels = [_panel(of, alpha) for _, of in favoured.groupby(["judge", "measure"], sort=False)]
    return captioned(
        alt.vconcat(*panels),
        "Runs that a judge favours",
        "Each point is a run. The line is the value that a run's value by people lets expect. "
        f"Orange runs are favoured by the judge (p at most {alpha:g}, over all runs).",
    )


def _panel(runs: pd.DataFrame, alpha: float) -> Any:
    """The runs by one judge and one measure."""
    runs = runs.assign(favoured=runs["p"] <= alpha)
    across, up = (
        around(runs[own].to_numpy().ravel()) for own in (["people"], ["value", "expected"])
    )
    x, y = (alt.Scale(domain=ends, nice=False) for ends in (across, up))
    base = alt.Chart(runs, width=WIDTH, height=HEIGHT, title=runs["measure"].iloc[0]).encode(
        x=alt.X("people:Q", title="value by people", scale=x), tooltip=tooltips(*COLUMNS[2:8])
    )
    line = base.mark_line(color="gray").encode(y=alt.Y("expected:Q", scale=y), detail="person:N")
    points = base.mark_point(**POINT).encode(
        y=alt.Y("value:Q", title=f"value by {runs['judge'].iloc[0]}", scale=y),
        color=alt.Color(
            "favoured:N", legend=None, scale=alt.Scale(domain=[False, True], range=COLORS[:2])
        ),
    )
    return alt.layer(line, points)
