"""What a person writes, a study, machines, prices: each with its right answer, known before (`answers`)."""

import csv
import io
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import yaml

from scripts.costs import book, pricing
from scripts.kit import records
from scripts.storage import brought, environment, schemas
from scripts.studies import definition, grid, trust
from tests.faults import stage
from tests.faults.answers import NO_NUMBER_TEXTS, NO_NUMBERS, Case, accepted, get, kind, put, refused
from tests.kit.test_records import ENTRY

ROOT = definition.ROOT
OWN = ROOT / "reports" / "published" / "tables" / "two-cores"
CATALOGUE = ROOT / "config" / "hardware.yaml"
CELL = Path("mnist_mlp/cpu1/jax/b128/r1")


def _yaml(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True)


#: What is no YAML of ours, whatever the file: text of the file -> what the line says. `{}` is a right one.
YAML_TEXTS = {
    "{}title: twice\n": "given twice|twice|unknown",
    "{}x: &a [*a]\n": "in itself|unknown|anchor|not YAML",
    "{}\tx: 1\n": "not YAML",
    "{}---\n{}": "not YAML|document",
    "{}x: !!python/object/apply:os.system ['touch injected']\n": "not YAML",
    "{}x: !!python/name:os.system\n": "not YAML",
    '{}x: "\\ud800"\n': "half a character|unknown|not YAML",
    "{}x: \0\n": "not YAML",
    "": "mapping",
    "# nothing\n": "mapping",
    "- a\n- b\n": "mapping",
    "just words\n": "mapping",
    "[" * 5000 + "]" * 5000: "too deep",
    "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(9)): "more than",
    "a: &a {x: 1}\n"
    + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} {{{', '.join(f'{chr(97 + i)}{n}: *{chr(97 + i)}' for n in range(9))}}}\n"
        for i in range(9)
    ): "more than",
    "? [a, b]\n: 1\n": "cannot be a key",
    "1: 2\n": "1|mapping|unknown",
    "{}null: 2\n": "None|unknown|not",
}


def _texts_of_yaml(name: str, whole: str, read: Callable[[Path], Any]) -> Iterator[Case]:
    def write(text: bytes) -> Callable[[Path], Any]:
        return lambda folder: (folder / name).write_bytes(text) and read(folder)

    for text, says in YAML_TEXTS.items():
        filled = text.replace("{}", whole).encode()
        yield refused(f"{name}: {text[:60]!r}", write(filled or b" "), name.rpartition(".")[0], says)
    yield refused(f"{name}: UTF-16", write(whole.encode("utf-16")), "not UTF-8|not YAML")
    yield refused(f"{name}: Latin-1", write(whole.encode() + "# é\n".encode("latin-1")), "not UTF-8")
    for what, text in (("CRLF", whole.replace("\n", "\r\n")), ("BOM", f"\ufeff{whole}"), ("comment", f"{whole}# x\n")):
        yield accepted(f"{name}: {what}", write(text.encode()))

    def special(make: Callable[[Path], Any]) -> Callable[[Path], Any]:
        def run(folder: Path) -> Any:
            make(folder / name)
            return read(folder)

        return run

    yield refused(f"{name}: a folder", special(Path.mkdir), "not a file|no such file")
    yield refused(f"{name}: a pipe", special(os.mkfifo), "not a file|no such file")
    yield refused(f"{name}: a device", special(lambda path: path.symlink_to("/dev/zero")), "not a file|no such file")


STUDY = stage.TRAINED | {"data": "synthetic", "repeats": 2, "max_run_minutes": 10}
_PRICED = stage.IMPORTED

#: Key of a study -> what it cannot be, beside what is no number; and what it can.
STUDY_NUMBERS: dict[str, tuple[tuple, tuple]] = {
    "scale.samples": ((0, -0.1, 1.01, 1e400), (0.25, 1)),
    "scale.epochs": ((0, -1, 1.5), (1, 7)),
    "repeats": ((0, -1, 1.5), (1, 12)),
    "max_run_minutes": ((0, -5), (1, 480)),
}
STUDY_VALUES: dict[str, tuple[tuple, tuple]] = {
    "title": ((None, "", 5, [], {}), ("T", "Ünïcode")),
    "workloads": ((None, [], "mnist_mlp", ["no_such"], ["../x"], ["os"], [""], [5], ["mnist_mlp", "mnist_mlp"]), ()),
    "hardware": ((None, [], ["no-such"], ["cpu1", "cpu1"], [None], ["../cpu1"], "cpu1"), (["cpu1"],)),
    "frameworks": ((None, [], ["no_such"], ["__init__"], ["../torch"], ["jax", "jax"], [5]), (["jax"],)),
    "modes": (([], ["fast"], ["stock", "stock"], "stock"), (["stock"],)),
    "precisions": (([], ["float8"], ["float32", "float32"]), (["float32"],)),
    "devices": (([], [0], [-1], [1.5], ["1"], [True], [1, 1]), ([1],)),
    "batch_sizes": (([], [0], [-1], [1.5], [True], ["x"], [64, 64], [math.nan]), ([64], ["published"])),
    "data": ((None, "fake", 5, []), ("synthetic",)),
    "base": ((None, {}, {"hardware": "cpu1"}, {"hardware": "no-such", "framework": "jax"}, []), ()),
    "charts": ((["no_such"], ["../relative_time"], ["relative_time", "relative_time"], [5]), (["pareto"],)),
    "price": ((None, "no-such", 5), ("spot",)),
    "book": ((["no-such"], "/no/such.csv", [5], {}), ("current",)),
    "beside": ((["no-such"], ["mine"], "local"), ()),
    "unknown": ((1,), ()),
    "__class__": ((1,), ()),
}
PRICES_VALUES: dict[str, tuple[tuple, tuple]] = {
    "prices.committed.discount.share": ((*NO_NUMBERS, -0.1, 1.5, 30), (0.0, 0.3)),
    "prices.spot.preemption.preemptions_per_hour": ((*NO_NUMBERS, -1), (0.1, 2)),
    "prices.spot.preemption.restart_seconds": ((*NO_NUMBERS, -1), (0, 60)),
    "prices.committed.instead.own.items.box": ((*NO_NUMBERS, 0, -1, 1.5), (1, 2)),
    "prices.committed.purchase": ((None, 5, [], "stolen"), ("on-demand",)),
    "machines.own.own.acquisition_usd": ((*NO_NUMBERS, -1), (0, 4200)),
    "machines.own.own.life_months": ((*NO_NUMBERS, 0, -1), (36,)),
    "machines.own.own.power_watts": ((*NO_NUMBERS, -1), (600,)),
    "machines.own.own.usd_per_kwh": ((*NO_NUMBERS, -0.1), (0.25,)),
    "machines.own.own.hours_per_month": ((*NO_NUMBERS, 0, -1, 745), (1, 744)),
    "machines.own.own.as_of": (("2999-01-01", "2026-13-01", "yesterday", None, "2026-02-30"), ("2026-01",)),
    "claims.0.check": (("sometimes", None), ()),
    "claims.0.between": (([0.6, 0.4], [1], ["a", "b"], [math.nan, 1], None), ([0.1, 0.2],)),
    "published.url": (("javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", 5), ("https://localhost/x",)),
    "machines.k80.rent.items": (({}, [], {"box": 0}), ({"box": 1},)),
    "import.format": (("no_such", "../os", None), ("keras_csv",)),
    "import.hardware": (({}, {"k80": "no-such"}, [], {"k80": 5}), ()),
}


#: What a file of code says of itself.
OWN_NET = "DATASET, BATCH_SIZE, EPOCHS, REFERENCE = None, 8, 1, None\n"


def _read_study(study: Any, path: str = "") -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        file = folder / "mine.yaml"
        if not file.exists() or study is not None:
            file.write_text(_yaml(study))
        _, config = definition.read(str(file), {})
        if definition.is_trained_here(config):
            grid.planned("mine", config, schemas.read_yaml(CATALOGUE, "hardware")).runs()
        return get(config, path) if path else None

    return read


def _read_priced(study: Any, path: str) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        (folder / "logs" / "k80").mkdir(parents=True)
        (folder / "book.csv").write_text(stage.BOOK)
        about = {"format": "keras_csv", "folder": str(folder / "logs"), "hardware": {"k80": "k80", "own": "own"}}
        whole = study | {"import": about | study.get("import", {}), "book": str(folder / "book.csv")}
        (folder / "mine.yaml").write_text(_yaml(whole))
        _, config = definition.read(str(folder / "mine.yaml"), {})
        machines = definition.machines(config, {})
        unknown = set(config["import"]["hardware"].values()) - set(machines)
        definition.known("mine.yaml", "import.hardware", sorted(unknown), list(machines))
        pricing.price_table(config, machines, set(machines))
        return get(config, path)

    return read


def study() -> Iterator[Case]:
    """A study's file, read, expanded and priced as a call does."""
    whole = _yaml(STUDY)
    numbers = {key: ((*NO_NUMBERS, *bad), good) for key, (bad, good) in STUDY_NUMBERS.items()}
    for key, (bad, good) in (numbers | STUDY_VALUES).items():
        last = key.rpartition(".")[2]
        for value in bad:
            yield refused(f"{key} = {value!r}", _read_study(put(STUDY, key, value)), r"mine(\.yaml)?:", last)
        for value in good:
            yield accepted(f"{key} = {value!r}", _read_study(put(STUDY, key, value), key), value)
    for key in ("title", "hardware", "frameworks", "base"):
        yield refused(f"no {key}", _read_study(put(STUDY, key, ...)), "mine.yaml", key)
    priced = _PRICED | {"import": {"format": "keras_csv", "hardware": {"k80": "k80", "own": "own"}}}
    for key, (bad, good) in PRICES_VALUES.items():
        last = [part for part in key.split(".") if not part.isdigit()][-1]
        for value in bad:
            yield refused(f"{key} = {value!r}", _read_priced(put(priced, key, value), key), last)
        for value in good:
            yield accepted(f"{key} = {value!r}", _read_priced(put(priced, key, value), key), value)
    yield from _texts_of_yaml("mine.yaml", whole, _read_study(None))

    def own(trusted: str) -> Callable[[Path], Any]:
        def read(folder: Path) -> Any:
            (folder / "my_net.py").write_text(f"{OWN_NET}open('injected', 'w')\n")
            known = mock.patch.object(trust, "KNOWN", folder / "trusted")
            with known, mock.patch.dict(os.environ, {environment.TRUST.name: trusted}):
                _read_study(put(STUDY, "workloads", [str(folder / "my_net.py")]))(folder)
                file = folder / "mine.yaml"
                return trust.check(file, definition.read(str(file), {})[1]["workload_files"])

        return read

    for word in ("", "yes", "sha256-0000000000000000", "ALL"):
        yield refused(f"code that is trusted by {word!r}", own(word), "mine.yaml", "not the project's", "trust=sha256-")

    def changed(name: str) -> Callable[[Path], Any]:
        def read(folder: Path) -> Any:
            for each in ("helper.py", "package/module.py"):
                (folder / each).parent.mkdir(exist_ok=True)
                (folder / each).write_text("x = 1\n")
            code = [folder / "my_net.py"]
            code[0].write_text(OWN_NET)
            named = {"my_net": str(code[0])}
            (folder / "trusted").write_text(trust.checksum(brought.files(folder, named, {})))
            with mock.patch.object(trust, "KNOWN", folder / "trusted"):
                trust.check(folder / "mine.yaml", named)
                (folder / name).write_text("open('injected', 'w')\n")
                return trust.check(folder / "mine.yaml", named)

        return read

    for name in ("helper.py", "package/module.py", "package/new.py", "sitecustomize.py", "fast.so"):
        yield refused(f"code beside what was trusted, {name}", changed(name), "mine.yaml", name, "trust=sha256-")
    for name in ("a b", "-x", "kit", "logs", "..", "a;b", "$(touch injected)", "a\nb", "é\u202e", "x" * 300, "local"):

        def read(folder: Path, name: str = name) -> Any:
            try:
                (folder / f"{name}.yaml").write_text(whole)
            except OSError as error:
                raise schemas.InputError(f"{name}: {error.strerror}") from error
            return definition.read(str(folder / f"{name}.yaml"), {})

        yield refused(f"a study that is called {name!r:.40}", read)


# Machines.


def machines() -> Iterator[Case]:
    """A person's own machines beside the catalogue, and what a kit says of its machine."""
    own = {"mine": {"label": "Mine", "machine": {"cores": 4}, "own": stage._OWN | {"as_of": "2026-01", "source": "x"}}}
    values: dict[str, tuple[tuple, tuple]] = {
        "mine.machine.cores": ((*NO_NUMBERS, 0, -1, 1.5), (1, 64)),
        "mine.label": ((None, "", 5, []), ("M",)),
        "mine.own.acquisition_usd": ((*NO_NUMBERS, -1), (0, 10.5)),
        "mine.own.hours_per_month": ((*NO_NUMBERS, 0, 745), (744,)),
        "mine.machine.gpus": (
            ({"model": "X", "count": 0}, {"model": "X"}, {"count": 1}, []),
            ({"model": "X", "count": 8},),
        ),
        "mine.rent": (
            ({"provider": "gce"}, {"provider": "gce", "items": {"box": -1}}, {"provider": "", "items": {"a": 1}}),
            ({"provider": "gce", "items": {"box": 2}},),
        ),
        "mine.clusters": (
            (
                {},
                {"../x": {}},
                {"slurm": {"runtime": 1}},
                {"slurm": {"modules": "$(touch injected)"}},
                {"slurm": {"modules": "a; touch injected"}},
                {"slurm": {"container": "x"}},
            ),
            ({"slurm": {"modules": "cuda/12.1"}},),
        ),
        "mine.peak_tflops": (({"source": "x"}, {"float32": 0, "source": "x"}, {"float64": 1, "source": "x"}), ()),
        "mine.unknown": ((1,), ()),
        "a b": ((own["mine"],), ()),
        "../x": ((own["mine"],), ()),
        "$(touch injected)": ((own["mine"],), ()),
    }

    def read(path: str, name: str = "hardware.local.yaml") -> Callable[[Path], Any]:
        def run(folder: Path) -> Any:
            (folder / "hardware.yaml").write_text(CATALOGUE.read_text())
            found = schemas.read_yaml(folder / "hardware.yaml", "hardware")
            return get(found, path) if path else found

        return run

    def written(content: Any, path: str) -> Callable[[Path], Any]:
        return lambda folder: (folder / "hardware.local.yaml").write_text(_yaml(content)) and read(path)(folder)

    for key, (bad, good) in values.items():
        inside = key.startswith("mine.")
        for value in bad:
            changed = put(own, key, value) if inside else own | {key: value}
            yield refused(f"hardware.local.yaml: {key} = {value!r:.60}", written(changed, ""), "hardware.local.yaml")
        for value in good:
            yield accepted(f"hardware.local.yaml: {key} = {value!r:.60}", written(put(own, key, value), key), value)
    yield accepted("null takes an entry away", written({"cpu1": None}, ""), None)
    yield accepted("a cost of one's own", written({"cpu1": {"label": "Mine"}}, "cpu1.label"), "Mine")
    whole = ENTRY.decode()
    for text in YAML_TEXTS:
        content = text.replace("{}", whole).encode()
        yield refused(
            f"machine.yaml: {text[:50]!r}",
            lambda _, c=content: records.machine(c, "r.zip"),
            "machine.yaml|machines|mapping|empty",
        )
    for changed in ({"mine": own["mine"] | {"x": 1}}, {"../x": own["mine"]}, {"a": own["mine"], "b": own["mine"]}, {}):
        content = _yaml(changed).encode()
        yield refused(
            f"machine.yaml: {changed!r:.50}", lambda _, c=content: records.machine(c, "r.zip"), "machine.yaml"
        )
    yield accepted("machine.yaml", lambda _: records.machine(ENTRY, "r.zip")[0], "h100")


# Price books.

_GOOD = dict.fromkeys(book.COLUMNS, "") | {
    **{"provider": "cloud", "item": "host", "region": "us", "purchase": "on-demand", "rate": "0.5", "currency": "USD"},
    **{"per": "hour", "as_of": "2026-01-02", "source": "a price list"},
}
BOOK_VALUES: dict[str, tuple[tuple, tuple]] = {
    "rate": ((*NO_NUMBER_TEXTS, "", "-1", "-0.5", "1e400"), ("0", "0.5", "12", "1e3", ".5")),
    "rate_low": ((*NO_NUMBER_TEXTS, "-1", "0.1"), ()),  # without the other end
    "provider": (("", "<b>", "a\x1bb", "a\u202eb", "=1", "x" * 200), ("gce",)),
    "item": (("", "<script>", "`x`", "[a](b)", "a|b", "$(x)"), ("n1-standard-4+K80", "1x-RTX_6000Ada")),
    "region": (("<b>", "a\x07", "@x"), ("", "us-central1", "Maryland, US, NA")),
    "purchase": (("", "demand", "On-Demand"), ("spot", "month")),
    "per": (("", "day", "once", "share"), ("second", "minute", "hour", "month")),
    "currency": (("", "usd", "DOLLAR", "\u0405SD"), ("USD", "EUR")),
    "as_of": (
        ("", "2999-01-01", "2026-13", "02.01.2026", "2026-02-30", "\u0662026"),
        ("2026", "2026-01", "2025-12-31"),
    ),
    "source": (("",), ("a page", "<b>x</b>")),
    "inferred": ((), ("", "by eye")),
}


def _book(*rows: dict[str, str]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, book.COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def prices() -> Iterator[Case]:
    """A price book."""

    def read(content: str | bytes, key: str = "", at: int = 0) -> Callable[[Path], Any]:
        def run(folder: Path) -> Any:
            raw = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
            (folder / "mine.csv").write_bytes(raw)
            rows = book.read([folder / "mine.csv"])
            return rows[at][key] if key else len(rows)

        return run

    for key, (bad, good) in BOOK_VALUES.items():
        for value in bad:
            yield refused(f"{key} = {value!r:.40}", read(_book(_GOOD | {key: value})), "mine.csv:2", key)
        for value in good:
            right = float(value) if key == "rate" else value
            yield accepted(f"{key} = {value!r}", read(_book(_GOOD | {key: value}), key), right)
    spot = _GOOD | {"purchase": "spot"}
    ranged = [("0.4", "0.6", None), ("0.6", "0.7", "rate_low"), ("0.1", "0.4", "rate_low"), ("0.6", "0.4", "rate_low")]
    for low, high, says in ranged:
        row = _GOOD | {"rate_low": low, "rate_high": high}
        what = f"from {low} to {high}"
        yield (
            refused(what, read(_book(row)), "mine.csv:2", says)
            if says
            else accepted(what, read(_book(row), "rate"), 0.5)
        )
    yield refused("spot above on demand", read(_book(_GOOD, spot | {"rate": "0.6"})), "mine.csv", "spot 0.6 is above")
    yield accepted("spot below on demand", read(_book(_GOOD, spot | {"rate": "0.2"}), "rate", 1), 0.2)
    yield refused("one price twice", read(_book(_GOOD, _GOOD | {"rate": "0.7"})), "mine.csv:3", "line 2")
    whole = _book(_GOOD, spot | {"rate": "0.2"})
    head, first, second = whole.splitlines(keepends=True)
    for what, text in {
        "no header": first + second,
        "a column less": head.replace(",inferred", ""),
        "another order": head.replace("provider,item", "item,provider") + first,
        "a column twice": head.replace("inferred", "source") + first,
        "a cell less": head + first.replace(",USD", ""),
        "a cell more": head + first.rstrip() + ",x\n",
        "a quote that never ends": head + first.replace("a price list", '"a'),
        "NUL": whole.replace("host", "ho\0st"),
        "empty": " ",
    }.items():
        yield refused(what, read(text), r"mine\.csv")
    yield refused("UTF-16", read(whole.encode("utf-16")), r"mine\.csv")
    yield accepted("CRLF", read(whole.replace("\n", "\r\n")), 2)


KINDS = [kind("study", study), kind("machines", machines), kind("price book", prices)]
