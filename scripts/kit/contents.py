"""What goes into a kit: code, settings, packages, and as much of the data as it has room for."""

import hashlib
import io
import json
import lzma
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scripts import datasets
from scripts.kit import KIT_BYTES, records
from scripts.storage import brought, environment, schemas, unchanged
from scripts.storage.code import ROOT, code_of
from scripts.storage.errors import InputError

#: What a kit runs: itself, a training, and a framework that is tried.
VERBS = ("scripts.run_kit", "scripts.train", "scripts.kit.probe")

#: The Pythons for which the packages of envs/train.lock have wheels.
PYTHONS = ("3.11", "3.12", "3.13")

#: The folder that an archive unpacks to.
FOLDER = "kit"

#: Smaller parts teach a model nothing, and say little of its speed.
_LEAST_SAMPLES = 0.02

#: Left free for the tar's own headers, a kilobyte or two a file (bytes).
_HEADERS_BYTES = 512 * 2**10


def check_python(given: Any) -> None:
    """Raise InputError unless a kit can be packed for this Python, one for which the frameworks have builds."""
    if str(given).removesuffix("-aarch64") not in PYTHONS:
        raise InputError(
            f"kit_python: {given!r} is not one of {', '.join(PYTHONS)}, nor one of them for ARM: {PYTHONS[-1]}-aarch64"
        )


def code() -> list[Path]:
    """Return the files of code and settings that a kit holds, relative to the project."""
    shapes = sorted(path.relative_to(ROOT) for path in (ROOT / "config" / "schemas").glob("*.json"))
    catalogue = Path("config/hardware.yaml")
    machines = [file for file in (catalogue, schemas.own(catalogue)) if (ROOT / file).exists()]
    return [*map(Path, code_of(*VERBS)), *shapes, *machines]


def digest(files: Sequence[Path]) -> str:
    """Return a checksum of files of the project, in their order."""
    return hashlib.sha256(b"\0".join((ROOT / file).read_bytes() for file in files)).hexdigest()


def level(sizes: Mapping[str, float], room: float) -> float:
    """Return the size to which the largest of some sizes are cut so that all together take `room`.

    The small ones stay whole: water poured into vessels of these heights stands at that level.
    """
    left, remaining = room, len(sizes)
    for size in sorted(sizes.values()):
        if size * remaining > left:
            return left / remaining
        left, remaining = left - size, remaining - 1
    return max(sizes.values(), default=0.0)


def compress(data: Path) -> bytes:
    """Return a file compressed by xz."""
    return lzma.compress(data.read_bytes(), preset=6)


def fit(packed: Mapping[str, tuple[Path, Path]], room: int) -> dict[str, tuple[bytes, float]]:
    """Return for each data set its compressed file and the fraction of its samples that it holds, in `room` bytes.

    `packed` is name -> (data file, the same compressed). Raises InputError where too little would be left of one.
    """
    sizes = {name: small.stat().st_size for name, (_, small) in packed.items()}
    found: dict[str, tuple[bytes, float]] = {}
    for name in sorted(sizes, key=lambda name: sizes[name]):
        data, small = packed[name]
        others = sum(len(content) for content, _ in found.values())
        allowed = level({n: size for n, size in sizes.items() if n not in found}, room - others)
        content, fraction = small.read_bytes(), 1.0
        while len(content) > allowed:
            # What a part takes is not quite in proportion.
            fraction *= 0.98 * allowed / len(content)
            if fraction < _LEAST_SAMPLES:
                raise InputError(f"data set {name}: {fraction:.1%} of it would fit: choose fewer workloads")
            with tempfile.TemporaryDirectory() as folder:
                part = Path(folder) / data.name
                datasets.shorten(data, part, fraction)
                content = compress(part)
        found[name] = content, fraction
    return found


def check_programs(name: str, study: Mapping[str, Any]) -> None:
    """Raise InputError for a study with programs of somebody's own: a kit runs nothing that is not in it."""
    if programs := study.get("commands"):
        raise InputError(
            f"study {name}: workloads: {', '.join(programs)}: a kit carries no program of your own; `epd run` measures "
            "one there, and needs Python alone"
        )


def describe(
    study: str,
    runs: Sequence[tuple[Any, int]],
    workload_files: Mapping[str, str],
    commit: tuple[str, bool] | None,
    python: str,
) -> dict[str, Any]:
    """Return what `kit.json` says: the study's runs in order of value, and of which code and Python the kit is."""
    from dataclasses import asdict

    return {
        "study": study,
        "commit": commit,
        "code": digest(code()),
        "made_at": datetime.now(UTC).date().isoformat(),
        "python": python,
        "workload_files": {name: f"workloads/{name}.py" for name in workload_files},
        "runs": [{"cell": asdict(cell), "repeat": repeat} for cell, repeat in runs],
    }


def readme(about: Mapping[str, Any], wheels: Sequence[str], data: Mapping[str, float], beside: int) -> str:
    """Return what a kit says of itself: what is inside, what its machine must have, how it is used.

    `beside` is the number of files that lie beside those of workloads.
    """
    cells = {json.dumps(run["cell"]) for run in about["runs"]}
    frameworks = ", ".join(dict.fromkeys(run["cell"]["framework"] for run in about["runs"]))
    made = sorted({run["cell"]["workload"] for run in about["runs"]})
    parts = [
        f"{name}: {'complete' if part == 1 else f'the first {part:.0%} of the samples'}" for name, part in data.items()
    ]
    version, is_arm, _ = about["python"].partition("-aarch64")
    machine = "ARM (aarch64)" if is_arm else "x86-64"
    return "\n".join(
        [
            f"A kit of Epochs per Dollar: study {about['study']}, {len(cells)} configurations, "
            f"{len(about['runs'])} runs.",
            "",
            f"Inside: the code that trains (commit {(about['commit'] or ['unknown'])[0][:12]}"
            f"{', with changes that are not committed' if about['commit'] and about['commit'][1] else ''});",
            f"  workloads {', '.join(made)}{f', with {beside} files from their folders' if beside else ''};",
            f"  {len(wheels)} packages as wheels for Python {about['python']}: {', '.join(wheels)};",
            f"  real data: {'; '.join(parts) or 'none'}; other data are made on the machine, the same everywhere.",
            "",
            f"The machine must have: Linux on {machine} with glibc 2.28, bash, Python {version} with NumPy and",
            f"  at least one of {frameworks}, an NVIDIA driver for its cards, 512 MiB of disk. No network.",
            "",
            f"  bash kit/run.sh --minutes 9 --study {about['study']}",
            "",
            f"Bring back {about['study']}-records.zip; carried in again, the same command goes on where it was.",
            "",
        ]
    )


def write(
    archive: Path,
    about: Mapping[str, Any],
    wheels: Sequence[Path],
    packed: Mapping[str, tuple[Path, Path]],
    files: Mapping[str, str],
) -> str:
    """Write the kit to `archive` (a tar) and return its README.

    Args:
        about: from `describe`.
        wheels: of the packages.
        packed: as in `fit`.
        files: workloads that are the user's own: name -> path.
    """
    members = {str(file): (ROOT / file).read_bytes() for file in code()}
    for name in files:
        unchanged.check(environment.TRUSTED.read(), name)
    own = brought.carried(Path(f"study {about['study']}"), files)
    members |= {f"workloads/{called}": path.read_bytes() for called, path in own.items()}
    members |= {f"wheels/{wheel.name}": wheel.read_bytes() for wheel in wheels}
    members["run.sh"] = (ROOT / "scripts" / "kit" / "run.sh").read_bytes()
    members[records.ABOUT] = json.dumps(about).encode()
    room = KIT_BYTES - _HEADERS_BYTES - sum(len(content) + 1024 for content in members.values())
    data = fit(packed, room)
    members |= {f"data/real/{name}.npz.xz": content for name, (content, _) in data.items()}
    names = [wheel.name.split("-")[0] for wheel in wheels]
    text = readme(about, names, {name: fraction for name, (_, fraction) in data.items()}, len(own) - len(files))
    members["README.txt"] = text.encode()
    with tarfile.open(archive, "w") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(f"{FOLDER}/{name}")
            member.size, member.mode = len(content), 0o755 if name.endswith(".sh") else 0o644
            tar.addfile(member, io.BytesIO(content))
    if (size := archive.stat().st_size) > KIT_BYTES:
        raise InputError(f"{archive}: {size / 2**20:.1f} MiB, {KIT_BYTES / 2**20:.0f} are allowed")
    return text
