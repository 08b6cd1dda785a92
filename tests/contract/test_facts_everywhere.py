"""What must be known of the inputs is said by every command and result, in the same words."""

import re
import shlex
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from _calls import call
from _files import write_qrels, write_run
from click.testing import Result
from small import frame

import pyterrier_asl as asl
from pyterrier_asl.reporting.answers import Answers
from pyterrier_asl.reporting.collect import collect
from pyterrier_asl.unjudged.export import export

pytestmark = pytest.mark.filterwarnings("ignore")

RANDOM = np.random.default_rng(11)
QRELS = {
    f"t_{n:02}": {f"d-{n}-{i}": int(RANDOM.random() < 0.4) for i in range(12)} for n in range(16)
}
FULL = {q: {d: float(RANDOM.random()) for d in [*docs, f"x{q}"]} for q, docs in QRELS.items()}
OTHER = {q: {d: float(RANDOM.random()) for d in docs} for q, docs in FULL.items()}
WORST = "each counts with the worst value"

#: By fact: the second run, the qrels, and the sentence.
FACTS = {
    "unanswered": (
        {q: docs for q, docs in OTHER.items() if q not in ("t_03", "t_07")},
        QRELS,
        f"b does not answer 2 of 16 queries (e.g. 't_03'); {WORST}",
    ),
    "unknown": (
        {q: docs for q, docs in OTHER.items() if q != "t_03"} | {"new": OTHER["t_03"]},
        QRELS,
        f"b does not answer 1 of 16 queries (e.g. 't_03'); {WORST}, and b has 1 query that the "
        "qrels lack (e.g. 'new')",
    ),
    "ids of queries": (
        {q.replace("_", "") if q < "t_05" else q: docs for q, docs in OTHER.items()},
        QRELS,
        "b writes 5 query ids in another form ('t00' for 't_00'): write them alike",
    ),
    "ids of documents": (
        {q: {f"v2/{d}": s for d, s in of.items()} if q < "t_05" else of for q, of in OTHER.items()},
        QRELS,
        "b writes 60 document ids in another form ('v2/d-0-0' for 'd-0-0'): write them alike",
    ),
    "order": (
        {q: dict.fromkeys(docs, 1.0) for q, docs in OTHER.items()},
        QRELS,
        "b has the same score for all documents of 16 of 16 queries (e.g. 't_00'): as in trec_eval "
        "they are ordered by their ids, descending, and ranks are ignored; write scores that fall "
        "with the rank",
    ),
    "own ids": (
        {q: {q: 2.0} | docs for q, docs in OTHER.items()},
        QRELS,
        "b retrieves a document with the query's own id in 16 of 16 queries, as if the query were "
        "in the collection; leave it out with Qrels(..., drop_self=True) or --drop-self",
    ),
    "depth": (
        {q: dict(list(docs.items())[2:]) for q, docs in OTHER.items()},
        QRELS,
        "b has 11 documents per query, a 13: measures to a greater depth count the rest as not "
        "retrieved",
    ),
    "positive-only": (
        OTHER,
        {q: {d: g for d, g in docs.items() if g} for q, docs in QRELS.items()},
        "the qrels list relevant documents only: unjudged documents cannot be told from documents "
        "judged not relevant",
    ),
}
COMMANDS = {
    "evaluate": "evaluate qrels a.run b.run -m AP",
    "compare": "compare qrels a.run b.run -m AP",
    "compare -o": "compare qrels a.run b.run -m AP -o tsv",
    "guard": "compare qrels a.run b.run --fail-if 'AP worse'",
    "explain": "explain qrels a.run b.run -m AP --value a=.1234 --value b=.1234",
    "ranks": "ranks qrels a.run b.run -m AP --draws 99",
    "ranks -o": "ranks qrels a.run b.run -m AP --draws 99 -o jsonl",
    "holes": "holes qrels a.run b.run -m AP",
    "holes -o": "holes qrels a.run b.run -m AP -o tsv",
    "judges": "judges qrels a.run b.run --judge again=qrels -m AP --draws 20",
    "audit": "audit qrels a.run b.run --judge again=qrels -m AP",
    "plan-audit": "plan-audit none a.run b.run --judge again=qrels -m AP",
    "analyze": "analyze run-quality qrels a.run b.run",
    "report": "report qrels a.run b.run -m AP -o page.html --force",
}


@pytest.fixture(params=FACTS)
def fact(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run, qrels, _ = FACTS[request.param]
    write_run(FULL, "a.run")
    write_run(run, "b.run")
    write_qrels(qrels, "qrels")
    return FACTS[request.param]


def some(number: int, config: pytest.Config) -> dict[str, str]:
    """In the quick part a third of the commands for each fact, and of the facts for each."""
    items = list(COMMANDS.items())
    return dict(items if config.getoption("--full") else items[number % 3 :: 3])


def said_by(done: Result, command: str) -> str:
    """What a command says, or the text of its page, on one line without quotes."""
    text = f"{done.stdout} {done.stderr}"
    if command == "report" and done.exit_code == 0:
        text = re.sub("<.*?>|&#39;", "", Path("page.html").read_text())
    return " ".join(text.replace("'", "").split())


def test_every_command_says_it(fact, pytestconfig):
    _, _, sentence = fact
    sentence = sentence.replace("'", "")
    for name, line in some(list(FACTS.values()).index(fact), pytestconfig).items():
        done = call(*shlex.split(line))
        assert done.exit_code in (0, 1, 2) and "Error: " not in done.stderr, (name, done.stderr)
        assert sentence in said_by(done, name), name
        if " -o " in line and name != "report":
            assert sentence not in " ".join(done.stdout.replace("'", "").split()), name


WRITTEN = "another form ('D-0-0' for 'd-0-0'): write them alike"
#: By input beside the runs, its option, and the sentence.
BESIDE = {
    "pool": ("--pool pool", f"the pool 'pool' writes 192 document ids in {WRITTEN}"),
    "labels": ("--labels labels", f"the source of the labels writes 64 document ids in {WRITTEN}"),
    "labels of another scale": (
        "--labels labels",
        "the labels go from 0 to 1, the official grades to 2",
    ),
    "qrels": (
        "",
        "the qrels judge 2 documents twice, differently: the last label counts (e.g. 'd-0-0', 2 "
        f"and {QRELS['t_00']['d-0-0']} for query 't_00')",
    ),
}


@pytest.mark.parametrize("what", BESIDE)
def test_every_command_matches_what_stands_beside_the_runs(
    what, tmp_path, monkeypatch, pytestconfig
):
    """Each command that takes it; a guard cannot test a condition."""
    monkeypatch.chdir(tmp_path)
    option, sentence = BESIDE[what]
    write_run(FULL, "a.run"), write_run(OTHER, "b.run")
    upper = {q: {d.upper(): s for d, s in of.items() if d in QRELS[q]} for q, of in FULL.items()}
    is_labels = option.startswith("--labels")
    judged = {q: dict(list(of.items())[4 * is_labels :]) for q, of in QRELS.items()}
    judged["t_00"] |= {"other": 2} if what == "labels of another scale" else {}
    Path("pool").mkdir()
    for name in "xy":
        write_run(upper, f"pool/{name}")
    rows = [f"{q}\t{d.upper()}\t{g}\n" for q in QRELS for d, g in [*QRELS[q].items()][:4]]
    Path("labels").write_text("qid\tdocno\tlabel\n" + "".join(rows))
    write_qrels(judged, "qrels")
    if what == "qrels":
        twice = "t_00 0 d-0-0 2\nt_01 0 d-1-0 2\nt_01 0 d-1-0 2\n"
        Path("qrels").write_text(twice + Path("qrels").read_text())
    done = {}
    for name, line in some(list(BESIDE).index(what), pytestconfig).items():
        command, *rest = shlex.split(line)
        if what == "pool":
            rest = [word.replace("AP", "P_Rareness@5") for word in rest]
        are_people = is_labels and "audit" in command  # labels of people, not of qrels
        if are_people or (option and option.split()[0] not in call(command, "--help").stdout):
            continue
        result = call(command, *rest, *option.split())
        said = said_by(result, command)
        done[name] = sentence.replace("'", "") in said or said
        if what == "qrels" and command in ("audit", "plan-audit", "judges"):  # of a judge
            done[name] = "(qrels) labels 2 pairs of query and document several times" in said
        if name == "guard":
            assert result.exit_code == 2 and "ERROR: " in result.stderr
    assert done and done == dict.fromkeys(done, True)


def test_every_result_has_it(fact):
    run, qrels, sentence = fact
    runs, again = {"a": FULL, "b": run}, {"again": qrels}
    results = {
        "compare": asl.compare(runs, qrels, "AP"),
        "ranks": asl.ranks(runs, qrels, "AP", draws=99),
        "holes": asl.holes(runs, qrels, "AP"),
        "judges": asl.judges(qrels, again, runs, "AP", draws=20, test="t"),
        "audit": asl.audit(runs, qrels, "AP", qrels),
        "plan_audit": asl.plan_audit(runs, None, "AP", qrels),
        "report": collect(runs, qrels, "AP"),
        "preference_matrix": asl.preference_matrix(runs, qrels),
    }
    systems = [frame(run).sort_values("qid").assign(rank=0, query="x") for run in runs.values()]
    topics = pd.DataFrame({"qid": list(qrels), "query": "x"})
    options = {"names": ["a", "b"], "filter_by_topics": False}
    judged = frame(qrels, "label").sort_values("qid")
    frames = {
        "evaluate": asl.evaluate(runs, qrels, "AP"),
        "analyze": asl.analysis.run_quality(runs, qrels),
        "Experiment": asl.Experiment(systems, topics, judged, ["AP"], **options),
        "bounds": asl.bounds(runs, qrels, "AP"),
        "ties": asl.ties(runs, qrels, "AP"),
    }
    notes = {name: list(found.notes) for name, found in results.items()}
    notes |= {name: frame.attrs["notes"] for name, frame in frames.items()}
    assert {name: sentence in said for name, said in notes.items()} == dict.fromkeys(notes, True)
    of_pair = asl.preferences(FULL, run, qrels).attrs["notes"]
    named = re.sub(r"\bb (?=has|writes|retrieves|does)", "run_b ", sentence)
    assert named.replace(", a 13", ", run_a 13") in of_pair
    of_run = asl.search_lengths(run, qrels).attrs["notes"]
    assert named.replace("run_b", "run") in of_run or "per query" in sentence


def test_qrels_of_relevant_documents_leave_nothing_to_judge(tmp_path):
    """With a single document judged not relevant there is something to judge."""
    _, qrels, sentence = FACTS["positive-only"]
    judged = {**qrels, "t_00": qrels["t_00"] | {"other": 0}}
    runs = {"a": FULL, "b": OTHER, "c": {q: dict.fromkeys("xyz", 1.0) for q in FULL} | FULL}
    for names in ("ab", "abc"):
        several = {name: runs[name] for name in names}
        assert len(asl.holes(several, judged, "nDCG@10").todo)
        found = asl.holes(several, qrels, "nDCG@10")
        assert list(found.todo.columns)[:2] == ["qid", "docno"] and found.todo.empty
        assert export(found, tmp_path / f"{names}.tsv") == 0
    for of_grades, advice in ((judged, True), (qrels, False)):
        page = asl.report(several, of_grades, "nDCG@10")
        assert ("To judge them" in page.html, bool(page.findings.to_judge)) == (advice,) * 2
        assert (f"<li>{sentence}.</li>" in page.html) != advice


@pytest.mark.parametrize("name", ["ids of queries", "ids of documents", "order", "infinite"])
def test_what_makes_a_verdict_void_comes_first(name):
    """In comparison, ranks, holes and page; a guard cannot test. The run is worse, or better."""
    endless = {q: docs | {"x": np.inf} for q, docs in OTHER.items()}
    sentence = "b has 16 infinite scores: write scores that are numbers"
    run, qrels, sentence = (endless, QRELS, sentence) if name == "infinite" else FACTS[name]
    for runs in ({"a": FULL, "b": run}, {"b": run, "a": FULL}):
        (baseline, other), page = runs, collect(runs, qrels, "AP")
        compared = asl.compare(runs, qrels, "AP").sentences()
        starts = f"No comparison of {other} with {baseline}"
        assert compared[0] == f"{starts} can be trusted: {sentence}."
        assert "significant" not in " ".join(compared)
        for found in (asl.ranks(runs, qrels, "AP", draws=99), asl.holes(runs, qrels, "AP")):
            start = f"No comparison with this run can be trusted: {sentence}."
            assert " ".join(str(found).split()).startswith(start)
        verdict = Answers(page, page.first).verdict()[0]
        assert verdict == f"{starts} by AP can be trusted: {sentence}."
        first, *_ = asl.compare(runs, qrels, conditions="AP worse", allow_missing=True).verdicts
        assert first.outcome.name == "ERROR" and sentence in first.message
    several = {"a": FULL, "b": run, "c": run, "d": OTHER}
    page = collect(several, qrels, "AP")
    first = Answers(page, page.first).verdict()[0]
    assert first.startswith("No comparison with these runs can be trusted: ") and sentence in first
    assert asl.compare(several, qrels, "AP").sentences()[2].startswith("No significant difference")


def test_a_baseline_that_lacks_queries_makes_a_verdict_void():
    """Where the run lacks them it is worse; a guard that lets that pass lets it pass here."""
    run, qrels, sentence = FACTS["unanswered"]
    runs = {"b": run, "a": FULL}
    [said] = asl.compare(runs, qrels, "AP").sentences()
    assert said == f"No comparison of a with b can be trusted: {sentence}."
    for given in (runs, {"a": FULL, "b": run}):
        options = {"conditions": "AP worse", "allow_missing": True}
        said = asl.compare(given, qrels, "AP", **options).sentences()
        assert len(said) == 1 and " significant" in said[0]


def test_ties_that_reverse_a_significant_difference_make_it_void():
    """In b the relevant document is the first of seven equal scores, and could be the seventh."""
    docs = [f"d{n:02}" for n in range(12)]
    qrels = {q: {"d11": 1, "d00": 0} for q in QRELS}
    b = {q: {d: 2.0 if d > "d04" else 1.0 for d in docs} for q in QRELS}
    for rank, is_void in ((3, True), (9, False)):
        ranks = {q: rank + (q == "t_00") for q in QRELS}
        a = {q: {d: -float(n) for n, d in enumerate(docs[:-1])} for q in QRELS}
        a = {q: of | {"d11": 1.5 - ranks[q]} for q, of in a.items()}
        said, *rest = asl.compare({"a": a, "b": b}, qrels, ["RR", "P@12"]).sentences()
        assert rest == ["b is equal to a in every query by P@12."]
        low = 1 / 7 - (15 / rank + 1 / (rank + 1)) / 16
        assert (low < 0) == is_void
        reason = f"in other orders of equal scores the difference is between {low:+.4g} and "
        start = f"No comparison of b with a by RR can be trusted: {reason}"
        assert said.startswith(start if is_void else "b is significantly better than a by RR.")


def test_a_negative_label_is_no_judgement(tmp_path, monkeypatch, pytestconfig):
    """Every command prints the same with the label -1 as without it."""
    monkeypatch.chdir(tmp_path)
    write_run(FULL, "a.run"), write_run(OTHER, "b.run")
    negative = {
        q: {d: -1 if d[-1] in "037" else g * (1 + (d[-1] in "159")) for d, g in of.items()}
        for q, of in QRELS.items()
    }
    without = {q: {d: g for d, g in docs.items() if g >= 0} for q, docs in negative.items()}
    Path("new").write_text("qid\tdocno\tlabel\nt_00\td-0-0\t1\n")
    write_qrels({q: dict.fromkeys(of, 1) for q, of in QRELS.items()}, "again")
    lines = [line.replace("again=qrels", "again=again") for line in some(1, pytestconfig).values()]
    lines = [line for line in lines if not line.startswith("report")]
    lines += [f"analyze {n} qrels a.run b.run" for n in ("collection-statistics", "missing-labels")]
    lines += ["labels qrels new -o merged --force", "evaluate qrels a.run -m AP(judged_only=True)"]
    printed = []
    for qrels in (negative, without):
        write_qrels(qrels, "qrels")
        results = [call(*shlex.split(line.replace("(", "'(").replace(")", ")'"))) for line in lines]
        assert all(done.exit_code in (0, 1) for done in results)
        printed.append({s: (done.stdout, done.stderr) for s, done in zip(lines, results)})
    assert printed[0] == printed[1]


def test_topics_whose_ids_the_qrels_write_in_another_form():
    """Else such topics would be left out in silence, as those of another fold are."""
    pytest.importorskip("optuna")
    qrels = frame(QRELS, "label")
    names = {q: q.replace("t_0", "t_") for q in FULL}
    run = frame({names[q]: docs for q, docs in FULL.items()})
    said = "the frame of topics writes 10 query ids in another form ('t_0' for 't_00'): write them"
    for qids, warns in ((list(names.values()), True), (list(FULL)[:5], False)):
        topics = pd.DataFrame({"qid": qids, "query": "x"})
        system = run if warns else frame(FULL)
        pipe = pt.Transformer.from_df(system.assign(rank=0))
        pipe.weight = 1
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            asl.Experiment([pipe], topics, qrels, ["AP"])
            asl.RandomSearch(pipe, {pipe: {"weight": [1, 2]}}, topics, qrels, "AP")
        found = [w for w in caught if str(w.message).startswith(said)]
        assert len(found) == 2 * warns


@pytest.mark.parametrize("part", ["query", "document"])
def test_a_judge_whose_ids_are_written_in_another_form(part):
    """Else its labels would be left out in silence; a judge of fewer queries is no such one."""
    runs = {"a": FULL, "b": OTHER, "c": {q: dict.fromkeys("xyz", 1.0) | FULL[q] for q in FULL}}
    written = {q.upper() if q < "t_05" else q: docs for q, docs in QRELS.items()}
    said = "the judge 'm' writes 5 query ids in another form ('T_00' for 't_00'): write them alike"
    if part == "document":
        upper = {q: {d.upper(): g for d, g in QRELS[q].items()} for q in QRELS if q < "t_05"}
        written = QRELS | upper
        said = "the judge 'm' writes 60 document ids in another form ('D-0-0' for 'd-0-0'): write"
    fewer = {q: docs for q, docs in QRELS.items() if q > "t_04"}
    for judge, is_noted in ((written, True), (fewer, False)):
        for result in (
            asl.judges(QRELS, {"m": judge}, runs, "AP", draws=20, test="t"),
            asl.ranks(runs, QRELS, "AP", judges={"m": judge}, draws=99),
            collect(runs, QRELS, ["AP"], judges={"m": judge}),
        ):
            assert sum(note.startswith(said) for note in result.notes) == is_noted
