"""How many pairs of systems are told apart? (Türkmen et al. 2023, Table 1; Diaz 2023, Table 4.)"""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from .forms import STEP, category, figure


def discriminative_power(frame: pd.DataFrame) -> Any:
    """The share of pairs of systems that each measure, or preference, tells apart.

    Args:
        frame: what :func:`~pyterrier_asl.analysis.discriminative_power` or
            :func:`~pyterrier_asl.analysis.preference_discrimination` returned.
    """
    what = "measure" if "measure" in frame else "preference"
    levels = sorted(frame["level"].unique(), reverse=True)
    tests = alt.Row("test:N", title=None, sort=None, header=alt.Header(labelOrient="top"))
    return figure(
        alt.Chart(frame).mark_bar(),
        "Pairs of systems told apart",
        f"The share of {int(frame['pairs'].max())} pairs of systems whose difference is "
        "significant, by the level of significance, for each test with its own correction.",
        height=alt.Step(STEP),
        x=alt.X("percent:Q", title="significant (%)"),
        y=alt.Y(f"{what}:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
        yOffset=alt.YOffset("level:N", sort=levels),
        color=category("level", "level", domain=levels),
        row=tests,
        tooltip=[what, "level", "pairs", "significant", alt.Tooltip("percent", format=".2f"),
                 "test", "correction", "family", "dropped"],
    ).resolve_scale(y="independent")  # fmt: skip
