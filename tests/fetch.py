"""Fetches the collections of ir_datasets that tests use, vaswani and cranfield.

    python tests/fetch.py

One that cannot be fetched is named; the tests that need it skip.
"""

from __future__ import annotations

import ir_datasets

NAMES = ("vaswani", "cranfield")


def fetch(name: str) -> str:
    """Fetches a collection; returns how large it is, or why it could not be fetched."""
    dataset = ir_datasets.load(name)
    try:
        documents = sum(1 for _ in dataset.docs_iter())
        judgements = sum(1 for _ in dataset.qrels_iter())
    except (OSError, RuntimeError) as error:  # no network; a source that has moved
        return f"{name}: not fetched, tests that need it will skip ({str(error)[:80]} ...)"
    return f"{name}: {documents} documents, {judgements} judgements"


if __name__ == "__main__":
    for collection in NAMES:
        print(fetch(collection))
