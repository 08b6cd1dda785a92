"""The function ``explain``: which convention gives the values of another program?"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

import numpy as np

from ..common.lazy import pd
from ..common.notices import counted, names_of
from ..common.parameters import check_names
from ..common.types import Floats
from ..io.columns import is_table
from ..measures.parsing import Measures, NamedMeasure, canonical_name, is_measure, one_measure
from ..printing.printed import Part, Printed
from ..scoring.conventions import QUERIES, SUMS, Convention, parts_of
from .conventions import EQUAL, OF_NUMBERS, Asked, Search
from .evaluation import Evaluation
from .scores import ScoreTable, read_scores
from .sources import named_runs

#: The most grades of qrels, each of which is an option.
_MOST_GRADES = 20
#: The numbers of near conventions and of queries that are printed.
_PRINTED = 5

#: Words on the options that differ from trec_eval's, by part.
WORDS: dict[str, dict[Any, str]] = {
    "gain": {
        "2^grade - 1": "exponential gains (2^grade - 1)",
        "": "binary gains (1 from grade {} on)",
    },
    "discount": {"log2(rank)": "the discount log2(rank) from rank 2 on"},
    "ideal": {
        "retrieved": "the ideal of the retrieved documents only",
        "first k": "the ideal of the first k documents only",
        "judged, as many as retrieved": "an ideal of as many judged documents as were retrieved",
        "judged, not cut": "an ideal without a cut-off",
        "k of gain 1": "an ideal of k documents of gain 1",
    },
    "relevant from": {"": "documents relevant from grade {} on"},
    "divided by": {
        "1": "1 for a relevant document among the first k, else 0",
        "relevant retrieved": "a division by the relevant documents retrieved",
        "min(relevant, k)": "a division by min(relevant, k)",
        "k": "a division by k",
        "min(retrieved, k)": "a division by min(retrieved, k)",
    },
    "equal scores": {
        "docno ascending": "equal scores ordered by document id, ascending",
        "file": "equal scores in the order of the file",
        "file reversed": "equal scores in the reverse order of the file",
        "rank": "equal scores ordered by the column of ranks",
        "mean gain": "the mean gain of equal scores at each of their ranks",
    },
    "order": {
        "file": "the order of the file, whatever the scores",
        "rank": "the order of the column of ranks, whatever the scores",
    },
    "unjudged": {"left out": "unjudged documents left out"},
    "cut-off": {None: "no cut-off", "": "the cut-off {}"},
    "queries": {
        "answered": "a mean over the answered queries",
        "with a relevant document": "a mean over the queries with a relevant document",
        "both": "a mean over the answered queries with a relevant document",
    },
}


def words_of(convention: Convention) -> str:
    """The options of a convention that differ from trec_eval's, in words.

    >>> words_of({"gain": "1 from 2", "cut-off": None})
    'binary gains (1 from grade 2 on) and no cut-off'
    """
    texts = [
        WORDS[part].get(option) or WORDS[part][""].format(str(option).rpartition(" ")[2])
        for part, option in convention.items()
    ]
    return names_of(texts, len(texts)) if texts else "trec_eval's options"


#: Whose values were given, after the number of queries without one.
_WHOSE = {
    "answered": ": those that the run does not answer",
    "with a relevant document": ": those without a relevant document",
    "both": ": those without an answer or a relevant document",
}


@dataclass(frozen=True, repr=False, eq=False)
class Explanation(Printed):
    """The result of :func:`~pyterrier_asl.explain`.

    Attributes:
        measure: the name of the measure.
        conventions: the conventions that fit with the fewest changes: part -> option, only the
            parts that differ from trec_eval's. Empty: no convention that is known gives the values.
        near: without these the nearest conventions by the mean difference, the nearest first.
        fit: for means how many different values with so many changes fit, and of how many.
        more_changes: the number of changes with which means fit, but which explains nothing; None:
            there is no such number.
        notes: sentences on what must be known of the inputs.
    """

    measure: str
    conventions: list[Convention]
    near: list[Convention]
    fit: tuple[int, int] | None
    more_changes: int | None
    notes: list[str]
    _search: Search

    @property
    def explained(self) -> bool:
        """Whether the values are those of a convention."""
        return bool(self.conventions)

    @property
    def _best(self) -> list[Convention]:
        return self.conventions or self.near

    @property
    def queries(self) -> str | None:
        """Whose values were given, ``of the qrels``, ``answered``, ``with a relevant document`` or
        ``both``; None: other queries', or means."""
        return self._search.queries(self._best[0])

    @cached_property
    def table(self) -> pd.DataFrame:
        """The best conventions after trec_eval's: ``convention``, ``changes``, ``mean`` of what it
        gives, ``deviation`` (the largest), ``fit`` and ``of``, the number of values."""
        asked = self._search.asked
        best = self._best if {} in self._best else [{}, *self._best]
        return pd.DataFrame(
            {
                "convention": words_of(convention),
                "changes": len(convention),
                "mean": np.concatenate([of.gives(convention) for of in asked]).mean(),
                "deviation": deviations.max(),
                "fit": sum(int(of.fit(convention).sum()) for of in asked),
                "of": len(deviations),
            }
            for convention, deviations in zip(best, map(self._search.deviations, best))
        )

    @cached_property
    def by_query(self) -> pd.DataFrame:
        """The queries, those that differ most from ours first: ``name``, ``qid``, ``value`` (NaN
        where none is given), ``explained``, what the best convention gives, ``ours``, and
        ``difference`` of the value from ours; for means of the convention from ours."""
        frames = []
        for of in self._search.asked:
            value = np.full(len(of.run.retrieved), np.nan)
            value[slice(0) if of.queries is None else of.queries] = of.values[: len(value)]
            frame = pd.DataFrame({"name": of.name, "qid": of.run.judgements.qids, "value": value})
            frame["explained"] = of.by_query(self._best[0])
            frame["ours"] = of.by_query({})
            theirs = frame["explained" if of.queries is None else "value"]
            frames.append(frame.assign(difference=theirs - frame["ours"]))
        frame = pd.concat(frames)
        return frame.sort_values(
            "difference", ascending=False, kind="stable", key=np.abs, ignore_index=True
        )

    def sentences(self) -> list[str]:
        """What was found, in sentences."""
        asked, given = self._search.asked, self.table["of"].iloc[0]
        what = f"{self.measure} of {names_of([of.name for of in asked])}"
        if self.explained:
            words = [*map(words_of, self.conventions)]
            how = (
                f"with {words[0]}"
                if len(words) == 1
                else f"by one of {len(words)} conventions, which these values do not distinguish "
                f"({'; '.join(words)})"
            )
            texts = [f"{what} is computed {how}: {self._fit(given)}."]
        else:
            fitting = sum(of.fit(self.near[0]).sum() for of in asked)
            gives = f"fits {fitting} of {counted(given, 'value')}"
            if self._search.are_means and given == 1:
                gives = f"gives {asked[0].gives(self.near[0])[0]:.4f}"
                what = f"{asked[0].values[0]:.12g} as {what}"
            texts = [
                f"No convention that is known gives {what}. The nearest, with "
                f"{words_of(self.near[0])}, {gives}."
            ]
        ours = [f"{of.gives({}).mean():.4f}" + f" for {of.name}" * (len(asked) > 1) for of in asked]
        return [*texts, *self._remarks(), f"Ours, trec_eval's, is {names_of(ours, len(ours))}."]

    def _fit(self, given: int) -> str:
        """How closely, and how many, values fit that are explained."""
        decimals = self._search.asked[0].decimals
        digits = f"to {counted(decimals, 'decimal')}" if decimals else f"to {OF_NUMBERS:g}"
        if self.fit is None:
            many = (
                "the value of 1 query fits" if given == 1 else f"all {given:,} values by query fit"
            )
            return f"{many} {digits}"
        text = f"the mean fits {digits}" if given == 1 else f"all {given} means fit {digits}"
        changes, (fit, of) = len(self.conventions[0]), self.fit
        if not changes:
            return text
        return f"{text}, {fit} of {of} different values with {counted(changes, 'change')}"

    def _remarks(self) -> Iterator[str]:
        """What must be known of the values."""
        asked = self._search.asked
        if ignored := sum(of.ignored for of in asked):
            yield f"{counted(ignored, 'value')} of queries that the qrels lack: ignored."
        if not self._search.are_means and self.queries != next(iter(QUERIES)):
            total = sum(len(of.run.retrieved) for of in asked) - self.table["of"].iloc[0]
            whose = _WHOSE.get(self.queries or "", "")
            yield f"{counted(total, 'query has', 'queries have')} no value{whose}."
        if self.explained:
            return
        if self.more_changes is not None:
            yield (
                f"A convention with {counted(self.more_changes, 'change')} fits, as conventions "
                "do fit many made-up means: give values by query, or means of several runs, with "
                "4 decimals."
            )
        values = np.concatenate([of.values for of in asked])
        if values.max() > 1:
            yield f"The values go up to {values.max():g}: divide percentages by 100."
        if not (asked[0].decimals or np.any(values != values.round(5))):
            yield "If these numbers were rounded, give them as text, as in '0.4500'."

    def parts(self) -> Iterable[Part]:
        """The sentences, the conventions, and the queries that differ most from ours."""
        yield from map(Part, self.sentences())
        yield Part("Conventions:", self.table)
        differ = self.by_query[self.by_query["difference"].abs() > EQUAL].head(_PRINTED)
        if len(differ):
            yield Part("Queries that differ most from ours:", differ.dropna(axis=1))


# Inputs


def _exact(value: Any) -> Decimal | None:
    """A number, or the number in a text, with its decimals; None for anything else."""
    with suppress(InvalidOperation):
        if (exact := Decimal(str(value))).is_finite():
            return exact
    return None


def _numbers(values: Iterable[Any], what: str, *, are_means: bool) -> tuple[Floats, int]:
    """Values, and the most decimals of any of them; 0: not known, as of numbers by query."""
    numbers, decimals = [], 0
    for value in values:
        if (exact := _exact(value)) is None:
            raise ValueError(f"a value of {what} is {value!r}: give a number, such as 0.4212")
        numbers.append(float(exact))
        if are_means or isinstance(value, str):
            decimals = max(decimals, -int(exact.as_tuple().exponent))
    return np.array(numbers), decimals


def _of_table(scores: Any, measure: NamedMeasure) -> dict[str, dict[str, Any]]:
    """The values by query of each system of a frame, a file or a table of scores."""
    table = scores if isinstance(scores, ScoreTable) else read_scores(scores)
    by_name = {canonical_name(name): name for name in reversed(table.measures)}
    own = by_name.get(str(measure.measure), table.measures[0])
    if own != by_name.get(str(measure.measure)) and (len(by_name) > 1 or is_measure(own)):
        raise ValueError(
            f"the values have no measure {measure.name!r}; they have {names_of(table.measures)}"
        )
    rows = table.rows[(table.rows["measure"] == own) & table.rows["value"].notna()]
    return {str(name): dict(zip(of["qid"], of["text"])) for name, of in rows.groupby("name")}


def _by_run(values: Any, names: list[str], measure: NamedMeasure) -> dict[str, Any]:
    """The values of each run: one mean, or a dict of query -> value."""
    is_file = isinstance(values, os.PathLike) or (isinstance(values, str) and not _exact(values))
    if is_file or is_table(values) or isinstance(values, ScoreTable):
        values = _of_table(values, measure)
        if len(values) == len(names) == 1:
            values = dict(zip(names, values.values()))
    elif len(names) == 1 and not (isinstance(values, Mapping) and [*values] == names):
        values = {names[0]: values}
    if not isinstance(values, Mapping):
        raise ValueError(f"{len(names)} runs have one value: give a dict of run -> value")
    check_names("values", values, names, "runs")
    check_names("the runs", names, values, "systems that have values")
    return {str(name): of for name, of in values.items()}


def _asked(of: Asked, values: Any) -> Asked:
    """The values of a run."""
    if not isinstance(values, Mapping):
        numbers, decimals = _numbers([values], of.name, are_means=True)
        return replace(of, values=numbers, decimals=decimals)
    places = {str(qid): place for place, qid in enumerate(of.run.judgements.qids)}
    known = {str(qid): value for qid, value in values.items() if str(qid) in places}
    if not known:
        raise ValueError(
            f"no value of {of.name} has a query of the qrels (e.g. {next(iter(places))!r}), only "
            f"{names_of([*map(repr, values)] or ['none'])}: give values by query, or one mean"
        )
    numbers, decimals = _numbers(known.values(), of.name, are_means=False)
    queries, ignored = np.array([places[qid] for qid in known]), len(values) - len(known)
    return replace(of, values=numbers, queries=queries, decimals=decimals, ignored=ignored)


def explain(
    run: Any, qrels: Any, measure: Measures, values: Any, *, name: str | None = None
) -> Explanation:
    """Explains by which convention another program computes its values of a measure.

    Programs differ in gains, discounts, ideal rankings, divisors, orders of equal scores, unjudged
    documents, cut-offs, and queries whose mean they take. Every combination of these options is
    tried. Values by query are explained by the conventions with the fewest changes from trec_eval's
    options that all of them fit. A mean of four decimals or more is explained by one change at
    most, the means of several runs by two at most: more changes fit means that were made up.

    Args:
        run: a run; or several, whose values one convention must explain. See
            :func:`~pyterrier_asl.evaluate`.
        qrels: see :func:`~pyterrier_asl.evaluate`.
        measure: nDCG, AP, RR, P or R, with or without a cut-off, as in ``nDCG@10``.
        values: what the other program gives: a dict of query -> value, a frame or a file that
            :func:`~pyterrier_asl.read_scores` reads, or one mean; of several runs a dict of name ->
            such values, or a frame or file with the names. Text, and a mean, show to how many
            decimals values were rounded; numbers by query must fit to 1e-6.
        name: the name of a single run; None: the name of its file, or ``run``.

    Raises:
        ValueError: for another measure, values that are not numbers, runs without values, and
            values without a query of the qrels.

    >>> run, qrels = {"q": {"a": 3, "b": 2, "c": 1}}, {"q": {"a": 1, "b": 3, "c": 2}}
    >>> explanation = explain(run, qrels, "nDCG@10", {"q": "0.7364"}, name="hybrid")
    >>> explanation.conventions
    [{'gain': '2^grade - 1'}]
    >>> explanation.sentences()[1]
    "Ours, trec_eval's, is 0.8175."
    """
    named, sources = one_measure(measure), named_runs(run)
    if named.measure.NAME not in ("nDCG", *SUMS) or named.measure.params.keys() - {"cutoff"}:
        raise ValueError(
            f"the conventions of {named.name} are not known: explain takes nDCG, AP, RR, P and R, "
            "with a cut-off or without one, and no other parameter, as in nDCG@10"
        )
    if name is not None:
        if len(sources) > 1:
            raise ValueError(f"name={name!r} is for a single run: name several in a dict")
        sources = {name: next(iter(sources.values()))}
    evaluation = Evaluation.of(sources, qrels)
    grades = evaluation.judgements.grades
    levels = np.unique(grades[grades > 0]).tolist()
    if len(levels) > _MOST_GRADES:
        raise ValueError(
            f"the qrels have {len(levels)} grades above 0, and each is an option: map them to at "
            f"most {_MOST_GRADES}"
        )
    kind, cutoff = named.measure.NAME, named.measure.params.get("cutoff")
    parts = parts_of(
        kind, cutoff, levels, ranks=all(of.table.has("rank") for of in evaluation.runs)
    )
    by_run = _by_run(values, evaluation.names, named)
    asked = [
        _asked(Asked(run_name, judged, kind, parts), by_run[run_name])
        for run_name, judged in zip(evaluation.names, evaluation.runs)
    ]
    are_means = [of.queries is None for of in asked]
    if any(are_means) and not all(are_means):
        raise ValueError("some runs have a mean, others values by query: give all the same kind")
    search = Search(asked, parts | ({"queries": list(QUERIES)} if all(are_means) else {}))
    fitting, fit = search.explaining()
    return Explanation(
        named.name,
        fitting,
        [] if fitting else search.near(_PRINTED),
        fit,
        None if fitting else search.more_changes(),
        evaluation.facts({named.name: named.measure}).notes,
        search,
    )
