"""What ``pyterrier-asl compare`` does with a machine's judgements beside people's."""

from __future__ import annotations

import textwrap
from typing import Any

import click

from . import options

#: What stands for people's judgements where there are none yet.
NOBODY = "none"

_WIDTH = 100
_TITLES = {
    "ci_low": "from",
    "ci_high": "to",
    "people_low": "from ",
    "people_high": "to ",
    "machine_low": "from  ",
    "machine_high": "to  ",
    "saved": "queries saved",
}


#: The options of a machine that people audit.
audit_options = options.together(
    options.text_option(
        "--machine-qrels",
        "FILE",
        "Judgements by a machine, of the queries of QRELS, which people judged, and more: "
        "estimate means and differences by both.",
    ),
    click.option(
        "--machine-rel",
        type=float,
        metavar="GRADE",
        help="Least relevant grade of the machine, if its scale is another than people's.",
    ),
    click.option(
        "--target",
        type=click.Choice(["like-these", "these"]),
        default="like-these",
        show_default=True,
        help="Whose mean the estimate is of: queries like these, or only these.",
    ),
    click.option(
        "--plan",
        type=click.FloatRange(0, min_open=True),
        metavar="WIDTH",
        help="Say how many queries people must judge for intervals of at most this width, and "
        "draw them at random (--seed), by the pilot in QRELS; QRELS 'none': no pilot yet.",
    ),
    options.text_option(
        "--draw",
        "FILE",
        "With --plan: save the queries that people are to judge; refuses to draw again.",
    ),
    options.chart("With --machine-qrels: draw the estimates as well"),
)


#: What they are called in Python, but for --machine-qrels.
AUDIT = {option.name for option in audit_options(click.Command(None)).params} - {"machine_qrels"}


def show_audit(
    runs: Any,
    people: str,
    machine: str,
    names: tuple[str, ...],
    *,
    lengths: str | None,
    target: str,
    plan: float | None,
    draw: str | None,
    output_format: str,
    places: int,
    duplicates: str,
    chart: str | None,
    width: str | None,
    title: bool,
    alpha: float,
    rel: float | None,
    machine_rel: float | None,
    seed: int,
    **_: Any,
) -> None:
    """Prints the estimates by both, or plans them."""
    from ..charts.saving import check_path
    from ..comparison.audited import audited, audited_chart, plan_audit, what_is_estimated
    from ..evaluation.files import completed, measures_for
    from ..evaluation.judged_runs import JudgedRuns
    from ..io.tables import write
    from ..measures.names import parse_measures
    from ..statistics.prediction_powered import TARGETS

    if chart:
        check_path(chart, inputs=filter(None, [people, machine, *runs.values(), lengths]))
    asked = (
        parse_measures(names)
        if names
        else [
            one
            for one in measures_for(machine, several=False, lengths=lengths is not None)
            if one.higher_is_better is not None
        ]
    )
    measures = {one.name: one.measure for one in completed(asked, lengths=lengths)}
    runs = JudgedRuns.of(runs, machine, duplicates=duplicates)
    given: dict[str, Any] = {
        "target": dict(zip(("like-these", "these"), TARGETS))[target],
        "rel": rel,
        "machine_rel": machine_rel,
        "alpha": alpha,
    }
    if plan is not None:
        pilot = None if people == NOBODY else people
        planned = plan_audit(runs, pilot, machine, measures, plan, **given, seed=seed)
        if draw:
            planned.save(draw)
        click.echo(planned.sentence())
        click.echo(f"wrote {draw}" if draw else " ".join(planned.drawn), err=bool(draw))
        return
    if people == NOBODY:
        raise click.UsageError(f"QRELS {NOBODY!r} goes with --plan")
    frame = audited(runs, people, machine, measures, **given)
    if output_format == "table":
        shown = frame.assign(run=what_is_estimated(frame)).drop(columns="minus")
        write(shown, "table", places=places, titles=_TITLES, group_by="measure")
        click.echo(f"\n{textwrap.fill(frame.attrs['note'], _WIDTH)}")
    else:
        write(frame, output_format, places=places)
        click.echo(frame.attrs["note"], err=True)
    if chart:
        options.draw(audited_chart(frame), chart, width=width, title=title)
