"""Repeat a study: what was trained is moved aside into history/, and the study is trained anew. What a timer calls."""

import argparse
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from scripts.storage import environment, errors
from scripts.storage.errors import InputError
from scripts.storage.files import write_text
from scripts.studies import definition
from scripts.workflow import intervals, locks
from scripts.workflow.repetitions import DONE, FAILED, OVERLAPPED, PRICES, STARTED, History, folder_name

ROOT = Path(__file__).resolve().parents[1]

#: What a trigger ends with that found another one at work.
OVERLAP_CODE = 3


def call(command: list[str], lock: int, output: Path | None = None) -> int:
    """Run a command to its end and return its exit code; it holds the lock too, should this process be killed.

    It has a session of its own, to which Ctrl-C, SIGTERM and SIGHUP are passed on as one Ctrl-C: Snakemake would meet
    a SIGTERM by waiting for its trainings, which take hours. `output` is the file that is to hold what it says.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | {"PATH": path},
        start_new_session=True,
        pass_fds=(lock,),
        text=True,
        stdout=subprocess.PIPE if output else None,
        stderr=subprocess.STDOUT if output else None,
    )

    def pass_on(number: int, frame: object) -> None:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        said = process.stdout.read() if process.stdout else ""
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if output:
        print(said, end="", flush=True)
        write_text(output, said)
    return code if code >= 0 else 128 - code


def snakemake(*words: str) -> list[str]:
    return [sys.executable, "-m", "snakemake", *words]


def prefix(profile: str, name: str, repetition: str) -> list[str]:
    """Return where a repetition keeps its runs in the bucket: those of another one would be found, and not trained."""
    if not profile.startswith("gce-") or not repetition:
        return []
    bucket = environment.BUCKET.read()
    if not bucket:
        raise InputError(f"the variable {environment.BUCKET.name} is not set: a bucket, and a folder in it if you like")
    return ["--default-storage-prefix", f"gs://{bucket}/repetitions/{name}/{repetition}"]


def is_at_work(name: str) -> bool:
    """Return whether a Snakemake that somebody called works on a study in this clone, by its locks."""
    named = ""
    for file in (ROOT / ".snakemake" / "locks").glob("*.output.lock"):
        with suppress(OSError):  # it has ended meanwhile
            named += file.read_text(encoding="utf-8")
    return any(f"{place}/{name}/" in named for place in ("results", "runs")) and bool(locks.others(ROOT))


def repeat(history: History, study: str, profile: str, every: str, config: list[str], lock: int) -> int:
    """Run one repetition to its end and record it; return Snakemake's exit code."""
    began = datetime.now(UTC)
    try:
        prefix(profile, history.name, folder_name(began))
        what, repetition = history.begin(began)
    except InputError:
        history.record(FAILED, began, every, 0, 2)
        raise
    place = prefix(profile, history.name, repetition)
    history.record(what, began, every)
    if what == STARTED:
        print(f"{history.name}: a repetition starts", flush=True)
    else:
        print(f"{history.name}: the repetition before was interrupted: it is resumed", flush=True)
    clock = time.monotonic()
    words = ["--profile", f"profiles/{profile}", *place, "--config", f"study={study}", *config]
    code = call(snakemake(*words), lock)
    if not code and not history.is_complete():
        code = 1
    if not code:
        history.end()
    seconds = time.monotonic() - clock
    history.record(FAILED if code else DONE, datetime.now(UTC), every, seconds, code)
    if code:
        print(
            f"{history.name}: failed after {seconds:.0f} s (exit code {code}): what is there stays, and the next "
            "trigger resumes it",
            file=sys.stderr,
        )
    return code


def refresh_prices(history: History, every: str, config: list[str], lock: int) -> int:
    """Refresh the price book once; what changed and what was refused is kept beside the record of triggers."""
    began, clock = datetime.now(UTC), time.monotonic()
    history.record(STARTED, began, every)
    words = ["refresh_prices", "--quiet", "all", *(["--config", *config] if config else [])]
    code = call(snakemake(*words), lock, history.folder / f"{folder_name(began)}.txt")
    history.record(FAILED if code else DONE, datetime.now(UTC), every, time.monotonic() - clock, code)
    return code


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", nargs="?", help="of config/studies, or the path of a file")
    parser.add_argument("--prices", action="store_true", help="refresh the price book instead of a study")
    parser.add_argument("--profile", default="local", help="a folder of profiles/ (default: local)")
    parser.add_argument("--every", default="", help="the interval that this trigger is scheduled with")
    parser.add_argument("--config", nargs="+", default=[], metavar="KEY=VALUE", help="as Snakemake takes them")
    options = parser.parse_args()
    if bool(options.study) == options.prices:
        raise InputError("a study, or --prices, must be given")
    if options.every:
        intervals.interval(options.every)
    if not (ROOT / "profiles" / options.profile / "config.yaml").is_file():
        known = ", ".join(sorted(path.parent.name for path in (ROOT / "profiles").glob("*/config.yaml")))
        raise InputError(f"--profile: {options.profile!r} is unknown: it is one of {known}")
    for given in options.config:
        if given.startswith("trust="):
            environment.TRUST.write(given.removeprefix("trust="))
    name = PRICES
    if options.study:
        name, settings = definition.read(options.study, {})
        if not definition.is_trained_here(settings):
            raise InputError(f"study {name}: shows runs of others, and trains none: there is nothing to repeat")
    history = History(name, ROOT)
    with history.locked() as lock:
        if lock is None or is_at_work(name):
            history.record(OVERLAPPED, datetime.now(UTC), options.every)
            print(f"overlapped: {name} is at work already: nothing was started", file=sys.stderr)
            return OVERLAP_CODE
        if options.prices:
            return refresh_prices(history, options.every, options.config, lock)
        try:
            return repeat(history, options.study, options.profile, options.every, options.config, lock)
        finally:
            subprocess.run([sys.executable, "-m", "scripts.epd", "history", options.study], cwd=ROOT)


if __name__ == "__main__":
    errors.run(main)
