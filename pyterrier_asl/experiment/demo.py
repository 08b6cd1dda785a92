"""Demonstration of the measures with three systems on a small collection, without Java.

The systems search ir_datasets' vaswani, 11,429 abstracts and 93 queries; where that cannot be
downloaded, a generated collection. The remarks on the numbers are computed from them.
"""

from __future__ import annotations

import os
import subprocess
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any, TypeAlias

import ir_datasets
import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt

from ..evaluation.relevant_documents import search_lengths
from ..io.processes import python_command
from ..io.qrels import irds_qrels
from ..io.tables import counted
from ..leaderboard.ranks import ranks
from ..leaderboard.samples import FEWEST
from ..measures import ASL, TBG, AP_Rareness, LexiP
from ..measures.lengths import DocLengths
from ..measures.names import higher_is_better
from ..measures.pool import FEW, RarenessPool
from ..retrieval.feedback import RobertsonPRF
from ..retrieval.index import TermIndex

#: The timeout, in seconds, of downloading vaswani (3 MB), after which a collection is generated.
PATIENCE = 60

#: The measure of the remark on the best system.
RANKED_BY = "nDCG@10"

BM25 = "BM25"
FEEDBACK = "BM25 + feedback"
SHORT = "BM25 + feedback, first 200"

#: Descriptions of the systems.
SYSTEMS = {
    BM25: "BM25, 1000 documents a query",
    FEEDBACK: "the query expanded by Robertson's feedback from the first 10 documents",
    SHORT: "feedback from the first 5, and only 200 documents a query: what a pipeline keeps "
    "that hands its results to a slow reranker",
}


@dataclass(frozen=True)
class Collection:
    """Documents, queries and judgements.

    Attributes:
        name: its name.
        documents: dicts with ``docno`` and ``text``.
        topics: frame of ``qid`` and ``query``.
        qrels: frame of ``qid``, ``docno`` and ``label``.
    """

    name: str
    documents: list[dict[str, str]]
    topics: pd.DataFrame
    qrels: pd.DataFrame

    @property
    def summary(self) -> str:
        """The numbers of documents, queries and relevant documents, in words."""
        return (
            f"{len(self.documents):,} documents, {len(self.topics)} queries, "
            f"{int((self.qrels['label'] > 0).sum()):,} relevant documents"
        )

    def lengths(self) -> DocLengths:
        """The number of words of every document."""
        return DocLengths.from_dict(
            {document["docno"]: len(document["text"].split()) for document in self.documents},
            name=self.name,
        )


@dataclass(frozen=True)
class MissedDocuments:
    """Shares of a system's missed relevant documents.

    Attributes:
        documents: their share of the relevant documents.
        asl: their share of ASL.
    """

    documents: float
    asl: float


@dataclass(frozen=True)
class Demonstration:
    """Results of the demonstration.

    Attributes:
        scores: a row per system: its name, ``run``, and the mean of each measure.
        higher_is_better: by measure.
        missed: the missed documents by system.
        best: which systems could be the best by :data:`RANKED_BY`, in a sentence.
    """

    scores: pd.DataFrame
    higher_is_better: dict[str, bool]
    missed: dict[str, MissedDocuments]
    best: str


# Collections


def collection(seed: int = 2022) -> tuple[Collection, str]:
    """Loads vaswani, or generates a collection where vaswani is not available.

    Returns:
        The collection, and the reason why it is not vaswani: '' where it is.
    """
    try:
        return vaswani(), ""
    except OSError as error:
        return generated(seed=seed), str(error)


def vaswani() -> Collection:
    """Loads vaswani from ir_datasets, which downloads it where it is not on this machine.

    Raises:
        OSError: where it cannot be downloaded, with the reason.
    """
    _fetch_vaswani()
    dataset = ir_datasets.load("vaswani")
    queries = [(query.query_id, query.text) for query in dataset.queries_iter()]
    return Collection(
        "vaswani",
        [{"docno": doc.doc_id, "text": doc.default_text()} for doc in dataset.docs_iter()],
        pd.DataFrame(queries, columns=["qid", "query"]),
        irds_qrels("vaswani"),
    )


def _fetch_vaswani() -> None:
    """Downloads missing files in another process, which can be stopped after a timeout."""
    home = ir_datasets.util.home_path() / "vaswani"
    if all((home / f"{part}.txt").is_file() for part in ("docs", "queries", "qrels")):
        return
    parts = "next(d.docs_iter()), next(d.queries_iter()), next(d.qrels_iter())"
    fetch = python_command(f"import ir_datasets; d = ir_datasets.load('vaswani'); {parts}")
    defaults = {"IR_DATASETS_DL_TRIES": "1", "IR_DATASETS_DL_TIMEOUT": "10"}
    try:
        subprocess.run(
            fetch, check=True, capture_output=True, timeout=PATIENCE, env=defaults | os.environ
        )
    except subprocess.TimeoutExpired:
        raise OSError(f"fetching it took more than {PATIENCE} seconds") from None
    except subprocess.CalledProcessError as error:
        last = error.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise OSError(
            "it is not on this machine, and fetching it failed with "
            + textwrap.shorten("".join(last), 100, placeholder=" ...")
        ) from None


def generated(*, documents: int = 4800, topics: int = 40, seed: int = 2022) -> Collection:
    """Generates a random collection, the same for the same arguments.

    Each topic has twelve words, two of which are the query; a document on a topic has some of the
    topic's words, perhaps none of the query's, among common ones. So feedback can add useful terms,
    and misleading ones: words are shared between topics.

    Args:
        documents: the number of documents.
        topics: the number of queries.
        seed: seed of the random numbers.
    """
    random = np.random.default_rng(seed)
    words = np.array(list(_words()))
    common, rare = words[:600], words[600:]
    common_odds = 1 / np.arange(1, len(common) + 1)
    topic_odds = np.array([3, 3, *[1] * 10]) / 16
    topic_words = np.stack([random.choice(rare, 12, replace=False) for _ in range(topics)])
    topic_of = np.where(random.random(documents) < 0.5, random.integers(0, topics, documents), -1)
    texts = []
    for topic in topic_of:
        text = random.choice(common, random.integers(20, 80), p=common_odds / common_odds.sum())
        strange = random.choice(rare, 6)
        on_topic = rare[:0]
        if topic >= 0:
            on_topic = random.choice(topic_words[topic], random.integers(2, 6), p=topic_odds)
        texts.append(" ".join(random.permutation(np.concatenate((text, strange, on_topic)))))
    docnos = [f"d{number}" for number in range(documents)]
    qids = np.array([f"q{number}" for number in range(topics)], object)
    queries = [" ".join(words_of_topic[:2]) for words_of_topic in topic_words]
    qrels = pd.DataFrame({"qid": qids[topic_of], "docno": docnos, "label": 1})
    return Collection(
        f"generated-{seed}",
        [{"docno": docno, "text": text} for docno, text in zip(docnos, texts)],
        pd.DataFrame({"qid": qids, "query": queries}),
        qrels[topic_of >= 0].reset_index(drop=True),
    )


def _words() -> Iterator[str]:
    """A thousand words with different stems."""
    syllables = [consonant + vowel for consonant in "bdfgklmnpr" for vowel in "aou"]
    for number in range(1000):
        first, rest = divmod(number * 7 % 27000, 900)
        yield syllables[first] + syllables[rest // 30] + syllables[rest % 30] + "k"


# The experiment


def demonstrate(collection: Collection) -> Demonstration:
    """Retrieves with three systems and evaluates them in ``pt.Experiment``."""
    runs = retrieve(collection)
    with warnings.catch_warnings():  # three systems are few, on which there is a remark
        warnings.filterwarnings("ignore", message=".*say little about what is rare")
        pool = RarenessPool.from_runs(runs, name="demo")
    measures = {
        "AP": ir_measures.AP,
        "nDCG@10": ir_measures.nDCG @ 10,
        "RR": ir_measures.RR,
        "R@1000": ir_measures.R @ 1000,
        "ASL@1000": ASL @ 1000,
        "ASL(g=10)@1000": ASL(g=10) @ 1000,
        "LexiP": LexiP,
        "TBG": TBG(lengths=collection.lengths()),
        "AP_Rareness@100": AP_Rareness(pool=pool) @ 100,
    }
    table = pt.Experiment(
        list(runs.values()),
        collection.topics,
        collection.qrels,
        list(measures.values()),
        names=list(runs),
    )
    named = {str(measure): name for name, measure in measures.items()}
    values = table.rename(columns={"name": "run", **named})[["run", *measures]]
    higher = {name: higher_is_better(m) is not False for name, m in measures.items()}
    missed = {name: missed_by(run, collection.qrels) for name, run in runs.items()}
    best = about_the_best(runs, collection.qrels)
    return Demonstration(values, higher, missed, best)


def retrieve(collection: Collection) -> dict[str, pd.DataFrame]:
    """The results of the three systems, by name."""
    index = TermIndex.from_documents(collection.documents, verbose=False)
    bm25 = index.bm25()
    systems: dict[str, Any] = {
        BM25: bm25,
        FEEDBACK: bm25 >> RobertsonPRF(index) >> bm25,
        SHORT: bm25 >> RobertsonPRF(index, fb_docs=5) >> index.bm25(num_results=200),
    }
    return {name: system.transform(collection.topics) for name, system in systems.items()}


def missed_by(run: pd.DataFrame, qrels: pd.DataFrame, *, cutoff: int = 1000) -> MissedDocuments:
    """The shares of a run's missed relevant documents, of the documents and of its ASL.

    >>> qrels = pd.DataFrame({"qid": "q", "docno": ["a", "b"], "label": 1})
    >>> run = pd.DataFrame({"qid": "q", "docno": ["x", "a"], "score": [2, 1]})
    >>> missed_by(run, qrels, cutoff=9)  # search lengths 2 and 9
    MissedDocuments(documents=0.5, asl=0.8181818181818182)
    """
    lengths = search_lengths(run, qrels, cutoff=cutoff)
    missing = lengths["rank"].isna()
    parts = lengths.assign(from_missing=lengths["search_length"].where(missing, 0))
    asl = parts.groupby("qid")[["from_missing", "search_length"]].mean().mean()
    return MissedDocuments(float(missing.mean()), float(asl["from_missing"] / asl["search_length"]))


# Remarks


#: Mean values, by measure and then by system.
Means: TypeAlias = Mapping[str, Mapping[str, float]]


def remarks(demonstration: Demonstration) -> list[str]:
    """Remarks on the numbers of a demonstration, in sentences."""
    means: Any = demonstration.scores.set_index("run").to_dict()
    return [
        about_order(means),
        about_missing(demonstration.missed),
        about_the_top(means),
        about_the_pool(len(demonstration.scores)),
        demonstration.best,
    ]


def about_the_best(runs: Mapping[str, pd.DataFrame], qrels: pd.DataFrame) -> str:
    """The remark on which systems could be the best by :data:`RANKED_BY`."""
    topics = qrels["qid"].nunique()
    if topics < FEWEST:
        return f"{counted(topics, 'topic')} are too few to say who could be the best."
    return f"By {RANKED_BY}: {ranks(runs, qrels, RANKED_BY).sentences()[0]}"


def about_order(means: Means) -> str:
    """The remark on the two systems that AP and ASL@1000 put in opposite order most clearly.

    Args:
        means: with ``AP``, ``ASL@1000`` and ``R@1000``.
    """
    ap, asl, recall = means["AP"], means["ASL@1000"], means["R@1000"]
    opposed = [
        (asl[first] / asl[second], first, second)
        for first, second in permutations(ap, 2)
        if ap[first] > ap[second] and asl[first] > asl[second]
    ]
    if not opposed:
        best = _leaders(asl, min)
        return f"AP and ASL@1000 put no two systems in opposite order here; ASL's best is {best}."
    _, first, second = max(opposed)
    sentence = (
        f"AP puts '{first}' above '{second}' ({ap[first]:.4f} and {ap[second]:.4f}), ASL@1000 the "
        f"other way round: above a relevant document stand {asl[first] - 1:.0f} irrelevant ones on "
        f"average in the former, {asl[second] - 1:.0f} in the latter"
    )
    if recall[first] < recall[second]:
        recalls = f"R@1000 {recall[first]:.2f} and {recall[second]:.2f}"
        sentence += f", which finds more of them ({recalls})"
    return sentence + "."


def about_missing(missed: Mapping[str, MissedDocuments]) -> str:
    """The remark on the share of ASL that comes from missed documents."""
    if not any(shares.documents for shares in missed.values()):
        return "Every system found every relevant document: all of ASL@1000 comes from their ranks."
    parts = [f"{of.asl:.0%} ({of.documents:.0%}) for '{name}'" for name, of in missed.items()]
    sentence = (
        "The share of ASL@1000 that comes from relevant documents which were not found (and how "
        "many of all they are): " + ", ".join(parts)
    )
    if all(shares.asl > 0.5 for shares in missed.values()):
        return sentence + ". So it is mostly recall that ASL@1000 measures here."
    return sentence + "."


def about_the_top(means: Means) -> str:
    """The remark on the best systems by measures of the first relevant documents.

    Args:
        means: with ``AP``, ``ASL(g=10)@1000`` and ``LexiP``.
    """
    best = {
        "ASL(g=10)@1000, the first ten relevant documents": _leaders(means["ASL(g=10)@1000"], min),
        "LexiP, the first before all others": _leaders(means["LexiP"], max),
        "AP": _leaders(means["AP"], max),
    }
    if len(set(best.values())) == 1:
        return "Best by " + "; by ".join(best) + f", all the same: {best['AP']}."
    return "Best by " + "; by ".join(f"{what}: {name}" for what, name in best.items()) + "."


def _leaders(values: Mapping[str, float], extreme: Callable[[Iterable[float]], float]) -> str:
    """The names of the systems with the best value."""
    target = extreme(values.values())
    names = [f"'{name}'" for name, value in values.items() if value == target]
    return names[0] if len(names) == 1 else " and ".join(names) + " alike"


def about_the_pool(systems: int) -> str:
    """The remark on AP_Rareness over this number of systems."""
    sentence = f"AP_Rareness@100 counts who else finds a document among these {systems} systems"
    if systems < FEW:
        sentence += f", too few (under {FEW}) to tell what is rare: give it a pool of real runs"
    return sentence + "."
