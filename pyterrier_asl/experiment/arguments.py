"""Arguments of an experiment: systems, baselines, and the columns of its table."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt
from ir_measures import Measure

from ..common.parameters import one_or_more
from ..common.types import Floats
from ..evaluation.sources import common_rel
from ..io.values import check_queries
from ..measures import LexiP
from ..measures.directions import higher_is_better
from ..measures.parsing import parse_measure, parse_measures
from ..statistics.tests import compare_pair
from .recorder import text_ids

#: A test of two paired samples by its name, or a function whose second result is the p-value.
Test = str | Callable[[Floats, Floats], Any]

#: The test of each preference over a baseline.
_TESTS = {"sgnLP": "sign", "rrLP": "t"}


@dataclass(frozen=True)
class Column:
    """One column of means.

    Attributes:
        label: the name of the column.
        measure: the measure; for a preference LexiP with its parameters.
        preference: ``'sgnLP'`` or ``'rrLP'``, None for a measure.
        baseline: the number of the baseline of a preference.
    """

    label: str
    measure: Measure
    preference: str | None = None
    baseline: int | None = None

    @property
    def higher_is_better(self) -> bool | None:
        """The direction of the measure; None for a count."""
        return higher_is_better(self.measure)

    def mean(self, values: Floats) -> float:
        """The mean over queries, or the sum for a count, as ir_measures computes it."""
        total = self.measure.aggregator()  # equal to pt.Experiment to the last bit
        for value in values.tolist():
            total.add(value)
        return float(total.result())

    def p_value(self, values: Floats, baseline: Floats, test: Test) -> float:
        """The p-value of the difference from the baseline, as :func:`compare` computes it."""
        if self.preference is not None:
            return compare_pair(values, 0 * values, _TESTS[self.preference]).p
        if isinstance(test, str):
            return compare_pair(values, baseline, test).p
        return float(test(values, baseline)[1])


def suffix(baseline: int, baselines: Sequence[int], names: Sequence[str]) -> str:
    """The end of the column names of a baseline; '' if there is only one baseline.

    >>> suffix(1, [0, 1], ["BM25", "DPH"]), suffix(1, [1], ["BM25", "DPH"])
    (' vs DPH', '')
    """
    return f" vs {names[baseline]}" if len(baselines) > 1 else ""


def named_systems(systems: Any, names: Sequence[str] | None) -> tuple[list[str], list[Any]]:
    """The names of the systems, and the systems; a dict has its own names."""
    if isinstance(systems, Mapping):
        return [str(name) for name in systems], list(systems.values())
    if not isinstance(systems, list):
        raise TypeError(
            f"retr_systems must be a list or dict of transformers or results, not {type(systems)}"
        )
    names = [str(system) for system in systems] if names is None else [str(n) for n in names]
    if not systems:
        raise ValueError("retr_systems is empty: give at least one system")
    if len(names) != len(systems):
        raise ValueError(f"there are {len(systems)} systems, but {len(names)} names: {names}")
    return names, systems


def baseline_numbers(baseline: Any, names: list[str]) -> list[int]:
    """The numbers of the baselines, given by number or name."""
    numbers = {at: at for at in range(len(names))}
    known = numbers | {name: at for at, name in enumerate(names) if names.count(name) == 1}
    given = [] if baseline is None else one_or_more(baseline)
    for one in given:
        if type(one) is bool or not isinstance(one, (str, int, np.integer)) or one not in known:
            raise ValueError(
                f"baseline must be the number of a system, from 0 to {len(names) - 1}, or the name "
                f"of one, {', '.join(map(repr, names))}; not {one!r}"
            )
    return list(dict.fromkeys(known[one] for one in given))


def columns_of(
    eval_metrics: Any, baselines: list[int], names: list[str]
) -> tuple[list[Column], bool]:
    """Parses measures into columns, without duplicates, and whether ``mrt`` is among them."""
    eval_metrics = one_or_more(eval_metrics)
    others = [m for m in eval_metrics if not (isinstance(m, str) and m == "mrt")]
    mrt = len(others) < len(eval_metrics)
    columns: dict[str, Column] = {}
    parsed = [column for measure in others for column in _parse_columns(measure)]
    rel = common_rel(column.measure for column in parsed if column.preference is None)
    for column in parsed:
        if column.preference is None:
            columns.setdefault(column.label, column)
            continue
        if rel is not None and "rel" not in column.measure.params:
            column = replace(column, measure=column.measure(rel=rel))
        if not baselines:
            raise ValueError(f"{column.label} compares systems with a baseline: pass baseline=")
        for number in baselines:
            label = column.label + suffix(number, baselines, names)
            columns.setdefault(label, replace(column, label=label, baseline=number))
    if not columns:
        raise ValueError("eval_metrics names no measure" + (" besides mrt" if mrt else ""))
    return list(columns.values()), mrt


def _parse_columns(measure: Any) -> list[Column]:
    """Parses a measure; names of PyTerrier have priority over names of ir_measures."""
    if isinstance(measure, Measure):
        return [Column(str(measure), measure)]
    if not isinstance(measure, str):
        raise ValueError(f"a measure is text or an ir_measures Measure, not {measure!r}")
    preference = re.match(r"(sgnLP|rrLP)(?=$|[(@])", measure)
    if preference:
        lexip = parse_measure(f"{LexiP.NAME}{measure[preference.end() :]}")
        return [Column(measure, lexip, preference.group())]
    return [Column(named.name, named.measure) for named in parse_measures(measure)]


def read_topics(source: Any) -> pd.DataFrame:
    """Reads topics, with query ids as text, each once."""
    if isinstance(source, (str, os.PathLike)) and os.path.isfile(source):
        source = pt.io.read_topics(str(source))
    if not isinstance(source, pd.DataFrame) or "qid" not in source.columns:
        raise ValueError(
            "topics must be a frame with a column 'qid', or a file, not "
            f"{list(source.columns) if isinstance(source, pd.DataFrame) else repr(source)}"
        )
    check_queries(source["qid"])
    return text_ids(source)
