"""The verdicts and all outputs of a guard name the causes."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from _calls import call

from pyterrier_asl import compare, read_scores

QUERIES = [f"q{i:02}" for i in range(30)]
QRELS = {q: {f"{q}-{d}": int(d < 4) for d in range(12)} for q in QUERIES}
#: Queries have different documents; the new run exchanges the best two.
LIVE = {q: {f"{q}-{d}": -float(d) for d in range(12)} for q in QUERIES}
NEW = {q: docs | {f"{q}-5": 1.0} for q, docs in LIVE.items()}
#: Half of the documents have other ids.
HALF = {
    q: {("v2-" if int(d[-1]) % 2 else "") + d: s for d, s in docs.items()}
    for q, docs in NEW.items()
}
CONDITION = "AP worse p<.05"


def verdict(new, condition=CONDITION, **options):
    [found] = compare({"live": LIVE, "new": new}, QRELS, conditions=condition, **options).verdicts
    return found


@pytest.mark.parametrize(
    "condition", [CONDITION, "AP worse certainly", "RR possibly worse by .1 p<.05"]
)
def test_runs_that_cannot_be_compared_are_an_error(condition):
    found = verdict(HALF, condition)
    assert found.outcome.name == "ERROR" and "with the prefix 'v2-'" in found.message


def test_what_is_certain_never_passes_by_labels_that_cannot_be_compared():
    for condition, outcome in ((CONDITION, "FAIL"), ("AP worse certainly", "ERROR")):
        assert verdict(HALF, condition, allow_missing=True).outcome.name == outcome
        assert verdict(HALF, condition, causes=False).outcome.name != "ERROR"


def test_a_sound_run_has_no_cause():
    found = verdict(NEW)
    assert found.outcome.name == "FAIL" and not found.why
    assert compare({"live": LIVE, "new": NEW}, QRELS).causes.empty


def test_other_causes_are_a_note():
    tied = {q: dict.fromkeys(docs, 1.0) for q, docs in NEW.items()}
    found = verdict(tied)
    assert found.outcome.name == "FAIL" and any(
        "have the score of another" in why for why in found.why
    )


def test_causes_name_the_run_where_there_are_several():
    compared = compare({"live": LIVE, "new": NEW, "half": HALF}, QRELS, conditions=CONDITION)
    assert [v.outcome.name for v in compared.verdicts] == ["FAIL", "ERROR"]
    assert set(compared.causes["run"]) == {"half"}
    assert any(note.startswith("Why: half: ") for note in compared.notes())


def test_causes_are_of_runs(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("system,topic,AP\na,1,0.5\nb,1,0.4\n")
    with pytest.raises(ValueError, match="causes"):
        compare(read_scores(path), measures=["AP"], causes=True)


def test_causes_are_in_every_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, run in (("live", LIVE), ("new", HALF)):
        rows = (f"{q} Q0 {d} 0 {s} x\n" for q, docs in run.items() for d, s in docs.items())
        Path(f"{name}.run").write_text("".join(rows))
    rows = (f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items())
    Path("qrels").write_text("".join(rows))
    guard = ["compare", "qrels", "live.run", "new.run", "-m", "AP", "--fail-if", CONDITION]
    outputs = ["--junit", "g.xml", "--summary", "g.md", "--github", "-o", "jsonl"]
    result = call(*guard, *outputs)
    assert result.exit_code == 2
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert any("'v2-'" in cause for row in rows for cause in row.get("causes", []))
    assert "\nWhy: " in result.stderr and "::warning title=Cause::" in result.stderr
    texts = [case.findtext("system-out") for case in ElementTree.parse("g.xml").iter("testcase")]
    assert all("'v2-'" in text for text in [*texts, Path("g.md").read_text()])
    assert "Why:" not in call(*guard, "--no-causes").stderr
    # Machine-readable output has each cause once on stderr, with conditions and without.
    why = result.stderr.count("\nWhy: ")
    assert call(*guard, "-o", "tsv").stderr.count("\nWhy: ") == why
    alone = call(*guard[:-2], "--causes", "-o", "tsv")
    assert alone.exit_code == 0 and alone.stderr.count("Why: ") == why
