"""The guard elsewhere: files of ``examples`` that guard.rst names, with their commands run."""

import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest
from _calls import call
from _files import write_qrels, write_run

import pyterrier_asl

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

EXAMPLES = Path(__file__).parents[3] / "examples"
GUIDE = Path(pyterrier_asl.__file__).parent / "pt_docs" / "guard.rst"
QRELS = {f"q{n}": {"d": 1, "e": 0} for n in range(12)}


def run_guard(command: str, folder: Path, *, worse: bool) -> int:
    """The exit status of the command with a run that is worse or equal."""
    write_qrels(QRELS, folder / "qrels.txt")
    good = {qid: {"d": 2 + n, "e": 1} for n, qid in enumerate(QRELS)}
    # The loss differs between queries, as otherwise there is no test.
    bad = {qid: {"x": 9} | {"d": 1, "e": 2 if n % 3 else 0} for n, qid in enumerate(QRELS)}
    write_run(good, folder / "live.run")
    write_run(bad if worse else good, folder / "new.run")
    program, *arguments = shlex.split(command)
    assert program == "pyterrier-asl"
    return call(*arguments).exit_code


@pytest.mark.parametrize("name", ["gitlab", "pull_request"])
def test_the_guide_names_the_file(name):
    assert len((EXAMPLES / f"{name}.yml").read_text().splitlines()) <= 11
    assert f"``examples/{name}.yml``" in GUIDE.read_text()


def test_gitlab_reads_the_verdicts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    job = yaml.safe_load((EXAMPLES / "gitlab.yml").read_text())["relevance"]
    *_, guard = job["script"]
    file = tmp_path / job["artifacts"]["reports"]["junit"]
    for worse, status in ((True, 1), (False, 0)):
        assert run_guard(guard, tmp_path, worse=worse) == status
        assert len(ElementTree.parse(file).findall(".//failure")) == status
    assert job["artifacts"]["when"] == "always"  # also where the guard fails


def test_a_pull_request_has_the_summary_as_a_comment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    workflow = yaml.safe_load((EXAMPLES / "pull_request.yml").read_text())
    assert workflow[True] == "pull_request"  # YAML reads the key "on" as true
    assert workflow["permissions"]["pull-requests"] == "write"
    *_, guard, comment = workflow["jobs"]["relevance"]["steps"]
    assert run_guard(guard["run"], tmp_path, worse=True) == 1
    words = shlex.split(comment["run"])
    assert words[:3] == ["gh", "pr", "comment"] and comment["if"] == "always()"
    text = (tmp_path / words[words.index("--body-file") + 1]).read_text()
    assert "| nDCG@10 ↑ |" in text
