"""Named objects (pools, lengths) that a measure prints by name and digest, and finds by them.

A measure is identified by its printed form, so everything that changes its value must be in it. A
pool or a table of lengths prints as ``'name-digest8'``, with the digest of its content. Parsing
finds the object among the objects of this process: all objects with a reference, such as a variable
or a measure, and the last :data:`KEPT` objects of each kind. So a process that builds a pool for
each of a thousand experiments does not keep a thousand pools.
"""

from __future__ import annotations

import os
import reprlib
from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

import numpy.typing as npt

from ..io.digests import digest_of

if TYPE_CHECKING:
    from typing import Self

    import pyarrow as pa

#: The number of objects that are kept without a reference: the last built, loaded or used.
KEPT = 8


class NotNamed(ValueError):
    """A value without an object; the text says what the value must be."""


class Named:
    """An object with a content and a name, which this process finds by its id.

    Attributes:
        name: its name.
        digest: the digest of its content, hexadecimal.
    """

    #: The name of the kind in errors.
    KIND: ClassVar[str]
    #: The function that makes an object of other data.
    MADE_BY: ClassVar[str]
    #: Where its files come from, for errors.
    FILE: ClassVar[str]
    #: All objects of this kind, by Python's id; the order of equal objects is not defined.
    _alive: ClassVar[WeakValueDictionary[int, Any]]
    _kept: ClassVar[list[Any]]

    def __init_subclass__(cls) -> None:
        cls._alive = WeakValueDictionary()
        cls._kept = []

    @property
    def id(self) -> str:
        """The name and the first eight digits of the digest, as a measure prints them."""
        return f"{self.name}-{self.digest[:8]}"

    def _register(self, name: str, content: list[bytes | pa.Array | npt.NDArray[Any]]) -> None:
        """Sets the name and the digest, and registers the object."""
        if not name or not name.isprintable():
            raise ValueError(f"the name of a {self.KIND} must be printable text, not {name!r}")
        self.name = name
        self.digest = digest_of(content)
        self._keep()

    def _keep(self) -> None:
        """Registers the object, as the one that was used last."""
        self._alive[id(self)] = self
        # list.remove() would remove an equal object.
        self._kept[:] = [*(other for other in self._kept if other is not self), self][-KEPT:]

    @classmethod
    def by_id(cls) -> dict[str, Self]:
        """The registered objects by their ids."""
        return {named.id: named for named in list(cls._alive.values())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Registers the object in the process that receives it."""
        self.__dict__.update(state)
        self._keep()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @classmethod
    @abstractmethod
    def load(cls, path: str | os.PathLike[str], *, name: str | None = None) -> Self:
        """Loads an object from a file."""

    @classmethod
    def resolve(cls, value: object) -> Self:
        """The object that a parameter means: an object, its name or id, or a file.

        Raises:
            ValueError: for another value, with the ids of all objects.
        """
        if isinstance(value, cls):
            return value
        if not isinstance(value, (str, os.PathLike)):
            raise NotNamed(
                f"a {cls.__name__} ({cls.__name__}.{cls.MADE_BY} makes one), its name or a file"
            )
        named = cls._find(str(value)) if isinstance(value, str) else None
        if named is None and Path(value).is_file():
            named = cls.load(value)
        if named is None:
            raise NotNamed(
                f"an existing file ({cls.FILE}), a {cls.__name__}, or the name of one built or "
                f"loaded in this process ({', '.join(map(repr, cls.by_id())) or 'none'}; "
                f"{cls.__name__}.load(file) loads a saved one)"
            )
        return named

    @classmethod
    def of_option(cls, option: str, value: object) -> Self:
        """The object that an option of this name means, see :meth:`resolve`; errors name both."""
        try:
            return cls.resolve(value)
        except NotNamed as error:
            raise ValueError(f"{option} must be {error}, not {reprlib.repr(value)}") from None

    @classmethod
    def _find(cls, text: str) -> Self | None:
        """Finds the object with this id, or the only object with this name."""
        objects = [*cls.by_id().values()]
        named = [o for o in objects if o.id == text] or [o for o in objects if o.name == text]
        if len(named) > 1:
            raise ValueError(
                f"one {cls.KIND}: several have this name, choose by id "
                f"({', '.join(repr(other.id) for other in named)})"
            )
        for other in named:
            other._keep()
        return named[0] if named else None
