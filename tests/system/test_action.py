"""The steps of the GitHub Action, run as a script with the variables of GitHub."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from _files import write_qrels, write_run

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")

QRELS = {f"q{i}": {"good": 1, "bad": 0} for i in range(30)}
GOOD = {f"q{i}": {"good": 2, "bad": 1} for i in range(30)}
#: A run with the relevant document at rank 2 in two of three queries.
WORSE = {f"q{i}": {"good": 0 if i % 3 else 2, "bad": 1} for i in range(30)}


def run_action(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Runs the step that compares, as GitHub does, with inputs as variables and output files."""
    (step,) = [step for step in ACTION["runs"]["steps"] if step.get("id") == "compare"]
    assert step["shell"] == "bash"
    given = {name: about.get("default", "") for name, about in ACTION["inputs"].items()}
    given |= {"qrels": "qrels.txt", "baseline": "live.run", **inputs}
    inputs = {f"inputs.{name}": value for name, value in given.items()}
    env = {name: expression(value, inputs) for name, value in step["env"].items()}
    for variable, name in (("STEP_SUMMARY", "summary"), ("OUTPUT", "output")):
        (folder / name).touch()
        env[f"GITHUB_{variable}"] = str(folder / name)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, **env, "GITHUB_ACTIONS": "true", "PATH": path}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path):
    write_qrels(QRELS, tmp_path / "qrels.txt")
    for name, run in {"live.run": GOOD, "new.run": GOOD, "bad.run": WORSE}.items():
        write_run(run, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    "run, condition, status, verdict",
    [
        ("new.run", "RR worse", 0, "PASS"),
        ("bad.run", "RR worse p<.05", 1, "FAIL"),
        ("gone.run", "RR worse", 2, "ERROR"),
        ("bad.run", "RR is <worse>", 2, "ERROR"),
    ],
)
def test_every_outcome_reaches_every_output(folder, run, condition, status, verdict):
    done = run_action(folder, run=run, conditions=f"{condition}\n")
    assert done.returncode == status, done.stdout + done.stderr
    assert (folder / "output").read_text() == f"verdict={verdict}\n"
    assert json.loads((folder / "guard.json").read_text())["message"] == verdict
    summary = (folder / "summary").read_text()
    assert summary.startswith(f"## Guard: {verdict}\n") and condition in summary
    assert ("| RR ↑ |" in summary) is (status < 2)
    (suite,) = ElementTree.parse(folder / "guard.xml").iter("testsuite")
    counts = {name: int(suite.get(name)) for name in ("failures", "errors")}
    assert counts == {"failures": status == 1, "errors": status == 2}
    assert ("::error" in done.stdout + done.stderr) == (status > 0)


def test_several_runs_and_conditions_one_a_line_and_folders_of_outputs_are_made(folder):
    given = {"run": "new.run\nbad.run\n", "conditions": "RR worse\n\nP@1 worse\n"}
    done = run_action(folder, **given, badge="sub/b.json", junit="other/g.xml")
    assert done.returncode == 1, done.stderr
    assert json.loads((folder / "sub" / "b.json").read_text())["message"] == "FAIL"
    (suite,) = ElementTree.parse(folder / "other" / "g.xml").iter("testsuite")
    assert len(list(suite.iter("testcase"))) >= 4


def expression(text: str, context: dict[str, str]) -> str:
    """The value in GitHub of an expression of names and ``||``."""
    names = text.removeprefix("${{ ").removesuffix(" }}").split(" || ")
    return next((context[name] for name in names if context.get(name)), "")


@pytest.mark.parametrize(
    ("package", "expected"), [("", "/checkout"), ("pyterrier-asl==1.0", "pyterrier-asl==1.0")]
)
def test_the_checkout_is_installed_where_no_package_is_given(tmp_path, package, expected):
    """Expressions are evaluated in steps; in the default of an input there is no context."""
    assert not [about for about in ACTION["inputs"].values() if "${{" in about.get("default", "")]
    (step,) = [step for step in ACTION["runs"]["steps"] if "pip install" in step.get("run", "")]
    context = {"inputs.package": package, "github.action_path": "/checkout"}
    variables = {name: expression(value, context) for name, value in step["env"].items()}
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > arguments\n')
    python.chmod(0o755)
    environment = {**os.environ, **variables, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["bash", "-eo", "pipefail", "-c", step["run"]], cwd=tmp_path, env=environment)
    arguments = (tmp_path / "arguments").read_text().splitlines()
    assert arguments[:3] == ["-m", "pip", "install"] and arguments[-1] == expected


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"qrels": ""}, "the input qrels or scores is needed"),
        ({"scores": "s.csv"}, "the inputs qrels and scores exclude each other"),
        ({"conditions": " \n"}, "the input conditions is empty"),
        ({"baseline": ""}, "the input baseline is empty"),
        ({"run": ""}, "the input run is empty"),
    ],
)
def test_a_wrong_input_is_named_in_every_output(folder, changed, problem):
    done = run_action(folder, **{"run": "new.run", "conditions": "RR worse", **changed})
    assert done.returncode == 2 and f"::error::ERROR: {problem}" in done.stdout
    assert "--" not in done.stdout + done.stderr
    assert (folder / "output").read_text() == "verdict=ERROR\n"
    assert json.loads((folder / "guard.json").read_text())["message"] == "ERROR"
    assert f"ERROR: {problem}\n" in (folder / "summary").read_text()
    (error,) = ElementTree.parse(folder / "guard.xml").iter("error")
    assert error.get("message") == problem


def test_artifacts_of_a_matrix_have_names_of_their_own_and_all_inputs_are_used():
    steps = [step for step in ACTION["runs"]["steps"] if "upload-artifact" in step.get("uses", "")]
    (name,) = [step["with"]["name"] for step in steps]
    assert "strategy.job-index" in name and "inputs.artifact" in name
    text = json.dumps(ACTION["runs"])
    assert all(f"inputs.{name} " in text for name in ACTION["inputs"])
