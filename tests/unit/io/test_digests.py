"""Digests differ where any content differs, and not by how Arrow holds the content."""

import numpy as np
import pyarrow as pa
import pytest

from pyterrier_asl.io.digests import digest_of


def texts(*values: str) -> pa.Array:
    return pa.array(values, pa.large_string())


@pytest.mark.parametrize(
    ("one", "other"),
    [([texts("ab", "c")], [texts("ab", "d")]), ([texts("ab", "c")], [texts("a", "bc")])]
    + [([texts("ab")], [texts("a"), texts("b")]), ([texts("a", "")], [texts("a")])]
    + [([texts()], [texts("")]), ([texts()], [])]
    + [([b"ab"], [b"a", b"b"]), ([b"a"], [b"b"]), ([np.array([1, 2])], [np.array([1, 3])])]
    + [([np.array([1, 2]), b"x"], [np.array([1, 2]), b"y"])],
)
def test_other_content_has_another_digest(one, other):
    assert digest_of(one) != digest_of(other)


def test_a_slice_has_the_digest_of_its_content():
    whole = texts("x", "ab", "c", "y")
    assert digest_of([whole[1:3]]) == digest_of([texts("ab", "c")]) != digest_of([whole[0:2]])
