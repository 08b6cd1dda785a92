"""Search spaces: parameters of transformers and their distributions."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import pyterrier as pt

#: Transformers, and for each of their parameters a distribution or a list of values, as in
#: GridSearch; or pairs of transformer and parameters, for equal transformers, which a dict cannot
#: distinguish.
Params: TypeAlias = (
    Mapping[pt.Transformer, Mapping[str, Any]] | Iterable[tuple[pt.Transformer, Mapping[str, Any]]]
)

#: One value for each parameter, in the order of :attr:`Space.parameters`.
Setting: TypeAlias = tuple[Any, ...]

#: Smallest distance of a quantile from 0 and 1, where unbounded distributions are infinite.
_EDGE = 2.0**-53


@dataclass(frozen=True, repr=False)
class truncated:
    """Whole numbers: the draws of a SciPy distribution, without their decimals.

    Args:
        distribution: a distribution such as ``scipy.stats.loguniform(8, 32)``, from which Clarke
            (2019) draws the number of feedback documents: 8, 9, ..., 31, small ones more often.

    Examples:
        >>> from scipy.stats import loguniform
        >>> depth = truncated(loguniform(8, 32))
        >>> depth.ppf(0.0), depth.ppf(0.51), depth.ppf(0.99)
        (8, 16, 31)
    """

    distribution: Any

    def ppf(self, quantile: float) -> int:
        """The whole number at a quantile."""
        return int(_quantiles(self.distribution)(quantile))

    def __repr__(self) -> str:
        return f"truncated({describe(self.distribution)})"


@dataclass(frozen=True)
class Parameter:
    """A parameter to tune.

    Attributes:
        transformer: its transformer.
        name: its name in the transformer.
        label: its name in tables: the same, or ``tran_<i>_<name>``, as in GridScan, if two
            transformers have a parameter of this name.
        distribution: a distribution with quantiles, or a list of values.
    """

    transformer: pt.Transformer
    name: str
    label: str
    distribution: Any

    @cached_property
    def values(self) -> list[Any] | None:
        """The values of a list; None for a distribution."""
        if _quantiles(self.distribution):
            return None
        return [v.item() if isinstance(v, np.generic) else v for v in self.distribution]

    def value(self, quantile: float) -> Any:
        """The value at a quantile; values of a list are equally likely."""
        if self.values is not None:
            return self.values[int(quantile * len(self.values))]
        value = _quantiles(self.distribution)(min(max(quantile, _EDGE), 1 - _EDGE))
        whole = hasattr(getattr(self.distribution, "dist", None), "pmf") or isinstance(value, int)
        return int(value) if whole else float(value)


class Space:
    """The parameters of a search.

    Args:
        params: the distributions of parameters, see :data:`Params`.

    Raises:
        ValueError: for a parameter that its transformer does not have, a duplicate, or a value that
            is neither a distribution nor a list of values.

    Examples:
        >>> import pyterrier as pt
        >>> from scipy.stats import uniform
        >>> cutoff = pt.RankCutoff(10)
        >>> space = Space({cutoff: {"k": [5, 10, 20]}})
        >>> space.labels, space.setting([0.9])
        (['k'], (20,))
    """

    def __init__(self, params: Params) -> None:
        pairs = list(params.items()) if isinstance(params, Mapping) else list(params)
        entries = [
            (i, t, name, distribution)
            for i, (t, distributions) in enumerate(pairs)
            for name, distribution in _checked_distributions(t, distributions)
        ]
        times = Counter(name for _, _, name, _ in entries)
        self.parameters = [
            Parameter(t, name, name if times[name] == 1 else f"tran_{i}_{name}", distribution)
            for i, t, name, distribution in entries
        ]
        for a, b in combinations(self.parameters, 2):
            if a.transformer is b.transformer and a.name == b.name:
                raise ValueError(f"{a.name!r} of {a.transformer!r} is given twice")

    @property
    def labels(self) -> list[str]:
        """The names of the parameters in tables."""
        return [parameter.label for parameter in self.parameters]

    def setting(self, quantiles: Iterable[float]) -> Setting:
        """The values at these quantiles, from 0 to below 1."""
        return tuple(p.value(quantile) for p, quantile in zip(self.parameters, quantiles))

    def settings(self, n_trials: int, seed: int) -> dict[int, Setting]:
        """The settings of a search, by the numbers of their trials.

        The setting of a trial depends on the seed and its number. If all parameters have lists of
        values, the trials are the grid, the last parameter first: each setting once, or
        ``n_trials`` of them, drawn without replacement.

        Examples:
            >>> import pyterrier as pt
            >>> space = Space({pt.RankCutoff(10): {"k": [5, 10, 20]}})
            >>> space.settings(9, seed=1), space.settings(2, seed=1)
            ({0: (5,), 1: (10,), 2: (20,)}, {0: (5,), 2: (20,)})
        """
        lists = [p.values for p in self.parameters if p.values is not None]
        if len(lists) == len(self.parameters):
            sizes = [len(values) for values in lists]
            numbers = range(math.prod(sizes))
            trials = sorted(random.Random(seed).sample(numbers, min(n_trials, len(numbers))))
            return {
                trial: tuple(values[at] for values, at in zip(lists, place))
                for trial, *place in zip(trials, *np.unravel_index(trials, sizes))
            }
        draws = (np.random.default_rng([seed, trial]).random for trial in range(n_trials))
        return {trial: self.setting(draw(len(self.labels))) for trial, draw in enumerate(draws)}

    def current(self) -> Setting:
        """The values that the transformers have now."""
        return tuple(p.transformer.get_parameter(p.name) for p in self.parameters)

    @contextmanager
    def restore_at_end(self) -> Iterator[None]:
        """Restores the values of the transformers at the end."""
        before = self.current()
        try:
            yield
        finally:
            self.set(before)

    def set(self, setting: Setting) -> None:
        """Sets the values of the transformers."""
        for parameter, value in zip(self.parameters, setting):
            parameter.transformer.set_parameter(parameter.name, value)

    def describe(self, setting: Setting) -> str:
        """A setting for a message: ``b=0.5, k1=1.2``."""
        return ", ".join(f"{label}={value!r}" for label, value in zip(self.labels, setting))


def transformers_of(pipeline: pt.Transformer) -> Iterator[pt.Transformer]:
    """A pipeline, and all transformers in it.

    Examples:
        >>> import pyterrier as pt
        >>> list(transformers_of(pt.RankCutoff(5) >> pt.RankCutoff(3)))
        [(RankCutoff(5) >> RankCutoff(3)), RankCutoff(5), RankCutoff(3)]
    """
    yield pipeline
    for part in pt.inspect.subtransformers(pipeline).values():
        for transformer in part if isinstance(part, list) else [part]:
            yield from transformers_of(transformer)


def describe(distribution: Any) -> str:
    """A distribution or list of values as text; equal distributions have equal texts.

    Examples:
        >>> from scipy.stats import uniform
        >>> describe(uniform(0, 1)), describe([1, 2])
        ('uniform(0, 1)', '[1, 2]')
    """
    if hasattr(distribution, "dist") and hasattr(distribution, "args"):
        named = (f"{name}={value!r}" for name, value in sorted(distribution.kwds.items()))
        return f"{distribution.dist.name}({', '.join([*map(repr, distribution.args), *named])})"
    return repr(list(distribution) if isinstance(distribution, np.ndarray) else distribution)


def _checked_distributions(transformer: Any, distributions: Any) -> Iterator[tuple[str, Any]]:
    """Checks a transformer's parameters; yields their names and distributions."""
    if not (hasattr(transformer, "set_parameter") and hasattr(transformer, "get_parameter")):
        raise ValueError(
            f"{transformer!r} has no set_parameter(), so it cannot be tuned; params maps "
            "transformers of the pipeline to their parameters"
        )
    if not isinstance(distributions, Mapping):
        raise ValueError(
            f"the parameters of {transformer!r} are {distributions!r}; they must be a dict of "
            "names and distributions, such as {'b': scipy.stats.uniform(0, 1)}"
        )
    for name, distribution in distributions.items():
        try:
            transformer.get_parameter(name)
        except Exception:
            raise ValueError(f"{transformer!r} has no parameter {name!r} to tune") from None
        values = isinstance(distribution, (list, np.ndarray, range)) and len(distribution)
        if not (values or _quantiles(distribution)):
            raise ValueError(
                f"{name!r} of {transformer!r} cannot be drawn from {distribution!r}; give a SciPy "
                "distribution with its parameters, such as scipy.stats.uniform(0, 1), "
                "loguniform(.01, 1000) or randint(1, 11), or a list of values"
            )
        yield name, distribution


def _quantiles(distribution: Any) -> Any:
    """The function that gives the quantiles of a distribution; None: it is none."""
    return getattr(distribution, "ppf", None) or getattr(distribution, "icdf", None)
