"""Fetches the collections of ir_datasets that tests use, vaswani and cranfield.

    python tests/fetch.py

It prints the names of collections that cannot be downloaded; tests that need them skip.
"""

import ir_datasets

for name in ("vaswani", "cranfield"):
    dataset = ir_datasets.load(name)
    try:
        documents = sum(1 for _ in dataset.docs_iter())
        judgements = sum(1 for _ in dataset.qrels_iter())
    except (OSError, RuntimeError) as error:  # no network, or the source has moved
        print(f"{name}: not fetched, tests that need it will skip ({str(error)[:80]} ...)")
    else:
        print(f"{name}: {documents} documents, {judgements} judgements")
