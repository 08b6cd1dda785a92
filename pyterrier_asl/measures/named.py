"""Named objects (pools, lengths) that a measure prints by name and digest, and finds again.

A measure *is* its printed form, so everything that changes its value must be in it. A pool or a
table of lengths prints as ``'name-digest8'``, with the digest of its content, and parsing that back
finds the object among those of this process: all to which there is a reference, such as a variable
or a measure, and the last :data:`KEPT` of each kind. So a process that makes a pool for each of a
thousand experiments does not keep a thousand pools.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

import numpy.typing as npt

from ..io.digests import digest_of

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Self

#: How many of the objects that were made, loaded or asked for last are kept without a reference.
KEPT = 8


class Named:
    """An object with a content and a name, known in this process by its id.

    Attributes:
        name: its name.
        digest: the digest of its content, hexadecimal.
    """

    #: The name of the kind in errors.
    KIND: ClassVar[str]
    #: All objects of this kind, by Python's id; the order of equal ones is not defined.
    _alive: ClassVar[WeakValueDictionary[int, Any]]
    _kept: ClassVar[list[Any]]

    name: str
    digest: str

    def __init_subclass__(cls) -> None:
        cls._alive = WeakValueDictionary()
        cls._kept = []

    @property
    def id(self) -> str:
        """The name and the first eight digits of the digest: what a measure prints."""
        return f"{self.name}-{self.digest[:8]}"

    def _make_known(self, name: str, content: list[bytes | pa.Array | npt.NDArray[Any]]) -> None:
        """Sets the name and the digest, and registers the object as known."""
        if not name or not name.isprintable():
            raise ValueError(f"the name of a {self.KIND} must be printable text, not {name!r}")
        self.name = name
        self.digest = digest_of(content)
        self._keep()

    def _keep(self) -> None:
        """Registers the object as known, as the one that was asked for last."""
        self._alive[id(self)] = self
        # Not list.remove(), for which equal ones are the same.
        self._kept[:] = [*(other for other in self._kept if other is not self), self][-KEPT:]

    @classmethod
    def known(cls) -> dict[str, Self]:
        """The objects that can be found by name, by their ids."""
        return {named.id: named for named in list(cls._alive.values())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Registers the object in the process that it was sent to."""
        self.__dict__.update(state)
        self._keep()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, name: str | None = None) -> Self:
        """Loads an object from a file."""
        raise TypeError(f"{cls.__name__} does not say how it is loaded")

    @classmethod
    def resolve(cls, value: object) -> Self:
        """Resolves a parameter: an object of this kind, the name or id of a known one, or a file.

        Raises:
            ValueError: naming what was tried.
        """
        if isinstance(value, cls):
            return value
        if not isinstance(value, (str, os.PathLike)):
            raise ValueError(f"a {cls.__name__}, its name or a file")
        named = cls._find(str(value)) if isinstance(value, str) else None
        if named is None and Path(value).is_file():
            named = cls.load(value)
        if named is None:
            ids = ", ".join(map(repr, cls.known())) or "none"
            raise ValueError(
                f"a {cls.__name__}, a file, or the name of one made or loaded in this process "
                f"(known: {ids}; {cls.__name__}.load(file) makes a saved one known)"
            )
        return named

    @classmethod
    def _find(cls, text: str) -> Self | None:
        """Finds the known object of this id, or the only one of this name."""
        by_id = cls.known()
        named = [by_id[text]] if text in by_id else [o for o in by_id.values() if o.name == text]
        if len(named) > 1:
            ids = ", ".join(repr(other.id) for other in named)
            raise ValueError(f"one {cls.KIND}: several are called that, choose by id ({ids})")
        if not named:
            return None
        named[0]._keep()
        return named[0]


def without_digest(text: str) -> str:
    """The name in an id.

    >>> without_digest("irds:vaswani-0123abcd"), without_digest("irds:vaswani")
    ('irds:vaswani', 'irds:vaswani')
    """
    return re.sub(r"-[0-9a-f]{8}$", "", text)
