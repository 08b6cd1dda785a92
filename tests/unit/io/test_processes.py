"""The path of started processes."""

from __future__ import annotations

import ast
import os
import sys

from pyterrier_asl.io.processes import python_command


def test_the_current_folder_is_not_on_the_path_of_another_python(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), os.path.curdir, "/elsewhere"])
    _, _, code = python_command("import json")
    path = code.removeprefix("import sys; sys.path[:] = ").removesuffix("; import json")
    assert ast.literal_eval(path) == ["/elsewhere"]
