"""Writes files with metadata of the project from ``pyproject.toml``, and checks a release.

    python docs/release.py                        # writes the files
    python docs/release.py --check --tag v0.2.0   # checks whether this tag may be published

The address of the repository is set in one place, ``repository`` below ``[tool.pyterrier-asl]`` of
``pyproject.toml``. Without it no other file has an address, and the check fails.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

#: The URLs of the project, by their names on PyPI, below the address of the repository.
URLS = {
    "Repository": "{repository}",
    "Issues": "{repository}/issues",
    "Changelog": "{repository}/blob/main/CHANGELOG.md",
}


def project(root: Path = ROOT) -> dict[str, Any]:
    """``[project]`` of ``pyproject.toml``, with its ``version`` and its ``repository``."""
    pyproject = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    init = (root / "pyterrier_asl" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"$', init, flags=re.MULTILINE)
    return {
        **pyproject["project"],
        "version": version,
        "repository": pyproject["tool"]["pyterrier-asl"]["repository"].rstrip("/"),
    }


def urls(repository: str) -> dict[str, str]:
    """The entries of ``[project.urls]``, without the documentation."""
    if not repository:
        return {}
    return {name: url.format(repository=repository) for name, url in URLS.items()}


def codemeta(about: dict[str, Any]) -> dict[str, Any]:
    """The metadata of the project in the terms of CodeMeta."""
    described = {
        "@context": "https://w3id.org/codemeta/3.0",
        "@type": "SoftwareSourceCode",
        "name": about["name"],
        "description": about["description"],
        "version": about["version"],
        "license": f"https://spdx.org/licenses/{about['license']}",
        "programmingLanguage": "Python",
        "runtimePlatform": f"Python {about['requires-python']}",
        "keywords": about["keywords"],
        "author": [{"@type": "Organization", "name": a["name"]} for a in about["authors"]],
    }
    if about["repository"]:
        described["codeRepository"] = about["repository"]
        described["issueTracker"] = urls(about["repository"])["Issues"]
    return described


def zenodo(about: dict[str, Any]) -> dict[str, Any]:
    """The metadata of an archived release for Zenodo."""
    return {
        "title": f"{about['name']}: {about['description']}",
        "version": about["version"],
        "license": about["license"],
        "upload_type": "software",
        "keywords": about["keywords"],
        "creators": [{"name": author["name"]} for author in about["authors"]],
    }


def citation(about: dict[str, Any], written: str) -> str:
    """``CITATION.cff`` with the version and the address of the repository."""
    lines = [line for line in written.splitlines() if not line.startswith("repository-code:")]
    at = next(i for i, line in enumerate(lines) if line.startswith("version:"))
    lines[at] = f"version: {about['version']}"
    if about["repository"]:
        lines.insert(at + 1, f'repository-code: "{about["repository"]}"')
    return "\n".join(lines) + "\n"


def with_urls(pyproject: str, repository: str) -> str:
    """``pyproject.toml`` with URLs built from the address of the repository."""
    ours = rf"^({'|'.join(URLS)}) = .*\n"
    head, section, rest = pyproject.partition("[project.urls]\n")
    lines = "".join(f'{name} = "{url}"\n' for name, url in urls(repository).items())
    return head + section + lines + re.sub(ours, "", rest, flags=re.MULTILINE)


#: A relative link or picture of Markdown or HTML, which does not work on PyPI.
_RELATIVE = re.compile(r"(\]\(|(?:src|href)=[\"'])(?!https?:|mailto:|#)([^)\"'\s]+)")


def relative_links(readme: str) -> list[str]:
    """The relative links and pictures of a text."""
    return [link for _, link in _RELATIVE.findall(readme)]


def with_links(readme: str, repository: str) -> str:
    """The README with absolute links and pictures."""

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link[2].endswith((".png", ".svg", ".jpg", ".gif")) else "blob"
        return f"{link[1]}{repository}/{kind}/main/{link[2]}"

    return _RELATIVE.sub(absolute, readme) if repository else readme


#: The link to a notebook in the README, with its Colab badge if there is one.
_NOTEBOOK = re.compile(
    r"(\[[^]]+\]\((?:[^)\s]*/)?(examples/\w+\.ipynb)\))(?: \[!\[[^]]*\]\([^)]*\)\]\([^)]*\))?"
)
_COLAB = "https://colab.research.google.com"


def with_badges(readme: str, repository: str) -> str:
    """The README with a Colab badge after each notebook, for a repository on GitHub."""
    on_github = repository.startswith("https://github.com/")
    address = repository.replace("https://github.com/", f"{_COLAB}/github/")

    def with_badge(link: re.Match[str]) -> str:
        badge = (
            f" [![Open in Colab]({_COLAB}/assets/colab-badge.svg)]({address}/blob/main/{link[2]})"
        )
        return link[1] + (badge if on_github else "")

    return _NOTEBOOK.sub(with_badge, readme)


_INSTALL = re.compile(r"(%pip install -q )'[^'\[]*(\[[\w,]+\])[^']*'")


def with_source(notebook: str, repository: str) -> str:
    """A notebook that installs the package from the repository; without one, from its checkout."""
    source = f"'pyterrier-asl\\2 @ git+{repository}'" if repository else r"'..\2'"
    return _INSTALL.sub(r"\1" + source, notebook)


def unreleased(changes: str) -> list[str]:
    """The nonblank lines below *Unreleased* in a changelog."""
    below = changes.partition("\n## Unreleased\n")[2]
    return [line for line in below.partition("\n## ")[0].splitlines() if line.strip()]


def descriptions(root: Path = ROOT) -> dict[Path, str]:
    """The correct text of each file with URLs, version or authors, including ``pyproject.toml``."""
    about = project(root)
    pyproject, written, readme = (
        (root / name).read_text(encoding="utf-8")
        for name in ("pyproject.toml", "CITATION.cff", about["readme"])
    )
    return {
        root / "pyproject.toml": with_urls(pyproject, about["repository"]),
        root / "CITATION.cff": citation(about, written),
        root / "codemeta.json": json.dumps(codemeta(about), indent=2) + "\n",
        root / about["readme"]: with_badges(
            with_links(readme, about["repository"]), about["repository"]
        ),
        root / ".zenodo.json": json.dumps(zenodo(about), indent=2) + "\n",
        **{
            path: with_source(path.read_text(encoding="utf-8"), about["repository"])
            for path in sorted((root / "examples").glob("*.ipynb"))
        },
    }


def problems(tag: str | None = None, root: Path = ROOT) -> list[str]:
    """The reasons why the project cannot be released, one sentence each."""
    about = project(root)
    answer = [
        f"{path.name} does not follow from pyproject.toml: run python docs/release.py"
        for path, text in descriptions(root).items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    if not about["repository"]:
        answer.append("repository is empty in [tool.pyterrier-asl] of pyproject.toml: set it")
    if tag is not None and tag != f"v{about['version']}":
        answer.append(f"the tag is {tag}, the version of the package {about['version']}")
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if f"\n## {about['version']}\n" not in changes:
        answer.append(f"CHANGELOG.md has no section {about['version']}")
    if lines := unreleased(changes):
        answer.append(
            f"CHANGELOG.md has {len(lines)} lines below Unreleased: move them to the version"
        )
    readme = (root / about["readme"]).read_text(encoding="utf-8")
    if links := relative_links(readme):
        answer.append(f"{about['readme']} has {len(links)} relative links, e.g. {links[0]}")
    if re.search(r"not\s+(yet\s+)?on\s+PyPI", readme):
        answer.append(f"{about['readme']} says that the package is not on PyPI")
    return answer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; list the problems")
    parser.add_argument("--tag", help="the tag to release")
    arguments = parser.parse_args()
    if not arguments.check:
        for path, text in descriptions().items():
            path.write_text(text, encoding="utf-8")
        return 0
    missing = problems(arguments.tag)
    for problem in missing:
        print(f"not ready for a release: {problem}", file=sys.stderr)
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
