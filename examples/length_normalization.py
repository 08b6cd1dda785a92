"""Table 2 of Clarke (2019) for any collection: BM25 with feedback, tuned for AP and for TBG.

    python examples/length_normalization.py vaswani results
    python examples/length_normalization.py ~/corpora/time results ~/corpora/cacm

It does the same as ``pyterrier-asl tune COLLECTION --out FOLDER --transfer COLLECTION``. A
collection is an ir_datasets id, or a folder with docs.jsonl.gz (docno, text, title), queries.tsv
(qid, query) and qrels.txt.

Clarke (2019), Length Normalization in the Era of Neural Rankers. Needs
``pip install '.[tune,charts]'``.
"""

from __future__ import annotations

import click
import published

from pyterrier_asl.printing import tables
from pyterrier_asl.tuning.clarke import save, side_by_side, tune_for_each
from pyterrier_asl.tuning.collection import load_collection


@click.command(help=published.help_of(__doc__))
@click.argument("source", metavar="COLLECTION")
@click.argument("folder", metavar="RESULTS_FOLDER")
@click.argument("transfer", metavar="[TEST_COLLECTION]", required=False)
def main(source: str, folder: str, transfer: str | None) -> None:
    collection = load_collection(source)
    other = load_collection(transfer, collection) if transfer else None
    results = tune_for_each(
        collection, ["AP", "TBG"], transfer=other, n_trials=1000, seed=0, verbose=True
    )
    # For each measure: the pipeline with the best settings, and all trials.
    print(results["TBG"].pipeline)
    print(results["TBG"].trials["initial retrieval"].nlargest(3, "TBG"))
    tables.show(side_by_side(results), group_by="stage")
    published.show(
        "Table 2 of the paper, TREC 8 topics with parameters tuned on TREC 7",
        published.side_by_side("Clarke, Table 2", published.TREC_8, {}, published.LICENSED),
    )
    for path in save(results, folder):
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
