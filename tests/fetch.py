"""Fetches the collections of ir_datasets that tests use, vaswani and cranfield.

    python tests/fetch.py

It prints the names of collections that cannot be downloaded; tests that need them skip.
"""

import ir_datasets

NAMES = ("vaswani", "cranfield")


def fetch(name: str) -> str:
    """Fetches a collection; returns its size, or the reason of a failure."""
    dataset = ir_datasets.load(name)
    try:
        documents = sum(1 for _ in dataset.docs_iter())
        judgements = sum(1 for _ in dataset.qrels_iter())
    except (OSError, RuntimeError) as error:  # no network, or the source has moved
        return f"{name}: not fetched, tests that need it will skip ({str(error)[:80]} ...)"
    return f"{name}: {documents} documents, {judgements} judgements"


if __name__ == "__main__":
    for collection in NAMES:
        print(fetch(collection))
