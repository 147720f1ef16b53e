"""`epd import FOLDER`: what it finds, prices and says, without a study."""

import csv
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from scripts.epd import _folder as logs
from scripts.epd import import_
from scripts.epd._folder import Asked
from scripts.storage.errors import InputError
from tests.conftest import Project
from tests.importers.formats.test_any import mixed

CATALOGUE = {
    "gce-a100x1": {
        "label": "A100 40 GB",
        "machine": {"cores": 12, "gpus": {"model": "A100", "count": 1}},
        "rent": {"provider": "gce", "region": "us-central1", "items": {"a2-highgpu-1g": 1}},
    }
}


def test_each_file_has_a_line_that_says_what_became_of_it(tmp_path: Path) -> None:
    (mixed(tmp_path) / "yolo" / "broken").mkdir()
    (tmp_path / "yolo" / "broken" / "results.csv").write_text("epoch,train/loss,metrics/a\n1,2\n")
    rows = {file: (kind, word, how) for file, kind, word, how in logs.rows(*logs.look(tmp_path))}
    assert rows["speed/record.log"] == ("nanogpt", "right", "22.5 s (stated: train_time)")
    assert rows["keras/training_log.csv"][:2] == ("epochs_csv", "without time")
    assert rows["keras/training_log.csv"][2].startswith("without time: Keras's CSVLogger has no column elapsed")
    assert rows["yolo/broken/results.csv"] == ("ultralytics", "refused", "line 2: 2 cells, but the header has 3")
    assert rows["prices.csv"][1] == "not read"
    assert rows["readme.txt"][1] == "not read", "what no importer reads is listed"
    assert dict(logs.counts([(file, *row) for file, row in rows.items()]))["ultralytics"] == {"right": 1, "refused": 1}


def test_machines_differ_by_the_cards_that_logs_name(tmp_path: Path) -> None:
    _, imported = logs.look(mixed(tmp_path))
    study = logs.study(tmp_path, Path("book.csv"), imported, {}, Asked("h100", 2.49))
    assert study["import"]["hardware"] == {
        ".": "h100",
        "speed/record": "h100-x2",
        "tracked/mlruns/1/0a1b/meta": "h100-x2",
    }
    assert study["machines"]["h100-x2"] == {
        "label": "2 x h100",
        "gpus": {"model": "h100", "count": 2},
        "rent": {"provider": "given", "items": {"card": 2}},
    }
    assert logs.book(Asked("h100", 2.49)).splitlines()[1].startswith("given,card,,on-demand,2.49,,,USD,hour,")


def test_a_machine_of_the_catalogue_has_its_price_there(tmp_path: Path) -> None:
    _, imported = logs.look(mixed(tmp_path))
    machines = logs.study(tmp_path, Path("b.csv"), imported, CATALOGUE, Asked("gce-a100x1"))["machines"]
    assert machines["gce-a100x1"]["rent"]["items"] == {"a2-highgpu-1g": 1}
    assert machines["gce-a100x1-x2"]["rent"]["items"] == {"a2-highgpu-1g": 2}
    assert machines["gce-a100x1-x2"]["label"] == "2 x A100 40 GB"


def test_without_a_name_a_machine_is_called_as_its_cards(tmp_path: Path) -> None:
    _, imported = logs.look(mixed(tmp_path))
    hardware = logs.study(tmp_path, Path("b.csv"), imported, {}, Asked())["import"]["hardware"]
    assert hardware["speed/record"] == "nvidia_h100_80gb_hbm3-x2"


def test_what_is_taken_for_granted_is_said(tmp_path: Path) -> None:
    _, imported = logs.look(mixed(tmp_path))
    lines = logs.unsaid(imported, CATALOGUE, Asked())
    assert "cards: 2 x NVIDIA H100 80GB HBM3, as the logs name them" in lines
    assert "cards: 5 of 7 runs do not say how many: one is priced; --cards N if there were more" in lines
    assert "batch: 6 of 7 runs do not say it: left out" in lines
    assert "price: none: no dollars without --price USD, of an hour of one card" in lines
    assert "framework: 2 of 7 runs do not say it: called own" in lines
    assert not [line for line in logs.unsaid(imported, CATALOGUE, Asked("gce-a100x1", cards=1)) if "price" in line]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Asked("h100", 0.0), "--price: 0 must be USD an hour, more than 0"),
        (Asked("h100", -1.0), "--price: -1 must be USD an hour, more than 0"),
        (Asked("h100", float("nan")), "--price: nan must be USD an hour, more than 0"),
        (Asked("h100", 1e308), r"--price: 1e\+308 must be USD an hour, more than 0 and at most 1,000,000"),
        (Asked("h100", cards=0), "--cards: 0 must be a whole number from 1"),
        (Asked("h100", cards=99999999999), "--cards: 99999999999 must be a whole number from 1 to 1,000,000"),
        (Asked("h 100"), "--machine: 'h 100' must be a name of letters, digits and"),
    ],
)
def test_values_that_cannot_be_are_refused_before_a_file_is_read(
    asked: Asked, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "look", lambda folder: pytest.fail("a file was read"))
    with pytest.raises(InputError, match=said):
        import_._folder(mixed(tmp_path), "", asked, False, False)


def test_a_folder_without_logs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text("{}")
    with pytest.raises(InputError, match=r"holds no run that could be read: docs/importing\.md lists what is read"):
        import_._folder(tmp_path, "", Asked(), False, False)


def test_files_of_other_kinds_are_listed_together_by_their_endings(tmp_path: Path) -> None:
    for name in ("a.json", "b.json", "c.json", "d.json", "notes", "x/e.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    listed = [(file, word) for file, _, word, _ in logs.rows(*logs.look(tmp_path))]
    assert listed == [
        ("notes", "not read"),
        ("4 *.json: a.json, b.json, c.json ...", "not read"),
        ("x/e.txt", "not read"),
    ]


@pytest.mark.parametrize(
    ("asked", "devices", "words"),
    [(Asked(), 8, "8"), (Asked(), pd.NA, "1 (assumed)"), (Asked(cards=4), 8, "4 (--cards)")],
)
def test_beside_a_run_stands_how_many_cards_are_priced(asked: Asked, devices: object, words: str) -> None:
    assert logs.cards_of({"devices": devices}, asked) == words


def test_a_folder_that_is_called_logs_is_one_of_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """results/logs is not for a study: the name is that of both folders, or says what it holds."""
    called: list[str] = []
    monkeypatch.setattr(import_, "_read", lambda console, folder, name, *rest: (called.append(name) or 0, []))
    for place in (tmp_path / "vision" / "logs", tmp_path / "their models", Path("/logs"), tmp_path / "実験"):
        import_._folder(place, "", Asked(), False, False)
    assert called == ["vision_logs", "their_models", "logs-of-runs", "logs-8d2062"]


@pytest.mark.parametrize(
    ("given", "said"), [("nowhere/logs", "no such folder"), ("train.log", "is a file: give the folder")]
)
def test_what_is_no_folder_is_named(given: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("step 1")
    with pytest.raises(InputError, match=said):
        import_.command(str(tmp_path / given))


def test_a_console_above_other_logs_may_be_counted_twice_and_it_says_so(tmp_path: Path) -> None:
    for place in ("lit", "elsewhere"):
        (mixed(tmp_path) / place).mkdir(exist_ok=True)
        (tmp_path / place / "slurm.out").write_text("Epoch 1/2 loss 0.5\nEpoch 2/2 loss 0.4\n")
    _, imported = logs.look(tmp_path)
    lines = logs.unsaid(imported, CATALOGUE, Asked())
    assert "consoles: lit/slurm.out: other logs lie below; of the same training they are counted twice" in lines


#: USD of each log at 2.49 an hour of a card, by hand: seconds x cards x 2.49 / 3600.
DOLLARS = {
    "lit/lightning_logs/version_0/metrics": 22.5 * 2.49 / 3600,
    "speed/record": 22.5 * 2 * 2.49 / 3600,
    "tb/mlp/events.out.tfevents.1700000000.box.1": 40 * 2.49 / 3600,
    "tracked/mlruns/1/0a1b/meta": 400 * 2 * 2.49 / 3600,
    "yolo/runs/detect/train/results": 260.5 * 2.49 / 3600,
}


@pytest.mark.slow
def test_a_folder_becomes_dollars_a_page_and_a_study(fresh: Project, tmp_path: Path) -> None:
    mixed(tmp_path / "their logs")
    done = fresh.run("./epd", "import", str(tmp_path / "their logs"), "--machine", "h100", "--price", "2.49")
    place = fresh.path / "results" / "their_logs"
    with (place / "costs.csv").open(newline="") as text:
        costs = {row["run"]: float(row["cost_usd"]) for row in csv.DictReader(text) if row["cost_usd"]}
    assert costs == pytest.approx(DOLLARS)
    page = (place / "report.html").read_text()
    assert "without time: Keras" in page
    assert "not read" in done.stdout
    assert "taken for granted: batch: 6 of 7 runs do not say it" in done.stdout
    study = yaml.safe_load((place / "their_logs.yaml").read_text())
    assert study["import"]["format"] == "any"
    again = fresh.run("./epd", "report", "results/their_logs/their_logs.yaml", "--", "-n")
    assert "Nothing to be done" in again.stdout + again.stderr


@pytest.mark.slow
def test_machines_of_an_import_may_be_entries_of_the_catalogue(fresh: Project, tmp_path: Path) -> None:
    mixed(tmp_path / "logs")
    study = {
        "title": "Mine",
        "import": {"format": "any", "folder": str(tmp_path / "logs"), "hardware": {".": "gce-a100x1"}},
        "base": {"hardware": "gce-a100x1", "framework": "torch"},
        "charts": ["relative_time"],
    }
    (fresh.path / "mine.yaml").write_text(yaml.safe_dump(study))
    fresh.run("snakemake", "results/mine/prices.csv", "--cores", "1", "--config", "study=mine.yaml")
    assert "\ngce-a100x1," in (fresh.path / "results" / "mine" / "prices.csv").read_text()
    study["import"]["hardware"] = {".": "gce-a100x9"}
    (fresh.path / "mine.yaml").write_text(
        yaml.safe_dump(study | {"base": {"hardware": "gce-a100x9", "framework": "torch"}})
    )
    refused = fresh.run("./epd", "report", "mine.yaml", check=False)
    printed = refused.stdout + refused.stderr
    assert "import: hardware: 'gce-a100x9' is nowhere described" in printed
    assert "Traceback" not in printed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["import", "logs", "--name", "smoke"], "--name: 'smoke': a study's name is of letters"),
        (["import", "logs", "--machine", "a" * 300, "--price", "2"], ""),
        (["report", "bad.yaml"], "bad.yaml: 'foo' is unknown"),
        (["report", "smoke", "--config", "repeats=x"], "--config: repeats: 'x' is not a whole number"),
        (["quote", "bad.yaml"], "bad.yaml: 'foo' is unknown"),
        (["summary", "bad.yaml"], "bad.yaml: 'foo' is unknown"),
        (["import", "bad.yaml"], "bad.yaml: 'foo' is unknown"),
    ],
)
def test_what_is_refused_leaves_no_file_and_no_folder(fresh: Project, words: list[str], said: str) -> None:
    mixed(fresh.path / "logs")
    (fresh.path / "bad.yaml").write_text("title: x\nfoo: 1\n")
    shutil.rmtree(fresh.path / ".snakemake", ignore_errors=True)

    def tree() -> list[Path]:
        return [path for path in sorted(fresh.path.rglob("*")) if "__pycache__" not in path.parts]

    before = tree()
    refused = fresh.run("./epd", *words, check=False)
    assert refused.returncode not in (0, None)
    assert said in refused.stderr
    assert tree() == before


def test_a_study_that_somebody_has_changed_is_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    assert not logs.is_changed(file)
    file.write_text(logs.signed("title: Mine\n"))
    assert not logs.is_changed(file)
    for text in (file.read_text() + "caution: mine\n", "title: Mine\n", ""):
        file.write_text(text)
        assert logs.is_changed(file)
