"""Runs and qrels of one or of several collections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..io.names import shared_systems
from .evaluation import Evaluation
from .inputs import FOR_SEVERAL, named_runs, refuse


def collections_of(runs: Any, qrels: Any = None) -> dict[str, tuple[Any, Any]]:
    """The runs and the qrels of each collection by name; '' for a single collection.

    Args:
        runs: the runs of one collection; or, without qrels, a dict of collection -> (runs, qrels).
        qrels: the qrels of the single collection.

    Raises:
        ValueError: if qrels are missing.
    """
    if qrels is not None or isinstance(runs, Evaluation):
        return {"": (runs, qrels)}
    if not isinstance(runs, Mapping):
        raise ValueError(
            "qrels are needed: a frame, a file, or an ir_datasets id; without them runs are a dict "
            "of collection -> (runs, qrels)"
        )
    several = {}
    for name, pair in runs.items():
        pair = (pair, None) if isinstance(pair, Evaluation) else pair
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError(
                f"qrels are needed: without them runs are a dict of collection -> (runs, qrels), "
                f"and {name!r} is a {type(pair).__name__}"
            )
        several[str(name)] = pair
    return several


def listed_collections(
    runs: Any, qrels: Any = None, *, common: bool = False
) -> dict[str, tuple[Any, Any]]:
    """The runs by name, unread, and the qrels of each collection; see :func:`collections_of`.

    Args:
        runs: the runs.
        qrels: the qrels.
        common: whether systems that a collection lacks are left out; otherwise they are an error.

    Raises:
        ValueError: for a system that a collection lacks; for ``common`` with one collection.
    """
    several = {
        name: (given if isinstance(given, Evaluation) else named_runs(given), by)
        for name, (given, by) in collections_of(runs, qrels).items()
    }
    if "" in several:
        refuse(FOR_SEVERAL, common=common)
        return several
    names = {
        name: given.names if isinstance(given, Evaluation) else list(given)
        for name, (given, _) in several.items()
    }
    shared = shared_systems(names, common=common)
    return {
        name: (
            replace(given.select(shared), whole=None)
            if isinstance(given, Evaluation)
            else {system: given[system] for system in shared},
            by,
        )
        for name, (given, by) in several.items()
    }


def tracks(runs: Any, qrels: Any = None) -> dict[str, Evaluation]:
    """The matched runs of each track by its name; see :func:`collections_of`.

    >>> list(tracks({"toy": ({"a": {"q": {"d": 1}}}, {"q": {"d": 1}})}))
    ['toy']
    """
    return {name: Evaluation.of(*pair) for name, pair in collections_of(runs, qrels).items()}
