"""The charts of a page, by workload."""

from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any

from scripts.analysis.names import workload_name
from scripts.pages.inputs import Inputs

#: So many charts are seen when the page opens: two rows on a wide screen.
_SHOWN = 6


def context(inputs: Inputs) -> dict[str, Any]:
    """Return the charts of each workload in the study's order, then those of the whole study.

    `chart_heads` are those that are seen first: the first of each group, then the second ones, as (group, chart).
    Keys of a group: id and title (of the section), about (what the workload is, of what was trained here), findings,
    notes (those of all its charts), charts (but the heads). `chart_reading` and `chart_common` are what is said once of
    charts of a kind, and of all; `headline` is whether one is drawn as a picture, too, for previews of links.
    """
    common, kinds = _reading(inputs.pictures)
    said = {note for kind in kinds.values() for note in kind["notes"]} | set(common)
    groups = {}
    for workload, charts in inputs.pictures.items():
        shared = [note for note in _shared([chart for chart in charts if "svg" in chart]) if note not in said]
        groups[workload] = {
            "notes": shared,
            "charts": [
                chart | {"own_notes": [note for note in chart.get("notes", []) if note not in {*said, *shared}]}
                for chart in charts
            ],
        }
    named = [name for name in inputs.study.get("workloads", []) if name in inputs.pictures]
    listed = [
        {
            "id": workload or "charts",
            "title": workload_name(workload) if workload else "Charts of all",
            "workload": workload,
            "about": _about(inputs, workload),
            "findings": [one for one in inputs.findings if workload and one["workload"] == workload],
            **groups[workload],
        }
        for workload in dict.fromkeys([*named, *inputs.pictures])
    ]
    drawn = [[(group, chart) for chart in group["charts"] if "svg" in chart] for group in listed]
    heads = [one for one in chain.from_iterable(zip_longest(*drawn)) if one][:_SHOWN]
    for group in listed:
        group["charts"] = [chart for chart in group["charts"] if not any(chart is head for _, head in heads)]
    # Of a folder of logs the table of runs says what was found in each: a workload without a chart has no chapter.
    is_folder = len(inputs.logs) > 0
    return {
        "chart_heads": heads,
        "chart_groups": [
            group
            for group in listed
            if (
                any("svg" in chart for chart in group["charts"])
                if is_folder
                else group["charts"] or group["about"] or group["findings"]
            )
        ],
        "chart_reading": list(kinds.values()),
        "chart_common": common,
        "headline": any(chart["headline"] for charts in inputs.pictures.values() for chart in charts),
    }


def _reading(pictures: Mapping[str, Sequence[dict[str, Any]]]) -> tuple[list[str], dict[str, dict[str, Any]]]:
    """Return the notes that all charts share, and by chart its kind, how to read it, and the notes its panels share.

    A chart that is drawn once has no panels: its notes stand below it.
    """
    drawn = [chart for charts in pictures.values() for chart in charts if "svg" in chart]
    common = _shared(drawn)
    kinds = {}
    for chart in drawn:
        alike = [other for other in drawn if other["name"] == chart["name"]]
        notes = [note for note in _shared(alike) if note not in common] if len(alike) > 1 else []
        kinds[chart["name"]] = {"kind": chart["kind"], "help": chart["help"], "notes": notes}
    return common, kinds


def _shared(charts: Sequence[dict[str, Any]]) -> list[str]:
    """Return the notes that all of several charts have, in their order."""
    if len(charts) < 2:
        return []
    return [note for note in charts[0].get("notes", []) if all(note in chart.get("notes", []) for chart in charts)]


def _about(inputs: Inputs, workload: str) -> str:
    """Return the first line of a workload's description, which is of the model that this project trains."""
    if not inputs.trained or workload not in inputs.works:
        return ""
    return inputs.works[workload].summary.replace("`", "")
