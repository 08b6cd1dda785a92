"""AP of BM25 and of feedback with both term weights, on collections in folders.

Every pipeline has default parameters (b = .75, k1 = 1.2, m = 10, n = 25, gamma = .2): one setting,
which recommends neither weight.

    python benchmarks/feedback.py FOLDER...
"""

from __future__ import annotations

import argparse

import pandas as pd

from pyterrier_asl import RobertsonPRF
from pyterrier_asl.tuning.collection import load_collection
from pyterrier_asl.tuning.stages import fixed_objective


def measure(source: str) -> dict[str, str | float]:
    """A row of the table."""
    collection = load_collection(source, verbose=False)
    bm25 = collection.index.bm25()
    pipelines = {"BM25": bm25}
    for weights in ("idf", "rsj"):
        pipelines[weights] = bm25 >> RobertsonPRF(collection.index, weights=weights) >> bm25
    row: dict[str, str | float] = {"collection": collection.name, "topics": len(collection.topics)}
    for name, pipeline in pipelines.items():
        objective = fixed_objective(pipeline, collection.topics, collection.qrels, ["AP"])
        row[name] = objective(())["AP"]
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", help="folders that 'pyterrier-asl tune' reads")
    table = pd.DataFrame(map(measure, parser.parse_args().folders))
    print(table.to_string(index=False, float_format="{:.3f}".format))


if __name__ == "__main__":
    main()
