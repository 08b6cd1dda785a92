"""Files with metadata follow from pyproject.toml, and releases are checked."""

import json
import re
import shutil

import pytest
import release


@pytest.fixture
def root(tmp_path):
    """A copy of the files that a release check reads, with the changelog of a release."""
    names = ("pyproject.toml", "CITATION.cff", "codemeta.json", ".zenodo.json", "README.md")
    for name in names:
        shutil.copy(release.ROOT / name, tmp_path)
    readme = tmp_path / "README.md"
    readme.write_text(readme.read_text().replace("not on PyPI yet", "on PyPI"))
    version = release.project()["version"]
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## {version}\n\n* First.\n")
    shutil.copytree(release.ROOT / "examples", tmp_path / "examples")
    (tmp_path / "pyterrier_asl").mkdir()
    shutil.copy(release.ROOT / "pyterrier_asl" / "__init__.py", tmp_path / "pyterrier_asl")
    return tmp_path


def set_repository(root, address):
    pyproject = root / "pyproject.toml"
    new, old = f'repository = "{address}"', r'^repository = ".*"'
    pyproject.write_text(re.sub(old, new, pyproject.read_text(), flags=re.M))
    for path, content in release.descriptions(root).items():
        path.write_text(content)


def test_descriptions_are_up_to_date():
    for path, content in release.descriptions().items():
        assert path.read_text(encoding="utf-8") == content, "run: python docs/release.py"


def test_nothing_is_released_without_an_address(root):
    set_repository(root, "")
    problem, links = release.problems(f"v{release.project()['version']}", root)
    assert problem.startswith("repository is empty") and "relative links" in links
    assert "example.org" not in (root / "pyproject.toml").read_text()


def test_the_address_is_set_in_one_place(root):
    address = "https://example.org/team/pyterrier_asl"
    set_repository(root, f"{address}/")
    assert release.problems(f"v{release.project()['version']}", root) == []
    assert release.project(root)["urls"]["Issues"] == f"{address}/issues"
    assert json.loads((root / "codemeta.json").read_text())["codeRepository"] == address
    assert f'repository-code: "{address}"' in (root / "CITATION.cff").read_text()
    installs = f"'pyterrier-asl[charts] @ git+{address}'"
    assert installs in (root / "examples" / "compare_pipelines.ipynb").read_text()
    before = {path: path.read_text() for path in release.descriptions(root)}
    set_repository(root, f"{address}/")
    assert {path: path.read_text() for path in before} == before


def test_tag_and_changes_must_be_those_of_the_version(root):
    set_repository(root, "https://example.org/x")
    (root / "CHANGELOG.md").write_text("# Changelog\n")
    (root / "README.md").write_text("# Title\n")
    problems = release.problems("v9.9", root)
    assert [problem.split()[0] for problem in problems] == ["the", "CHANGELOG.md"]


UNRELEASED = "# Changelog\n\n## Unreleased\n\n* One.\n\n* Two.\n\n## 0.1.0\n\n* First.\n"


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("CHANGELOG.md", UNRELEASED, "CHANGELOG.md has 2 lines below Unreleased"),
        ("README.md", "It is not on\nPyPI yet.\n", "README.md says that the package is not on"),
        ("README.md", "Not yet: it is not yet on PyPI.\n", "says that the package is not on PyPI"),
    ],
)
def test_what_is_no_release(root, name, text, problem):
    set_repository(root, "https://example.org/x")
    (root / name).write_text(text)
    [found] = release.problems("v0.1.0", root)
    assert problem in found


LINKS = """[a](docs/a.rst) [b](https://b.org) [c](#c) ![p](docs/p.png)
<img src="q.svg" alt="x"> <a href='d.md'>d</a> [e](mailto:e@e.org)
"""


def test_relative_links_lead_to_the_repository(root):
    """Relative links do not work on PyPI, which shows the README."""
    (root / "README.md").write_text(LINKS)
    assert release.relative_links(LINKS) == ["docs/a.rst", "docs/p.png", "q.svg", "d.md"]
    set_repository(root, "https://example.org/x")
    assert (root / "README.md").read_text() == (
        "[a](https://example.org/x/blob/main/docs/a.rst) [b](https://b.org) [c](#c) "
        "![p](https://example.org/x/raw/main/docs/p.png)\n"
        '<img src="https://example.org/x/raw/main/q.svg" alt="x"> '
        "<a href='https://example.org/x/blob/main/d.md'>d</a> [e](mailto:e@e.org)\n"
    )
    assert release.problems("v0.1.0", root) == []
    (root / "README.md").write_text(LINKS)
    assert "README.md has 4 relative links, e.g. docs/a.rst" in release.problems("v0.1.0", root)


def test_notebooks_have_a_colab_badge_where_colab_can_open_them(root):
    """Colab opens notebooks from GitHub only; a second call adds no second badge."""
    (root / "README.md").write_text("[tune](examples/tune_feedback.ipynb), [b](examples/why.py)\n")
    written = (root / "README.md").read_text()
    set_repository(root, "https://example.org/x")
    assert "colab" not in (root / "README.md").read_text()
    (root / "README.md").write_text(written)
    for _ in range(2):
        set_repository(root, "https://github.com/team/asl")
        readme = (root / "README.md").read_text()
        assert readme.count("colab-badge.svg") == 1
        colab = "(https://colab.research.google.com/github/team/asl/blob/main/examples/"
        assert f"{colab}tune_feedback.ipynb), [b]" in readme
