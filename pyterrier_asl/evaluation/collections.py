"""Collections together, and the systems that all of them have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: The name of all collections together in tables.
OVERALL = "overall"


def shared_systems(names: Mapping[str, Sequence[str]], *, common: bool = False) -> list[str]:
    """The systems that all collections have, in the order of the first.

    Args:
        names: collection -> its systems.
        common: whether to leave out systems that are missing in a collection; else they are errors.

    Raises:
        ValueError: for a system that is missing in a collection, with both names; if no system is
            left; for one of several collections with the name :data:`OVERALL`.

    >>> shared_systems({"x": ["b", "a"], "y": ["a", "b", "c"]}, common=True)
    ['b', 'a']
    """
    systems = list(dict.fromkeys(name for systems in names.values() for name in systems))
    lacking = [(name, track) for name in systems for track in names if name not in names[track]]
    if OVERALL in names and len(names) > 1:
        raise ValueError(f"a collection is called {OVERALL!r}, as all together are: rename it")
    if lacking and not common:
        name, track = lacking[0]
        raise ValueError(
            f"system {name!r} has no run in collection {track!r}: add it, or compare the systems "
            "that all collections have (common=True, --common)"
        )
    shared = [name for name in systems if name not in dict(lacking)]
    if not shared:
        raise ValueError(f"no system is in all of the collections {', '.join(names)}")
    return shared
