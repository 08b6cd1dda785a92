"""Tables of experiments with marked best values, also in LaTeX."""

from __future__ import annotations

import os
from copy import deepcopy
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.io.formats.style import Styler

#: PyTerrier's colours as hexadecimal numbers, which xcolor needs no option for.
_COLORS = {"lightgreen": "90EE90", "antiquewhite": "FAEBD7"}


class HighlightedTable(Styler):
    """A pandas Styler with marks and escaped text also in LaTeX.

    >>> table = HighlightedTable(pd.DataFrame({"name": ["bm_25"], "AP": [0.5]}))
    >>> marked = table.map(lambda _: "font-weight: bold", subset=["AP"])
    >>> print(marked.to_latex().splitlines()[4])
    0 & bm\\_25 & \\bfseries 0.500000 \\\\
    """

    def to_latex(self, buf: Any = None, **options: Any) -> str | None:  # type: ignore[override]
        r"""The table in LaTeX, which needs ``\usepackage{booktabs}`` and for colours also
        ``\usepackage[table]{xcolor}``.

        Args:
            buf: a file to write to, or its path; None: the text is returned.
            options: of :meth:`pandas.io.formats.style.Styler.to_latex`.
        """
        table = deepcopy(self).format_index(escape="latex").format_index(escape="latex", axis=1)
        frame: pd.DataFrame = self.data  # type: ignore[attr-defined]
        text = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
        table.format(escape="latex", subset=text)
        options = {"convert_css": True, "hrules": True, **options}
        latex = str(Styler.to_latex(table, **options))
        for name, code in _COLORS.items():
            latex = latex.replace(rf"\cellcolor{{{name}}}", rf"\cellcolor[HTML]{{{code}}}")
        if buf is None:
            return latex
        if isinstance(buf, (str, os.PathLike)):
            Path(buf).write_text(latex, encoding=options.get("encoding") or "utf-8")
        else:
            buf.write(latex)
        return None
