"""Where the data of the workloads comes from: official files, checked, or a synthetic stand-in.

One module per data set. Each has

- `FILES`: the official files, `{name: Source}`; empty where the set is synthetic by design;
- `LOCAL`: other forms of the same data that a folder may hold, a list of such dictionaries, best first;
- `read(paths) -> arrays`: decode whichever files were found (`{name: path}`) into numpy arrays;
- `synthesise(rng) -> arrays`: the same names, shapes and types, synthetic but learnable;
- `PER_SAMPLE`: the arrays whose first axis counts samples, those that a smaller scale shortens;
- `trim(arrays)`, where samples share an array: the arrays without what no sample uses;
- `TRAIN`: the array that counts the training samples, and `COMPLETE`, how many the official set has;
- `COMPLETE_HELD_OUT`, where it has samples of its own to validate on: how many.

`obtain` turns either into one `.npz` that every workload of the data set reads.
"""

import importlib
import json
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pooch

from scripts.records import data_file
from scripts.storage import downloads, environment
from scripts.storage.errors import InputError
from scripts.storage.files import replacing

Arrays = dict[str, np.ndarray]

#: Seed of every synthetic set: the same bytes on every machine.
SYNTHETIC_SEED = 2017


@dataclass(frozen=True)
class Source:
    """One file of a data set: its checksum (`md5:...` or `sha256:...`) and, if official, its address."""

    checksum: str
    url: str | None = None


def dataset(name: str) -> ModuleType:
    """Return the module of the data set `name`."""
    return importlib.import_module(f"scripts.datasets.{name}")


def given_folder() -> Path | None:
    """Return the folder of data files that the variable EPOCHS_DATA_DIR names, None without one.

    Raises InputError if there is no such folder.
    """
    given = environment.DATA_DIR.read()
    if given and not Path(given).is_dir():
        raise InputError(f"data_dir: {given}: no such folder")
    return Path(given) if given else None


def find(name: str, data_dir: Path | None) -> dict[str, Path] | None:
    """Return the data set's files in `data_dir/<name>` or `data_dir`, or None if it holds none of its forms.

    The folder's name may have hyphens for the underscores.
    """
    if data_dir is None:
        return None
    module = dataset(name)
    for form in [module.FILES, *module.LOCAL]:
        for folder in (data_dir / name, data_dir / name.replace("_", "-"), data_dir):
            paths = {file: folder / file for file in form}
            if all(path.is_file() for path in paths.values()):
                return paths
    return None


def check(name: str, paths: dict[str, Path]) -> None:
    """Raise InputError unless every file has the checksum that is known for it."""
    module = dataset(name)
    known = {file: source for form in [module.FILES, *module.LOCAL] for file, source in form.items()}
    for file, path in paths.items():
        algorithm, expected = known[file].checksum.split(":")
        found = pooch.file_hash(str(path), alg=algorithm)
        if found != expected:
            raise InputError(f"{path}: {algorithm} is {found}, must be {expected}: the file is corrupt or another one")


def in_reach(name: str, timeout_seconds: float = 3.0) -> bool:
    """Return whether the official host of the data set answers for its first file."""
    return downloads.answers(next(iter(dataset(name).FILES.values())).url, timeout_seconds)


def choose(policy: str, name: str, folder: Path, data_dir: Path | None) -> str:
    """Return `real` or `synthetic` for a study whose data policy is one of these or `real-or-synthetic`.

    The last means real wherever the files were obtained before (into `folder`/real), lie in
    `data_dir`, or can be fetched now. A set that is synthetic by design is so under every policy.
    """
    if not dataset(name).FILES:
        return "synthetic"
    if policy != "real-or-synthetic":
        return policy
    here = (folder / "real" / f"{name}.npz").is_file() or find(name, data_dir) is not None
    return "real" if here or in_reach(name) else "synthetic"


def download(name: str, cache: Path) -> dict[str, Path]:
    """Fetch the official files into `cache/<name>` (kept for the next time), checksums checked.

    Raises InputError that names the file, its URL, its checksum and where to put it by hand.
    """
    paths = {}
    for file, source in dataset(name).FILES.items():
        kept = cache / name / file
        if kept.is_file():
            check(name, {file: kept})
        else:
            try:
                downloads.fetch(source.url, kept, source.checksum)
            except downloads.NotFetched as error:
                raise InputError(
                    f"data set {name}: {file} could not be fetched from {source.url} ({error}): put the file with "
                    f"{source.checksum} into a folder DIR/{name}/ and give --config data_dir=DIR"
                ) from error
        paths[file] = kept
    return paths


def obtain(name: str, kind: str, path: Path, data_dir: Path | None, cache: Path) -> None:
    """Write the data set to `path` (.npz): `kind` is `real` or `synthetic`.

    Real files are taken from `data_dir` when it has them, else downloaded into `cache`.
    Raises InputError when a checksum is wrong or nothing can be had.
    """
    module = dataset(name)
    if kind == "synthetic":
        arrays = module.synthesise(np.random.default_rng(SYNTHETIC_SEED))
        sources = {}
    elif not module.FILES:
        raise InputError(f"data set {name}: synthetic by design, there is no real one: ask for synthetic")
    else:
        paths = find(name, data_dir) or download(name, cache)
        check(name, paths)
        arrays = module.read(paths)
        sources = {file: pooch.file_hash(str(found)) for file, found in paths.items()}
    about = {
        "dataset": name,
        "kind": kind,
        "train_samples": len(arrays[module.TRAIN]),
        "complete_train_samples": module.COMPLETE,
        "sha256": sources,
    }
    _write(path, arrays, about)


def load(path: Path, fraction: float = 1.0) -> Arrays:
    """Return the arrays of the file, with the first `fraction` (0 to 1] of the samples of each split."""
    with data_file.opened(path) as archive:
        arrays = {name: archive[name] for name in archive.files if name != "about"}
        about = json.loads(str(archive["about"]))
    for name in dataset(about["dataset"]).PER_SAMPLE:
        arrays[name] = arrays[name][: max(1, round(len(arrays[name]) * fraction))]
    return arrays


def shorten(path: Path, output: Path, fraction: float) -> None:
    """Write the first `fraction` (0 to 1] of the samples of each split to `output`, and note how many that are."""
    arrays, about = load(path, fraction), data_file.describe(path)
    module = dataset(about["dataset"])
    arrays = getattr(module, "trim", lambda whole: whole)(arrays)
    _write(output, arrays, about | {"train_samples": len(arrays[module.TRAIN])})


def _write(path: Path, arrays: Arrays, about: dict[str, Any]) -> None:
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **{"about": np.array(json.dumps(about, sort_keys=True)), **arrays})  # type: ignore[arg-type]
