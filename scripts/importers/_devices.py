"""How many cards trained together, by what a log prints, its parameters, or the files of arguments beside it.

`WORLD_SIZE=64`, `num_processes | 8`, `MEMBER: 1/8`, `--nproc_per_node=8` times `--nnodes=2`, `devices: 8` times
`num_nodes: 4`, `CUDA_VISIBLE_DEVICES=0,1`, `on 8 GPUs`; of several that contradict each other the most count, as a
default of one is printed often.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from scripts.importers import naming
from scripts.storage import schemas
from scripts.storage.errors import InputError

#: So much of a text is looked at, at its beginning: programs print their arguments before they train.
_BEGINNING = 1 << 18

_WORLD = (
    r"(?:distributed[_ -])?world[_ -]?size|num[_ -]?processes|total[_ -](?:gpus|devices)"
    r"|(?:global[_ -])?device[_ -]count|slurm_ntasks"
)
_A_NUMBER_OF = r"(?:n|num|number[_ ]of)[_ -]?"
_PER_NODE = r"[_ -]per[_ -]node"
_LOCAL = (
    rf"{_A_NUMBER_OF}gpu|(?:{_A_NUMBER_OF})?gpus(?:{_PER_NODE})?|{_A_NUMBER_OF}devices|devices(?:{_PER_NODE})?"
    rf"|n?proc{_PER_NODE}|(?:n|num)[_ -]proc{_PER_NODE}"
)
_NODES = r"(?:n|num)[_ -]?(?:nodes|machines)|nnodes|nodes|slurm_(?:job_)?num_nodes|slurm_nnodes"

_KEYS = {"world": _WORLD, "local": _LOCAL, "nodes": _NODES}
_IN_TEXT = re.compile(
    r"(?i)(?<![\w.])-{0,2}(?P<key>"
    + "|".join(f"(?P<{name}>{keys})" for name, keys in _KEYS.items())
    + r")['\"]?(?:\s*[=:|]+\s*|\s\.{3,}\s|(?<=node)\s+|(?<=nnodes)\s+)['\"]?(?P<count>\d+)\b(?![.,:/]\d|\s*%)"
)
_WORDS = (
    re.compile(r"(?P<said>MEMBER: \d+/(?P<count>\d+))"),
    re.compile(r"(?P<said>Process \d+, total (?P<count>\d+))"),
    re.compile(
        r"(?i)\b(?P<said>(?:on|using|with|across) (?P<count>\d+) (?:x )?(?:gpus?|tpus?|cards|accelerators|devices)\b)"
    ),
    re.compile(r"(?P<said>--gres=gpu(?::[\w-]+)?:(?P<count>\d+))"),
)
#: `2730.67/s, 341.3/s/gpu`
_RATES = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)/s,? (\d+(?:\.\d+)?)/s/gpu\b")
_VISIBLE = re.compile(r"\b(?P<said>CUDA_VISIBLE_DEVICES=['\"]?(?P<listed>\d+(?:,\d+)*))")

#: Marks between a name and its number.
_BETWEEN = re.compile(r"\s*[|]\s*|\s\.{3,}\s|\s+")

#: What Hugging Face's Trainer prints: the batch of a card, of all, and the steps that are added up.
_BATCHES = tuple(
    re.compile(rf"(?i){words}[^=\n]*=\s*([\d,]+)")
    for words in ("instantaneous batch size per device", "total train batch size", "gradient accumulation steps")
)

#: Files of arguments.
_ARGUMENTS = re.compile(
    r"(?i)(?:.*[_-])?(?:arg(?:ument)?s|config|cfg|hparams|opt(?:ion)?s?|param(?:eter)?s|settings|run|job|launch|env)"
    r"\.(?:ya?ml|json|txt|env|sh)|.*\.(?:sh|sbatch|slurm)"
)
_LARGEST = 1 << 20

#: Most cards that trained together.
_MOST = 10**6


class Devices(NamedTuple):
    """How many cards, and what says so."""

    cards: int
    said: str


def counted(run: dict[str, Any], folder: Path, name: PurePosixPath) -> dict[str, Any]:
    """Return `run` with its number of cards: those that it names, or more that its log, parameters or arguments say."""
    if "said" not in run:
        return run
    known = run.get("devices") or 0
    found = run.get("devices_said") or of_settings(run.get("settings", {}))
    found = found or (None if known else beside(folder, name))
    run = {key: value for key, value in run.items() if key != "devices_said"}
    if found is None or found.cards <= known:
        return run
    return run | {"devices": found.cards, "notes": [*run.get("notes", ()), f"{found.cards} cards, by {found.said}"]}


def of_text(text: str) -> Devices | None:
    """Return the cards that a log or a script of a job names; None for none."""
    head = text[:_BEGINNING]
    found: dict[str, list[Devices]] = {name: [] for name in _KEYS}
    for one in _IN_TEXT.finditer(head):
        name = next(name for name in _KEYS if one[name])
        found[name].append(Devices(int(one["count"]), _BETWEEN.sub(" ", one[0].strip())))
    for form in _WORDS:
        found["local" if "gres" in form.pattern else "world"] += [
            Devices(int(one["count"]), one["said"]) for one in form.finditer(head)
        ]
    found["world"] += [
        Devices(round(float(one[1]) / float(one[2])), one[0]) for one in _RATES.finditer(head) if float(one[2])
    ]
    visible = [Devices(len(one["listed"].split(",")), one["said"]) for one in _VISIBLE.finditer(head)]
    return _most({**found, "local": found["local"] or visible, "world": [*found["world"], *_of_batches(head)]})


def of_settings(settings: Mapping[str, Any]) -> Devices | None:
    """Return the cards that parameters name, however deep they lie; None for none."""
    found: dict[str, list[Devices]] = {name: [] for name in _KEYS}
    for key, value in _flat(settings):
        name = next((name for name, keys in _KEYS.items() if re.fullmatch(keys, naming.plain(key))), None)
        if name and (number := _counted(value)):
            found[name].append(Devices(number, f"{key}: {value}"))
    return _most(found)


def is_arguments(name: str) -> bool:
    """Return whether a file holds arguments, by its name: args.yaml, config.json, train.sh."""
    return _ARGUMENTS.fullmatch(name) is not None


def beside(folder: Path, log: PurePosixPath) -> Devices | None:
    """Return the cards that files of arguments beside a log name, and which file; None for none.

    Beside it is its folder, and that above one that many are called as: `version_0`, `logs`, `checkpoint-10`.
    """
    place = folder / log.parent
    above = [place.parent] if log.parent.name and naming.is_common(log.parent.name) else []
    for where in (place, place / ".hydra", *above):
        for path in sorted(where.iterdir()) if where.is_dir() else ():
            if path != folder / log and is_arguments(path.name) and (found := _of_file(path)):
                return Devices(found.cards, f"{found.said} in {path.name}")
    return None


def _of_file(path: Path) -> Devices | None:
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        text = path.read_text(encoding="utf-8")
        settings = json.loads(text) if path.suffix == ".json" else None
    except (OSError, ValueError, RecursionError):
        return None
    try:
        settings = schemas.plain_yaml(text, path.name) if path.suffix in (".yaml", ".yml") else settings
    except InputError:
        return of_text(text)  # objects of Python among the arguments
    return of_settings(settings) if isinstance(settings, Mapping) else of_text(text)


def _most(found: Mapping[str, list[Devices]]) -> Devices | None:
    """Return the most of what is said of all cards, and of those of a node times the nodes."""
    nodes = max(found["nodes"], default=None)
    each = max(found["local"], default=None)
    if each and nodes and nodes.cards > 1:
        each = Devices(each.cards * nodes.cards, f"{each.said} x {nodes.said}")
    every = [one for one in (*found["world"], *([each] if each else [])) if 0 < one.cards <= _MOST]
    return max(every, key=lambda one: one.cards, default=None)


def _of_batches(text: str) -> list[Devices]:
    read = [form.search(text) for form in _BATCHES]
    each, every, steps = (int(one[1].replace(",", "")) if one else 0 for one in read)
    if not each or not every or not steps or every % (each * steps):
        return []
    return [Devices(every // (each * steps), f"a batch of {every} in all, and {each} x {steps} on a card")]


def _flat(settings: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    for key, value in settings.items() if isinstance(settings, Mapping) and depth < 9 else ():
        if isinstance(value, Mapping):
            yield from [(str(key), value["value"])] if "value" in value else _flat(value, depth + 1)
        else:
            yield str(key), value


def _counted(value: Any) -> int | None:
    """Return how many cards a setting says: 8, '8', [0, 1] or '0,1'; None for 'auto', -1, and 0, which names a card."""
    if isinstance(value, list):
        return len(value) or None
    text = str(value).strip()
    if re.fullmatch(r"\d+(?:\s*,\s*\d+)+", text):
        return text.count(",") + 1
    return int(text) if re.fullmatch(r"[1-9]\d{0,6}", text) else None
