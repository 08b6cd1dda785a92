"""Tables of experiments with marked best values, also in LaTeX."""

from __future__ import annotations

from contextlib import nullcontext
from copy import deepcopy
from typing import Any

from pandas.io.formats.style import Styler

#: PyTerrier's colours as hexadecimal numbers, which xcolor needs no option for.
_COLORS = {"lightgreen": "90EE90", "antiquewhite": "FAEBD7"}


class HighlightedTable(Styler):
    """A pandas Styler with marks and escaped text also in LaTeX.

    >>> import pandas as pd
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
        data: Any = self.data  # type: ignore[attr-defined]
        table.format(escape="latex", subset=data.select_dtypes(exclude="number").columns)
        latex = str(Styler.to_latex(table, **{"convert_css": True, "hrules": True, **options}))
        for name, code in _COLORS.items():
            latex = latex.replace(rf"\cellcolor{{{name}}}", rf"\cellcolor[HTML]{{{code}}}")
        if buf is None:
            return latex
        encoding = options.get("encoding") or "utf-8"
        with nullcontext(buf) if hasattr(buf, "write") else open(buf, "w", encoding=encoding) as f:
            f.write(latex)
        return None
