"""Tune BM25 with feedback for AP and for TBG, on any collection: Clarke's Table 2.

    python examples/length_normalization.py vaswani --out results
    python examples/length_normalization.py ~/corpora/time --transfer ~/corpora/cacm
    python examples/length_normalization.py disks45/nocr/trec7 --transfer disks45/nocr/trec8

A collection is an ir_datasets id, or a folder with docs.jsonl.gz (docno, text, title), queries.tsv
(qid, query) and qrels.txt. The transfer is to other topics, of the same or of another collection,
with the parameters tuned here; ``--split`` keeps every other topic for it. Written to ``--out``:
the table, all trials, and each trial's score against its b and k1.

Clarke (2019), Length Normalization in the Era of Neural Rankers. Needs
pyterrier-asl[tune,charts].
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import ir_datasets
import pandas as pd
import pyterrier as pt
from ir_measures import AP
from rich.console import Console
from rich.table import Table

from pyterrier_asl import TBG, DocLengths, StagedSearch, TermIndex, read_qrels
from pyterrier_asl.tuning import StagedResult, bm25_stages, measured, use_settings

PARAMETERS = {"fb_docs": "depth (m)", "fb_terms": "expansions (n)", "gamma": "mixing (gamma)"}


@dataclass(frozen=True)
class Collection:
    """Documents, indexed and with their lengths in words; topics and judgements."""

    name: str
    index: TermIndex
    lengths: DocLengths
    topics: pd.DataFrame
    qrels: pd.DataFrame

    @property
    def measures(self) -> dict[str, Any]:
        """What is tuned for and reported."""
        return {"AP": AP, "TBG": TBG(lengths=self.lengths)}

    def every_other_topic(self, start: int) -> Collection:
        """Half of the topics: the first, third, ... or the second, fourth, ..."""
        part = ("odd", "even")[start]
        return replace(self, name=f"{self.name}, {part}", topics=self.topics.iloc[start::2])


def load(source: str, like: Collection | None = None) -> Collection:
    """Reads and indexes a collection.

    Args:
        source: an ir_datasets id or a folder.
        like: one that is there already; its index serves for other topics on the same documents.
    """
    folder = Path(source).expanduser()
    if folder.is_dir():
        return load_folder(folder)
    dataset = pt.get_dataset(f"irds:{source}")
    documents = ir_datasets.docs_parent_id(source)
    if like is not None and like.index.metadata["source"] == f"irds:{documents}":
        index, lengths = like.index, like.lengths
    else:
        index, lengths = TermIndex.from_irds(documents), DocLengths.from_irds(documents)
    topics = dataset.get_topics("title" if _has_titles(dataset) else None)
    return Collection(source, index, lengths, topics, dataset.get_qrels())


def _has_titles(dataset: Any) -> bool:
    """Whether topics have a title, the words that someone would search for."""
    return "title" in dataset.irds_ref().queries_cls()._fields


def load_folder(folder: Path) -> Collection:
    """Reads docs.jsonl.gz, queries.tsv and qrels.txt."""
    texts = {docno: text for docno, text in _documents(folder / "docs.jsonl.gz")}
    index = TermIndex.from_documents(
        ({"docno": docno, "text": text} for docno, text in texts.items()), total=len(texts)
    )
    words = {docno: len(text.split()) for docno, text in texts.items()}
    topics = pd.read_csv(
        folder / "queries.tsv", sep="\t", names=["qid", "query"], dtype=str, quoting=3
    )
    return Collection(
        folder.name,
        index,
        DocLengths.from_dict(words, name=folder.name),
        topics,
        read_qrels(folder / "qrels.txt"),
    )


def _documents(path: Path) -> Iterator[tuple[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            yield str(document["docno"]), f"{document.get('title') or ''} {document['text']}"


def tune(collection: Collection, metric: str, options: dict[str, Any]) -> StagedResult:
    """Tunes the three stages for one of the measures."""
    named = collection.measures
    result = StagedSearch(
        bm25_stages(collection.index),
        collection.topics,
        collection.qrels,
        named[metric],
        measures=list(named.values()),
        study_name=f"{collection.name}-{metric}",
        **options,
    )
    plain = {str(measure): name for name, measure in named.items()}
    return replace(
        result,
        table=result.table.replace({"name": plain}),
        trials={stage: trials.rename(columns=plain) for stage, trials in result.trials.items()},
    )


def transferred(result: StagedResult, collection: Collection) -> pd.DataFrame:
    """The measures of the tuned pipeline on other topics, as rows of its table."""
    stages = bm25_stages(collection.index)
    use_settings(stages, result.settings)
    found = measured(
        stages[-1].pipeline,
        collection.topics,
        collection.qrels,
        collection.measures.values(),
    )
    rows = [
        (f"transfer to {collection.name}", "best", pd.NA, "measure", name, value)
        for name, value in zip(collection.measures, found.values())
    ]
    return pd.DataFrame(rows, columns=result.table.columns)


def side_by_side(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Table 2: a row per stage and number, columns (tuned for, best or worst)."""
    long = pd.concat(tables, names=["tuned for"]).reset_index("tuned for")
    rows = ["stage", "kind", "name"]
    columns = long[["tuned for", "which"]].drop_duplicates()
    wide = long.pivot(index=rows, columns=["tuned for", "which"], values="value")
    order = pd.MultiIndex.from_frame(long[rows].drop_duplicates())
    return wide.loc[order, pd.MultiIndex.from_frame(columns)]


def show(table: pd.DataFrame, title: str) -> None:
    """Prints Table 2."""
    printed = Table(title=title)
    printed.add_column("stage")
    printed.add_column("")
    for tuned, which in table.columns:
        printed.add_column(f"{tuned}\n{which}", justify="right")
    stage_before = None
    for (stage, _, name), values in zip(table.index, table.to_numpy()):
        if stage_before not in (None, stage):
            printed.add_section()
        cells = ["" if pd.isna(value) else _number(name, value) for value in values]
        shown = PARAMETERS.get(name, name)
        printed.add_row(stage if stage != stage_before else "", shown, *cells)
        stage_before = stage
    Console().print(printed)


def _number(name: str, value: float) -> str:
    return f"{value:.0f}" if name in ("fb_docs", "fb_terms") else f"{value:.3f}"


def chart(results: dict[str, StagedResult]) -> Any:
    """Score against b and k1, for each measure and retrieval stage; the best in red."""
    import altair as alt

    alt.data_transformers.disable_max_rows()
    rows = [
        alt.hconcat(*(_scatter(alt, result, stage, metric, x) for x in ("b", "k1")))
        for stage in ("initial retrieval", "final retrieval")
        for metric, result in results.items()
    ]
    return alt.vconcat(*rows)


def _scatter(alt: Any, result: StagedResult, stage: str, metric: str, parameter: str) -> Any:
    trials = result.trials[stage]
    best = trials[metric].idxmax()
    points = trials.assign(best=trials.index == best)[["trial", "b", "k1", metric, "best"]]
    scale = alt.Scale(type="log" if parameter == "k1" else "linear", nice=False)
    return (
        alt.Chart(points.sort_values("best"), title=f"{stage}, tuned on {metric}")
        .mark_circle()
        .encode(
            x=alt.X(f"{parameter}:Q", scale=scale),
            y=alt.Y(f"{metric}:Q", scale=alt.Scale(zero=False)),
            color=alt.Color("best:N", legend=None).scale(
                domain=[False, True], range=["steelblue", "crimson"]
            ),
            size=alt.Size("best:N", legend=None).scale(domain=[False, True], range=[12, 120]),
            tooltip=["trial", "b", "k1", metric],
        )
        .properties(width=330, height=200)
    )


def save_chart(drawn: Any, out: Path) -> list[Path]:
    """Saves HTML, and SVG and PNG where vl-convert is installed."""
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        drawn.save(out / "scores.html")
        return [out / "scores.html"]
    drawn.save(out / "scores.html", inline=True)
    drawn.save(out / "scores.svg")
    drawn.save(out / "scores.png")
    return [out / f"scores.{suffix}" for suffix in ("html", "svg", "png")]


@click.command(context_settings={"show_default": True})
@click.argument("collection")
@click.option("--transfer", help="Measure the tuned pipeline on this collection too.")
@click.option("--split", is_flag=True, help="Tune on every other topic; transfer to the rest.")
@click.option("--trials", default=1000, help="Random settings of each stage.")
@click.option("--seed", default=0, help="Of the settings.")
@click.option("--jobs", default=1, help="Settings to try at once.")
@click.option("--storage", help="Keep trials here (sqlite:///search.db), and resume from it.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for table, trials and chart.")
def main(
    collection: str,
    transfer: str | None,
    split: bool,
    out: Path | None,
    trials: int,
    **options: Any,
) -> None:
    """Tunes BM25 with feedback for AP and for TBG, and shows what becomes of b and k1."""
    if split and transfer:
        raise click.UsageError("--split and --transfer exclude each other")
    tuned_on = load(collection)
    other = load(transfer, tuned_on) if transfer else None
    if split:
        tuned_on, other = tuned_on.every_other_topic(0), tuned_on.every_other_topic(1)
    results = {
        metric: tune(tuned_on, metric, {"n_trials": trials, "verbose": True, **options})
        for metric in tuned_on.measures
    }
    tables = {metric: result.table for metric, result in results.items()}
    if other is not None:
        for metric, result in results.items():
            tables[metric] = pd.concat([tables[metric], transferred(result, other)])
    table = side_by_side(tables)
    show(
        table,
        f"{tuned_on.name}: BM25 with feedback, tuned on AP and on TBG, {trials} trials a stage",
    )
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        table.to_csv(out / "table.csv")
        for metric, result in results.items():
            for stage, frame in result.trials.items():
                frame.to_csv(out / f"{metric}-{stage.replace(' ', '-')}.csv", index=False)
        for path in save_chart(chart(results), out):
            click.echo(f"wrote {path}")


if __name__ == "__main__":
    main()
