"""Is there room above a system that scores as a second assessor does? (Trotman and Keeler 2011.)

Another assessor's relevant documents are taken as a ranking and scored by the original's
judgements. What keeps two people from agreeing keeps any system from a score of 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ir_measures
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from tqdm.auto import tqdm

from ..evaluation import judgements_of
from ..judging import Judgements
from ..scoring import assessor as scoring
from .comparisons import PairedTest, as_frame
from .judged_runs import JudgedRuns
from .measure_options import least_grade, with_options
from .slices import Queries, per_slice

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: The scores of an assessor, whose documents have no order, as Table 1 names them.
BOUNDS = ("upper", "expected", "lower")
#: What the original's judgements are called in the results.
ORIGINAL = "original"

#: Numbers that the sampling of permutations holds at once.
_CHUNK = 2**22


@dataclass(frozen=True)
class Assessed:
    """Another assessor's documents of Q topics, counted against the original's.

    Attributes:
        name: the other assessor.
        retrieved: R', documents the other found relevant, shape (Q,).
        common: r, those that the original found relevant too, shape (Q,).
        relevant: N_R, documents the original found relevant, shape (Q,).
    """

    name: str
    retrieved: Ints
    common: Ints
    relevant: Ints

    def average_precision(self) -> dict[str, Floats]:
        """AP of each topic by each of the :data:`BOUNDS`: best order, expected, worst order."""
        counts = self.retrieved, self.common, self.relevant
        return {
            "upper": scoring.best_average_precision(*counts),
            "expected": scoring.expected_average_precision(*counts),
            "lower": scoring.worst_average_precision(*counts),
        }


@dataclass(frozen=True)
class AllAssessed:
    """Some assessors, over the topics that the original and all of them judged.

    Attributes:
        qids: the topics.
        at: their places among the original's.
        each: the assessors.
    """

    qids: list[Any]
    at: Ints
    each: list[Assessed]


def assessed_by(
    original: Judgements, assessors: Mapping[str, Any], rel: float = 1, assessor_rel: Any = None
) -> AllAssessed:
    """Counts other assessors' judgements against the original's.

    Args:
        original: the judgements to score by.
        assessors: name -> qrels.
        rel: minimum grade of a document that the original finds relevant.
        assessor_rel: the same for the others: a number, or name -> number; None: as ``rel``.

    Raises:
        ValueError: where there is no topic that all judged.
    """
    others = {str(name): judgements_of(qrels) for name, qrels in assessors.items()}
    at = _shared_topics(original, others)
    each = []
    for name, other in others.items():
        least = least_grade(assessor_rel, name, rel)
        counts = _count(original, other, rel, least)
        each.append(Assessed(name, *(count[at] for count in counts)))
    return AllAssessed([original.qids[place] for place in at], at, each)


def assessor_scores(
    qrels: Any,
    assessors: Mapping[str, Any],
    *,
    rel: float = 1,
    assessor_rel: Any = None,
    permutations: int = 0,
    seed: int = 0,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """How other assessors' relevant documents score as runs: at best, to be expected, at worst.

    Args:
        qrels: the original assessor's judgements: frame, file, or ir_datasets id.
        assessors: the other assessors', name -> qrels.
        rel: minimum grade of a document that the original finds relevant.
        assessor_rel: the same for the others: a number, or name -> number; None: as ``rel``.
        permutations: also estimate the expected score from so many random orders of each topic;
            the paper took 10,000. The closed form is exact.
        seed: of the random orders; each topic has its own stream.
        weights: how much each topic counts; see :func:`~pyterrier_asl.analysis.slices.slices`.
        by: slices of the topics, each with its own rows.

    Returns:
        One row for each assessor, with ``assessor``, ``topics`` (those that all judged),
        ``retrieved``, ``common`` and ``relevant`` (means over topics of R', r and N_R), and the
        MAP of the best order, ``upper``, of a random one, ``expected``, of the worst, ``lower``;
        with ``permutations`` also ``sampled``, its mean over random orders.

    An assessor who was shown few documents cannot find others: his score is then about the sample
    he was given. Give him judgements of the same documents in ``qrels`` to compare like with like.

    Source: Trotman and Keeler 2011, section 4.

    >>> qrels = {"q": {"a": 1, "b": 1, "c": 1, "d": 0}}
    >>> scores = assessor_scores(qrels, {"alt": {"q": {"a": 1, "b": 1, "d": 1}}})
    >>> scores.round(4)[["assessor", *BOUNDS]]
      assessor   upper  expected   lower
    0      alt  0.6667     0.537  0.3889
    """
    assessed = assessed_by(judgements_of(qrels), assessors, rel, assessor_rel)
    scores = {each.name: each.average_precision() for each in assessed.each}
    if permutations:
        for each in assessed.each:
            scores[each.name]["sampled"] = sampled_average_precision(
                each.retrieved, each.common, each.relevant, n=permutations, seed=seed
            )

    def analyse(queries: Queries) -> pd.DataFrame:
        rows = []
        for each in assessed.each:
            counts = {
                name: queries.mean(getattr(each, name))
                for name in ("retrieved", "common", "relevant")
            }
            values = {name: queries.mean(value) for name, value in scores[each.name].items()}
            rows.append({"assessor": each.name, "topics": len(queries), **counts, **values})
        return as_frame(rows)

    return per_slice(assessed.qids, analyse, weights, by)


def compare_with_assessors(
    runs: Any,
    qrels: Any = None,
    *,
    assessors: Mapping[str, Any],
    rel: float = 1,
    assessor_rel: Any = None,
    both_ways: bool = False,
    test: str = "t",
    correction: str | None = "holm",
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    seed: int = 0,
    weights: Any = None,
    by: Any = None,
    as_published: bool = False,
) -> pd.DataFrame:
    """Runs against other assessors at their best, expected and worst, by AP.

    Args:
        runs: dict of name -> run, folder, list of files, or JudgedRuns.
        qrels: the original assessor's judgements: frame, file, or ir_datasets id.
        assessors: the other assessors', name -> qrels.
        rel: minimum grade of a relevant document.
        assessor_rel: the same for the others: a number, or name -> number; None: as ``rel``.
        both_ways: also score the original's documents, and the runs, by each other assessor's
            judgements (the paper's "T6 org").
        test: a test for pairs; see :mod:`pyterrier_asl.statistics`.
        correction: over all rows of the result: ``'holm'``, ``'bonferroni'``, ``'bh'``, None.
        alpha: the level of significance; intervals cover 1 - alpha.
        n_resamples: draws of a randomisation test.
        seed: of those draws.
        weights: how much each topic counts; see :func:`~pyterrier_asl.analysis.slices.slices`.
        by: slices of the topics, each with its own rows.
        as_published: the paper's choice: the paired two-tailed t-test without correction.

    Returns:
        One row for each run, assessor and bound, with ``judged_by`` (``'original'``, or who else
        with ``both_ways``), ``assessor``, ``bound`` (``'upper'``, ``'expected'``, ``'lower'``),
        ``run``, ``run_AP``, ``assessor_AP``, ``topics``, then run less assessor: ``difference``,
        ``ci_low``, ``ci_high``, ``effect``, ``statistic``, ``p``, ``p_corrected``, ``significant``.
        ``attrs`` name the test, the correction and the size of its family.

    No significant difference is not the same as none: with few topics little is significant, and
    the interval says what is still possible.

    Source: Trotman and Keeler 2011, Table 1.

    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1, "x": 0}}
    >>> alt = {"q1": {"a": 1}, "q2": {"a": 1, "x": 1}}
    >>> runs = {"run": {"q1": {"a": 2, "b": 1}, "q2": {"x": 2, "a": 1}}}
    >>> compared = compare_with_assessors(runs, qrels, assessors={"alt": alt})
    >>> compared[["bound", "run_AP", "assessor_AP"]]
          bound  run_AP  assessor_AP
    0     upper    0.75        0.750
    1  expected    0.75        0.625
    2     lower    0.75        0.500
    """
    judged = JudgedRuns.of(runs, qrels)
    paired = PairedTest(test, None if as_published else correction, alpha, n_resamples, seed)
    parts = [_compared(judged, ORIGINAL, assessors, rel, assessor_rel, paired, weights, by)]
    if both_ways:
        for name, other in assessors.items():
            least = least_grade(assessor_rel, str(name), rel)
            parts.append(
                _compared(
                    judged.judged_by(other), str(name), {ORIGINAL: judged.judgements}, least, rel,
                    paired, weights, by,
                )  # fmt: skip
            )
    return paired.corrected(pd.concat(parts, ignore_index=True))


def human_range(
    runs: Any,
    qrels: Any = None,
    *,
    assessors: Mapping[str, Any],
    system: str | None = None,
    run_types: Any = None,
    rel: float = 1,
    assessor_rel: Any = None,
    weights: Any = None,
    by: Any = None,
) -> pd.DataFrame:
    """The range of human scores beside a system's, and of manual runs beside the best automatic.

    Args:
        runs: dict of name -> run, folder, list of files, or JudgedRuns.
        qrels: the original assessor's judgements: frame, file, or ir_datasets id.
        assessors: the other assessors', name -> qrels; may be empty where there are none.
        system: the run whose score is the bar beside the assessors; by default the best automatic
            one, or the best where types are not known.
        run_types: ``'manual'`` or ``'automatic'`` of each run: Series or dict by name, or a frame
            with columns ``run`` and ``type``.
        rel: minimum grade of a relevant document.
        assessor_rel: the same for the others: a number, or name -> number; None: as ``rel``.
        weights: how much each topic counts; see :func:`~pyterrier_asl.analysis.slices.slices`.
        by: slices of the topics, each with its own rows.

    Returns:
        One row for each assessor and, with ``run_types``, one for the manual runs, with ``who``,
        ``kind`` (``'assessor'``, ``'manual runs'``), ``low``, ``tick`` (the expected score of an
        assessor, the mean of the manual runs), ``high``, ``bar`` and ``bar_run`` (the system; for
        the manual runs the best automatic run), ``topics``. All by AP.

    Source: Trotman and Keeler 2011, Figure 2.

    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> runs = {"m": {"q": {"a": 1}}, "s": {"q": {"a": 2, "b": 1}}}
    >>> types = {"m": "manual", "s": "automatic"}
    >>> human_range(runs, qrels, assessors={"alt": {"q": {"a": 1}}}, run_types=types)
               who         kind  low  tick  high  bar bar_run  topics
    0          alt     assessor  0.5   0.5   0.5  1.0       s       1
    1  manual runs  manual runs  0.5   0.5   0.5  1.0       s       1
    """
    judged = JudgedRuns.of(runs, qrels)
    assessed = assessed_by(judged.judgements, assessors, rel, assessor_rel)
    precision = judged.values(with_options(ir_measures.AP, rel))[:, assessed.at]
    kinds = _types(judged.names, run_types)
    human = [(each.name, each.average_precision()) for each in assessed.each]

    def analyse(queries: Queries) -> pd.DataFrame:
        means = pd.Series(queries.mean(precision), index=judged.names)
        automatic = means if kinds is None else means[(kinds == "automatic").to_numpy()]
        best = str(automatic.index[int(automatic.argmax())]) if len(automatic) else None
        bar = best if system is None else judged.names[judged.row(system)]
        rows = []
        for name, scores in human:
            low, tick, high = (float(queries.mean(scores[b])) for b in reversed(BOUNDS))
            rows.append(_line(name, "assessor", low, tick, high, bar, means))
        manual = means[:0] if kinds is None else means[(kinds == "manual").to_numpy()]
        if len(manual):
            low, tick, high = manual.min(), manual.mean(), manual.max()
            rows.append(_line("manual runs", "manual runs", low, tick, high, best, means))
        return as_frame(rows).assign(topics=len(queries))

    return per_slice(assessed.qids, analyse, weights, by)


def sampled_average_precision(
    retrieved: Any, common: Any, relevant: Any, *, n: int = 10_000, seed: int = 0
) -> Floats:
    """AP of another assessor's documents, the mean of n random orders of each topic.

    What the paper does instead of
    :func:`~pyterrier_asl.scoring.assessor.expected_average_precision`, which is exact and
    a thousand times quicker.

    Args:
        retrieved: R', documents that the other assessor found relevant, shape (Q,).
        common: r, those that the original found relevant too, shape (Q,).
        relevant: N_R, documents that the original found relevant, shape (Q,).
        n: how many orders.
        seed: of the orders; each topic has its own stream, so a topic's value does not depend on
            which others there are before it.

    Returns:
        One value per topic, shape (Q,).

    >>> sampled_average_precision([3], [2], [3], n=2000).round(2).tolist()
    [0.54]
    """
    topics = list(zip(*(np.atleast_1d(each) for each in (retrieved, common, relevant))))
    work = n * sum(int(size) for size, _, _ in topics)
    means = []
    shown = tqdm(topics, desc="random orders", disable=work < 10**8 or None, leave=False)
    for topic, (size, r, total) in enumerate(shown):
        generator = np.random.default_rng([seed, topic])
        means.append(_sampled(int(size), int(r), int(total), n, generator))
    return np.array(means)


def _sampled(size: int, r: int, total: int, n: int, generator: np.random.Generator) -> float:
    if not r or not total:
        return 0.0
    step = max(1, _CHUNK // size)
    ranks = np.arange(1, size + 1)
    summed = 0.0
    for start in range(0, n, step):
        orders = np.broadcast_to(np.arange(size) < r, (min(step, n - start), size))
        hits = generator.permuted(orders, axis=1)
        summed += float(np.sum(np.cumsum(hits, axis=1) / ranks, where=hits))
    return summed / n / total


def _shared_topics(original: Judgements, others: Mapping[str, Judgements]) -> Ints:
    """Places among the original's topics of those that all judged."""
    topics = original.qid_text.to_pylist()
    known = [set(other.qid_text.to_pylist()) for other in others.values()]
    at = [place for place, topic in enumerate(topics) if all(topic in each for each in known)]
    if not at:
        first = {name: other.qid_text[:1].to_pylist() for name, other in others.items()}
        raise ValueError(
            f"no topic was judged by all of them: the qrels' topics look like {topics[:1]}, the "
            f"assessors' like {first}"
        )
    return np.array(at, dtype=np.int64)


def _count(
    original: Judgements, other: Judgements, rel: float, other_rel: float
) -> tuple[Ints, Ints, Ints]:
    """R', r and N_R of each of the original's topics; 0 where the other did not judge it."""
    place = {qid: number for number, qid in enumerate(original.qid_text.to_pylist())}
    topic_of = np.array([place.get(qid, -1) for qid in other.qid_text.to_pylist()], dtype=np.int64)
    chosen = (other.grades >= other_rel) & (other.grades >= 0) & (topic_of[other.queries] >= 0)
    rows = np.flatnonzero(chosen)
    topics = topic_of[other.queries[rows]]
    met = original.index.find(topics, other.docnos.take(pa.array(rows)))
    grades = np.append(original.grades, -np.inf)[met]
    agreed = (met >= 0) & (grades >= max(rel, 0))
    size = len(original)
    return (
        np.bincount(topics, minlength=size).astype(np.int64),
        np.bincount(topics[agreed], minlength=size).astype(np.int64),
        original.num_relevant(rel),
    )


def _compared(
    judged: JudgedRuns,
    judged_by: str,
    assessors: Mapping[str, Any],
    rel: float,
    assessor_rel: Any,
    paired: PairedTest,
    weights: Any,
    by: Any,
) -> pd.DataFrame:
    """Runs against assessors, all scored by one assessor's judgements."""
    assessed = assessed_by(judged.judgements, assessors, rel, assessor_rel)
    precision = judged.values(with_options(ir_measures.AP, rel))[:, assessed.at]

    def analyse(queries: Queries) -> pd.DataFrame:
        rows = []
        for each in assessed.each:
            for bound, scores in each.average_precision().items():
                for run, values in zip(judged.names, precision):
                    head = {"judged_by": judged_by, "assessor": each.name, "bound": bound}
                    means = {
                        "run_AP": float(queries.mean(values)),
                        "assessor_AP": float(queries.mean(scores)),
                        "topics": len(queries),
                    }
                    tested = paired.of(values, scores, queries)
                    rows.append({**head, "run": run, **means, **tested})
        return as_frame(rows)

    return per_slice(assessed.qids, analyse, weights, by)


def _line(
    who: str, kind: str, low: float, tick: float, high: float, bar: str | None, means: Any
) -> dict[str, Any]:
    height = float("nan") if bar is None else float(means[bar])
    return {
        "who": who, "kind": kind, "low": low, "tick": tick, "high": high, "bar": height,
        "bar_run": bar,
    }  # fmt: skip


def _types(names: list[str], run_types: Any) -> pd.Series[Any] | None:
    """Each run's type, in the order of the runs; None where types are not given."""
    if run_types is None:
        return None
    if isinstance(run_types, pd.DataFrame):
        run_types = run_types.set_index("run")["type"]
    known = {str(run): kind for run, kind in run_types.items()}
    lacking = [name for name in names if name not in known]
    if lacking:
        raise ValueError(f"run_types does not have the runs {lacking}: give each its type")
    return pd.Series([known[name] for name in names], index=names)
