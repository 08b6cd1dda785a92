"""Settings of tests with their defaults, checks of values, and the types of arrays and results.

Packages that compare systems take these types and checks from here, with the tests.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..common.parameters import check_name as check_name
from ..common.parameters import check_probability as check_probability
from ..common.parameters import check_whole
from ..common.types import Floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike as ArrayLike
else:  # shown by the documentation
    ArrayLike = Sequence[float] | np.ndarray

#: The greatest number of values in an array of a computation in chunks: 32 MB.
CHUNK = 2**22
#: With fewer topics there are no tests and intervals; with fewer than FEW there is a warning.
FEWEST, FEW = 10, 25
#: The tests with random draws, and the number of random draws of any test by default.
RANDOM_TESTS, DRAWS = ("randomization", "tukey-randomized"), 10_000


class TestResult(NamedTuple):
    """Results of a test of many pairs, one entry per pair, named as the columns of a frame."""

    ci_low: Floats
    ci_high: Floats
    effect: Floats
    statistic: Floats
    p: Floats


@dataclass(frozen=True)
class Settings:
    """Options of tests."""

    alpha: float
    draws: int
    seed: int


def finite_matrix(values: ArrayLike) -> Floats:
    """Values as a matrix of finite numbers; the error names the first other value."""
    try:
        matrix = np.asarray(values, dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"rows of values must be numbers and of one length: {error}") from error
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(
            f"values have shape {matrix.shape}, but one row per system and one column per query, "
            f"at least one, are needed"
        )
    wrong = np.argwhere(~np.isfinite(matrix))
    for row, column in wrong[:1]:
        raise ValueError(
            f"the value of row {row}, query {column} is {matrix[row, column]}, one of {len(wrong)} "
            f"that are not finite: give every query a value"
        )
    return matrix


def finite_vectors(*vectors: ArrayLike) -> Floats:
    """Vectors of one length as the rows of a matrix of finite numbers, or an error."""
    return finite_matrix([np.asarray(vector) for vector in vectors])


def settings_of(
    alpha: float, test: str = "", draws: int | None = None, seed: int | None = None
) -> Settings:
    """Checked options of a test."""
    check_probability("alpha", alpha)
    for name, value in {"draws": draws, "seed": seed}.items():
        if value is not None and test not in RANDOM_TESTS:
            raise ValueError(
                f"{name}={value!r} is for the tests {' and '.join(map(repr, RANDOM_TESTS))}, "
                f"not for {test!r}: leave it out"
            )
    draws, seed = DRAWS if draws is None else draws, 0 if seed is None else seed
    check_draws(draws, seed)
    return Settings(alpha, draws, seed)


def check_draws(draws: Any, seed: Any) -> None:
    """Raises ValueError unless draws is 1, 2, 3, ..., and the seed 0, 1, 2, ..."""
    check_whole("draws", draws)
    check_whole("seed", seed, 0)


@contextmanager
def undefined_is_nan() -> Iterator[None]:
    """Silences the warnings of tests that give NaN; the caller counts these."""
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        yield
