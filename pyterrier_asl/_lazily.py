"""Names of a package that are imported when somebody asks for them, so that it loads fast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def exported(
    package: dict[str, Any], later: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """A package's ``__getattr__`` and ``__dir__`` (PEP 562).

    Args:
        package: its ``globals()``.
        later: from each name to the module below the package that has it.
    """

    def get(name: str) -> Any:
        if name not in later:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        package[name] = getattr(import_module(f".{later[name]}", package["__name__"]), name)
        return package[name]

    return get, lambda: sorted({*package, *later})
