"""What describes the project elsewhere follows from pyproject.toml; what may be released."""

from __future__ import annotations

import json
import re
import shutil

import pytest
import release


@pytest.fixture
def root(tmp_path):
    """A copy of the files that a release is checked by."""
    names = ("pyproject.toml", "CITATION.cff", "codemeta.json", ".zenodo.json", "CHANGELOG.md")
    for name in names:
        shutil.copy(release.ROOT / name, tmp_path)
    (tmp_path / "pyterrier_asl").mkdir()
    shutil.copy(release.ROOT / "pyterrier_asl" / "__init__.py", tmp_path / "pyterrier_asl")
    return tmp_path


def set_repository(root, address):
    pyproject = root / "pyproject.toml"
    text = re.sub(
        r'^repository = ".*"', f'repository = "{address}"', pyproject.read_text(), flags=re.M
    )
    pyproject.write_text(text)
    for path, content in release.descriptions(root).items():
        path.write_text(content)


def test_descriptions_are_up_to_date():
    for path, content in release.descriptions().items():
        assert path.read_text(encoding="utf-8") == content, "run: python docs/release.py"


def test_nothing_is_released_without_an_address(root):
    set_repository(root, "")
    (problem,) = release.problems(f"v{release.project()['version']}", root)
    assert problem.startswith("repository is empty")
    assert "example.org" not in (root / "pyproject.toml").read_text()


def test_the_address_is_set_in_one_place(root):
    set_repository(root, "https://example.org/team/pyterrier_asl/")
    assert release.problems(f"v{release.project()['version']}", root) == []
    assert (
        release.project(root)["urls"]["Issues"] == "https://example.org/team/pyterrier_asl/issues"
    )
    assert json.loads((root / "codemeta.json").read_text())["codeRepository"] == (
        "https://example.org/team/pyterrier_asl"
    )
    assert (
        'repository-code: "https://example.org/team/pyterrier_asl"'
        in (root / "CITATION.cff").read_text()
    )
    before = {path: path.read_text() for path in release.descriptions(root)}
    set_repository(root, "https://example.org/team/pyterrier_asl/")
    assert {path: path.read_text() for path in before} == before


def test_tag_and_changes_must_be_those_of_the_version(root):
    set_repository(root, "https://example.org/x")
    (root / "CHANGELOG.md").write_text("# Changelog\n")
    problems = release.problems("v9.9", root)
    assert [problem.split()[0] for problem in problems] == ["the", "CHANGELOG.md"]
