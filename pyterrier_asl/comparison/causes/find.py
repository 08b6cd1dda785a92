"""The causes of the difference between a run and the baseline, with what is left without them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...evaluation.evaluation import Evaluation
from ...evaluation.measuring import values_of
from ...judging.judged_run import JudgedRun
from ...measures.standard import formula
from ...scoring.arrays import Floats
from .cause import Cause, Pair
from .ids import document_ids, qrels_ids, unknown_documents
from .missing import missing_documents
from .queries import exchanged_queries, repeated_rankings, unanswered_queries
from .rankings import (
    own_queries,
    reversed_scores,
    short_rankings,
    tied_scores,
    unjudged_documents,
)

#: The causes that are looked for in both runs at once, and in each run.
_OF_BOTH = (qrels_ids, exchanged_queries, reversed_scores)
_OF_ONE = (
    unanswered_queries,
    repeated_rankings,
    short_rankings,
    tied_scores,
    own_queries,
)

#: The share of the difference that a fact must explain to be named.
_EXPLAINS = 0.1
_COLUMNS = (
    *("run", "cause", "where", "share", "evidence", "measure", "difference", "effect"),
    *("comparable", "remedy"),
)


def causes_frame(rows: Sequence[Mapping[str, Any]] = ()) -> pd.DataFrame:
    """The rows of causes as a frame."""
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def has_effects(measure: Any) -> bool:
    """Whether effects on a measure can be computed: it needs judged documents only."""
    own = formula(measure)
    return own is not None and own.HIGHER_IS_BETTER is not None and not own.needs_rows()


def causes_of_runs(
    judged: Evaluation,
    measures: Mapping[str, Any],
    first: Iterable[str] = (),
    *,
    track: str = "",
) -> list[dict[str, Any]]:
    """The causes of the difference of each run from the first, as rows with ``run``.

    Args:
        judged: the runs, the baseline first.
        measures: the measures by name; effects are on the first whose values depend on judged
            documents only. None: no effects are computed, and no facts named.
        first: the names of measures that come before all others.
        track: the name of the collection, with which evidence begins; '' for a single one.
    """
    by_name = {name: measure for name, measure in measures.items() if has_effects(measure)}
    name = next(iter([*(name for name in first if name in by_name), *by_name]), None)
    measure, (baseline, *others) = by_name[name] if name else None, judged.runs
    rows = []
    for row, run in enumerate(others, 1):
        values = judged.values(measure)[[0, row]] if name else np.zeros((2, len(judged.qids)))
        for cause in find_causes(baseline, run, measure, (values[0], values[1])):
            evidence = f"{track}: {cause['evidence']}" if track else cause["evidence"]
            names = {"run": judged.names[row], "measure": name, "evidence": evidence}
            rows.append(cause | names)
    return rows


def find_causes(
    a: JudgedRun, b: JudgedRun, measure: Any, values: tuple[Floats, Floats]
) -> list[dict[str, Any]]:
    """The causes of the difference between two runs other than the systems.

    Args:
        a: the baseline.
        b: the run.
        measure: the measure for effects; None: no effects are computed.
        values: its values per query for A and for B, each of shape (Q,).

    Returns:
        A row per cause, first the causes for which the runs cannot be compared: ``cause``;
        ``where`` it was found; ``share`` of documents or queries; ``evidence``; ``difference``,
        the mean of B - A; ``effect``, the difference without the cause, NaN where it cannot be
        computed; ``comparable``, whether the runs can be compared; ``remedy``.
    """
    pair, rows = Pair.of(a, b), []
    difference = float((values[1] - values[0]).mean())
    least = _EXPLAINS * abs(difference)
    for side, cause in _causes(pair):
        effects: list[float] = []
        is_explaining = False
        for effect in _left(cause, side, measure, values) if measure else ():
            is_explaining = abs(effect - difference) >= least > 0
            effects = [effect] if is_explaining else [*effects, effect]
            if is_explaining:
                break
        if is_explaining or not cause.is_fact or (measure and not effects):
            effect = effects[0] if effects else np.nan
            row = {"cause": cause.name, "difference": difference, "effect": effect}
            rows.append(vars(cause) | row)
    return sorted(rows, key=lambda row: bool(row["comparable"]))


def sentence(row: Mapping[Any, Any]) -> str:
    """A sentence on a cause, from its row.

    >>> row = {"evidence": "B lacks x", "measure": "AP", "difference": -0.2, "effect": -0.01}
    >>> sentence(row | {"remedy": "add x"})
    'B lacks x. Without this the difference in AP is -0.0100 instead of -0.2000. Add x.'
    """
    remedy = f"{row['remedy'][0].upper()}{row['remedy'][1:]}."
    without = "In another order of them" if row.get("cause") == "ties" else "Without this"
    effect = (
        f"{without} the difference in {row['measure']} is {round(row['effect'], 4) + 0:+.4f} "
        f"instead of {row['difference']:+.4f}."
    )
    parts = [f"{row['evidence']}.", effect if np.isfinite(row["effect"]) else "", remedy]
    return " ".join(filter(None, parts))


def _causes(pair: Pair) -> list[tuple[Pair, Cause]]:
    """The causes, each with the pair in which it was found.

    Some causes look like others. Ids of the runs seem to be wrong where the qrels write them
    differently. Documents seem to be missing where all scores are equal, because the order is the
    order of ids. Documents are unjudged where ids are wrong.
    """
    of_both = [cause for find in _OF_BOTH if (cause := find(pair))]
    is_right = any(cause.where == "the qrels" for cause in of_both)
    names = {(cause.name, cause.where) for cause in of_both}
    found = [(pair, cause) for cause in of_both]
    for side in (pair, pair.swapped):
        by_id = side.b.run.has_constant_scores
        finders = [*([] if is_right else [document_ids]), *([] if by_id else [missing_documents])]
        causes = [cause for find in (*finders, *_OF_ONE) if (cause := find(side))]
        causes = [cause for cause in causes if (cause.name, cause.where) not in names]
        if not by_id and not of_both and all(cause.is_fact for cause in causes):
            causes += filter(None, [unknown_documents(side)])
        found += [(side, cause) for cause in causes]
    # With relevant documents only in the qrels, measures of the judged documents compare nothing.
    if all(cause.comparable for _, cause in found) and (pair.judgements.grades <= 0).any():
        found.append((pair, unjudged_documents(pair)))
    return found


def _left(cause: Cause, pair: Pair, measure: Any, values: tuple[Floats, Floats]) -> Iterator[float]:
    """The mean differences B - A without a cause, which was found in the second run of a pair."""
    is_b = pair.b.name == "B"
    of_runs = dict(zip(map(id, (pair.a.run, pair.b.run)), values if is_b else values[::-1]))
    for runs in cause.repaired():
        other, this = (
            (of_runs[id(run)] if id(run) in of_runs else values_of([measure], run)[0]).mean()
            for run in runs
        )
        yield float(this - other if is_b else other - this)
    if cause.queries is not None and not cause.queries.all():
        yield float((values[1] - values[0])[~cause.queries].mean())
