"""Rounding tolerances: what counts as equal, and as no difference, everywhere in the package.

Values are sums and means of some thousand terms in double precision, whose errors are below 1e-12;
the sums of two programs, or of another order of queries, agree to 1e-9.
"""

from __future__ import annotations

import numpy as np

from .inputs import Floats

#: Differences of values, and bounds of them, this close to 0 are 0.
NO_DIFFERENCE = 1e-12

#: Means this close to each other are equal, and statistics relative to their size.
EQUAL = 1e-9


def signs(differences: Floats) -> Floats:
    """The signs of differences, 0 where there is none but for rounding.

    >>> signs(np.array([0.1 + 0.2 - 0.3, 0.5, -0.25])).tolist()
    [0.0, 1.0, -1.0]
    """
    return np.where(np.abs(differences) > NO_DIFFERENCE, np.sign(differences), 0.0)
