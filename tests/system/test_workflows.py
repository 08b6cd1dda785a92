"""The commands of the workflows also run in .ci/run or here."""

import shutil
import subprocess
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

#: Places that run the commands of the workflows that .ci/run does not run.
ELSEWHERE = {
    "sphinx-build -W -q -c docs pyterrier_asl/pt_docs build/docs": "tests/system/test_docs.py",
    "pip install build twine": "pyproject.toml",
    "python -m build": "tests/system/test_packaging.py",
    "twine check --strict dist/*": "tests/system/test_packaging.py",
    "pip install dist/*.whl": "tests/system/test_packaging.py",
    "pyterrier-asl demo": "tests/system/test_packaging.py",
    "python docs/release.py --check --tag ${{ github.ref_name }}": "tests/unit/test_release.py",
    'pip install "nox[uv]"': "noxfile.py",
    "nox -k ${{ matrix.only }}": "noxfile.py",
    "pytest --hypothesis-profile random": "tests/conftest.py",
    'uv pip install --system --resolution lowest-direct ".[test]"': ".ci/run",
}


def commands(workflow: Path) -> list[str]:
    """The commands of the steps of a workflow."""
    jobs = yaml.safe_load(workflow.read_text())["jobs"].values()
    return [step["run"] for job in jobs for step in job["steps"] if "run" in step]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_each_step_is_one_command_that_is_run_here_too(workflow):
    here = (ROOT / ".ci" / "run").read_text().replace("--quiet ", "").splitlines()
    here = [line.partition("|| ")[2] or line.removeprefix("on_a_new_machine ") for line in here]
    for command in commands(workflow):
        assert "\n" not in command.strip()
        assert command in here or (ROOT / ELSEWHERE[command]).is_file(), command


def test_the_commands_of_the_readme_come_first_on_a_new_machine():
    """They need no collections, data or further packages; see README, Installation."""
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    demo_and_tests = ("pyterrier-asl demo", "pytest")
    first = [lines.index(f"on_a_new_machine {command}") for command in demo_and_tests]
    later = ("install-collections", "fetch.py", ".[dev]", "REQUIRE=")
    assert first == sorted(first)
    assert all(at > first[-1] for at, line in enumerate(lines) if any(w in line for w in later))


def test_oldest_and_newest_python_match_the_package():
    pyproject = (ROOT / "pyproject.toml").read_text()
    matrix = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
    versions = matrix["jobs"]["quick"]["strategy"]["matrix"]["python"]
    assert f'requires-python = ">={versions[0]}"' in pyproject
    for version in versions:
        assert f'"Programming Language :: Python :: {version}"' in pyproject


def test_actionlint_finds_no_problem():
    go = shutil.which("go")
    if go is None:
        pytest.skip("Go is not installed")
    (command,) = [c for path in WORKFLOWS for c in commands(path) if "actionlint" in c]
    done = subprocess.run(command.split(), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
