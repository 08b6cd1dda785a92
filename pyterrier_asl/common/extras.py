"""How to install the optional dependencies of this package."""

from __future__ import annotations

import json


def install_command(extra: str) -> str:
    """The command that installs an extra, from where the package itself was installed.

    Args:
        extra: a name of ``[project.optional-dependencies]``.

    Returns:
        ``pip install '.[extra]'`` with the folder of a checkout, or the command for a package of an
        index, an archive or a repository.
    """
    from importlib.metadata import PackageNotFoundError, distribution  # take long to import
    from urllib.parse import unquote, urlsplit

    try:
        origin = json.loads(distribution("pyterrier-asl").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        origin = {}
    if "dir_info" in origin:
        return f"pip install '.[{extra}]' in {unquote(urlsplit(origin['url']).path)}"
    if "url" not in origin:
        return f"pip install 'pyterrier-asl[{extra}]'"
    tool = f"{origin['vcs_info']['vcs']}+" if "vcs_info" in origin else ""
    return f"pip install 'pyterrier-asl[{extra}] @ {tool}{origin['url']}'"
