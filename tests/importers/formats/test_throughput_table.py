import hashlib
from pathlib import Path

import pandas as pd
import pytest

from scripts import importers
from scripts.analysis import audit
from scripts.importers import Imported, Layout, facts
from scripts.importers.formats import throughput_table
from scripts.studies import definition
from tests.importers.test_published import published

STUDY = definition.read("lambda-gpus", {})[1]

FP16 = "name_gpu,num_gpu,watt,ssd,resnet50,gnmt\nRTX 3090,1.0,350.0,236.0,905.0,86080.0\n2x RTX 3090,2.0,700,0,1800,1\n"
FP32 = ",ssd,resnet50\nLab_8x_1xA100_40GB_a,0.0,100.5\nLab_1x_2xA100_40GB_b,9,9\nLab_1xA100_40GB_c,3,102.5\n"
SIZES = "name_gpu,num_gpu,ssd,resnet50\nRTX 3090,1,140,448\n2x RTX 3090,2,280,896\n"
CARDS = {"*/RTX 3090": "rtx-3090", "*/2x RTX 3090": "2x", "*_1xA100_*": "a100", "*_2xA100_*": "2x-a100"}
COLUMNS = {"resnet50": "resnet50", "ssd": "detector"}


def read(folder: Path, files: dict[str, str], hardware: dict = CARDS, columns: dict = COLUMNS) -> Imported:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return throughput_table.read(folder, Layout(hardware, {".": "torch"}, columns=columns))


def cells(imported: Imported) -> list[list]:
    keys = ["workload", "hardware", "devices", "batch_size", "precision", "repeat", "samples_per_second"]
    return imported.runs[keys].astype(object).where(imported.runs[keys].notna(), None).values.tolist()


def test_cell_of_a_card_is_a_run_and_0_is_none(tmp_path: Path) -> None:
    files = {"t/throughput-fp16.csv": FP16, "t/bs-fp16.csv": SIZES, "t/throughput-v2-fp32.csv": FP32}
    imported = read(tmp_path, files)
    assert imported.problems == []
    assert cells(imported) == [
        ["resnet50", "rtx-3090", 1, 448, "float16", 1, 905.0],
        ["detector", "rtx-3090", 1, 140, "float16", 1, 236.0],
        ["resnet50", "2x", 2, 448, "float16", 1, 1800.0],
        ["resnet50", "a100", 1, None, "float32", 1, 100.5],
        ["resnet50", "2x-a100", 2, None, "float32", 1, 9.0],
        ["detector", "2x-a100", 2, None, "float32", 1, 9.0],
        ["resnet50", "a100", 1, None, "float32", 2, 102.5],
        ["detector", "a100", 1, None, "float32", 1, 3.0],
    ]
    runs = imported.runs
    assert runs["run"][3] == "t/throughput-v2-fp32#Lab_8x_1xA100_40GB_a/resnet50"
    assert set(runs["framework"]) == {"torch"}
    assert runs["train_seconds"].isna().all(), "a rate is no time"


def test_row_is_of_the_machine_with_the_longest_name_that_fits(tmp_path: Path) -> None:
    files = {"throughput.csv": "name,resnet50\nA100,1\nNew A100,2\n"}
    imported = read(tmp_path, files, {"*A100": "any", "*/New A100": "new"})
    assert imported.runs["hardware"].to_list() == ["any", "new"]
    assert imported.runs["precision"].isna().all(), "the file's name says none"


@pytest.mark.parametrize(
    ("name", "devices"),
    [("2x A100", 2), ("4x 2080Ti", 4), ("8x4090", 8), ("8x_Texas_A100", 1), ("Lab 8x 1xA100", 1), ("1080Ti", 1)],
)
def test_name_of_a_row_says_its_cards(name: str, devices: int, tmp_path: Path) -> None:
    imported = read(tmp_path, {"throughput.csv": f"name,resnet50\n{name},1\n"}, {"*": "machine"})
    assert imported.runs["devices"].to_list() == [devices]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name,resnet50\nA100,fast\nRTX 3090,1\n", "a.csv:2: resnet50: 'fast' is not a number of samples a second"),
        ("name,resnet50\nA100,-5\n", "a.csv:2: resnet50: '-5' is not a number of samples a second"),
        ("name,resnet50\nK80,5\n", "a.csv:2: 'K80' is not in the mapping of rows to machines"),
        ("name,resnet50\nA100,5\nA100,5\n", "a.csv:3: 'A100' is given twice"),
        ("name,resnet50\nA100,5,6\n", "a.csv:2: 3 cells, but the header has 2"),
        ("name,num_gpu,resnet50\nA100,one,5\n", "a.csv:2: num_gpu: 'one' is no count"),
        ("name,ssd\nA100,5\n", "a.csv:1: no column is known; known are resnet50"),
        ("name,resnet50,resnet50\nA100,5,6\n", "a.csv:1: a column is given twice"),
        ("name,resnet50\nA100,0\n", "a.csv: no row has a rate in a column that is known"),
    ],
)
def test_fault_is_named_with_its_line(text: str, problem: str, tmp_path: Path) -> None:
    imported = read(tmp_path, {"a.csv": text}, {"a/A100": "a100", "*/RTX 3090": "rtx-3090"}, {"resnet50": "resnet50"})
    assert problem in [str(found) for found in imported.problems]


def test_broken_table_of_batch_sizes_refuses_its_table(tmp_path: Path) -> None:
    imported = read(tmp_path, {"throughput-fp16.csv": FP16, "bs-fp16.csv": "name,ssd\nA100,5,6\n"})
    assert str(imported.problems[0]) == (
        "throughput-fp16.csv: bs-fp16.csv, its batch sizes, line 2: 3 cells, but the header has 2"
    )


def test_name_that_no_row_has_is_refused(tmp_path: Path) -> None:
    imported = read(tmp_path, {"throughput.csv": "name,resnet50\nRTX 3090,1\n"})
    assert [str(problem) for problem in imported.problems] == [
        f"{name}: is in the mapping, but no row has such a name"
        for name in ("*/2x RTX 3090", "*_1xA100_*", "*_2xA100_*")
    ]


# Lambda's own tables

FACTS = definition.ROOT / STUDY["import"]["facts"]
needs_tables = pytest.mark.skipif(
    published() is None or not (published() / "lambda").is_dir(),
    reason="Lambda's tables are not here: set EPOCHS_PUBLISHED_DIR to the folder that holds them in lambda/",
)


def lambdas() -> Imported:
    about = STUDY["import"]
    layout = Layout(about["hardware"], about["framework"], columns=about["columns"])
    return importers.importer(about["format"]).read(published() / "lambda", layout)


@needs_tables
def test_committed_facts_are_those_of_the_tables_byte_for_byte(tmp_path: Path) -> None:
    imported = lambdas()
    assert imported.problems == []
    facts.write(facts.in_order(imported.runs, STUDY), tmp_path / "facts.csv")
    assert (tmp_path / "facts.csv").read_bytes() == FACTS.read_bytes()


@needs_tables
def test_files_that_are_fetched_beside_the_tables_are_these() -> None:
    for name, sha256 in STUDY["import"]["also"].items():
        assert hashlib.sha256((published() / "lambda" / name).read_bytes()).hexdigest() == sha256


@pytest.mark.parametrize(
    ("hardware", "precision", "batch_size", "rates"),
    [
        ("v100-16gb", "float32", 128, [369]),
        ("v100-16gb", "float16", 256, [833]),
        ("a100-80gb-sxm4", "float16", 1280, [1582]),
        ("h100-80gb-sxm5", "float32", 640, [1753, 1893, 1893, 1893, 1898, 1894]),
        ("b200-192gb", "float32", None, [2967]),
    ],
)
def test_facts_are_the_printed_rates(hardware: str, precision: str, batch_size: int | None, rates: list[int]) -> None:
    table = facts.read(FACTS)
    size = table["batch_size"].isna() if batch_size is None else table["batch_size"].eq(batch_size).fillna(False)
    rows = table[
        table["workload"].eq("resnet50") & table["hardware"].eq(hardware) & table["precision"].eq(precision) & size
    ]
    assert rows["samples_per_second"].to_list() == rates
    assert rows["repeat"].to_list() == list(range(1, len(rates) + 1))


@needs_tables
def test_machines_are_those_of_the_tables() -> None:
    """Cards, price and watts stand in the study by hand: they are held against the rows that the machine is made of."""
    table = pd.read_csv(published() / "lambda" / "pytorch-train-throughput-fp16.csv").set_index("name_gpu")
    rows = facts.read(FACTS).query("file == 'pytorch-train-throughput-fp16.csv'")
    for hardware, group in rows.groupby("hardware"):
        machine = STUDY["machines"][hardware]
        for name in group["run"].str.extract("#(.*)/")[0].unique():
            own = machine["own"]
            assert (own["acquisition_usd"], own["power_watts"]) == (table["price"][name], table["watt"][name])
            assert machine["gpus"]["count"] == table["num_gpu"][name]
            card = machine["gpus"]["model"].replace(" ", "").removesuffix("SXM5")
            assert card in name.replace(" ", ""), f"{name} as {hardware}"
    assert sorted(rows["hardware"].unique()) == sorted(n for n, about in STUDY["machines"].items() if "own" in about)


def test_machines_have_the_cards_that_their_runs_used() -> None:
    table = facts.read(FACTS)
    counts = {name: about["gpus"]["count"] for name, about in STUDY["machines"].items()}
    assert (table["hardware"].map(counts) == table["devices"]).all()
    assert set(table["hardware"]) == set(counts)


def test_what_cannot_be_is_a_finding_of_the_audit() -> None:
    """Lambda's tables have 1.3e10 samples/s of NCF on several cards, and zeros for what was not run."""
    table = facts.read(FACTS)
    assert (table["samples_per_second"] > 0).all()
    found = audit.findings(table, cards=definition.cards(STUDY["machines"])).query("kind == 'above linear scaling'")
    assert found["workload"].value_counts().to_dict() == {"ncf": 9, "bert_base_squad": 6, "bert_large_squad": 1}
    (most,) = found.query("workload == 'ncf' and hardware == 'h100-80gb-sxm5-x4'")["message"]
    assert most.startswith("42.2 x what 4 single cards do: 11,851,282,824 samples/s with 4 H100 80 GB SXM5 in float16")
    assert set(table["workload"]) == set(STUDY["import"]["columns"].values())
    pd.testing.assert_series_equal(
        table["sha256"].str.len(), pd.Series(64, table.index, name="sha256"), check_dtype=False
    )
