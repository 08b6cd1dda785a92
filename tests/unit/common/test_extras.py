"""Remedies install an extra from where the package came from."""

import json
from importlib import metadata
from pathlib import Path

import pytest

from pyterrier_asl.common import extras

REPOSITORY = {"url": "https://example.org/asl.git", "vcs_info": {"vcs": "git", "commit_id": "1"}}


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        ({"url": "file:///my%20code/asl", "dir_info": {}}, "'.[report]' in /my code/asl"),
        (REPOSITORY, "'pyterrier-asl[report] @ git+https://example.org/asl.git'"),
        ({"url": "file:/a.whl", "archive_info": {}}, "'pyterrier-asl[report] @ file:/a.whl'"),
        (None, "'pyterrier-asl[report]'"),
    ],
)
def test_the_command_follows_how_the_package_was_installed(origin, command, monkeypatch, tmp_path):
    folder = tmp_path / "pyterrier_asl-1.dist-info"
    folder.mkdir()
    if origin is not None:
        (folder / "direct_url.json").write_text(json.dumps(origin))
    installed = metadata.PathDistribution(folder)
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: installed)
    assert extras.install_command("report") == f"pip install {command}"


def test_the_command_without_an_installed_package(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", missing)
    assert extras.install_command("ray") == "pip install 'pyterrier-asl[ray]'"


def test_errors_help_and_pages_name_commands_that_find_the_package():
    package = Path(extras.__file__).parents[1]
    files = [path for form in ("*.py", "*.rst") for path in package.rglob(form)]
    naming = {path.name for path in files if "pyterrier-asl[" in path.read_text(encoding="utf-8")}
    assert naming == {"extras.py"}
