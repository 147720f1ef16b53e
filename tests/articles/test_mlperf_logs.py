"""Rounds of MLPerf Training become results: what a folder of them, or an archive, says."""

import json
import tarfile
from pathlib import Path

import pandas as pd
import pytest

from scripts.articles.mlperf import logs, results
from scripts.storage import tables
from scripts.storage.errors import InputError
from scripts.studies import definition
from tests.importers.formats.test_mllog import run
from tests.importers.test_published import published

CARDS = logs.read_cards()
SYSTEM = {
    "division": "closed",
    "status": "Available on-premise",
    "number_of_nodes": "2",
    "accelerators_per_node": "8",
    "accelerator_model_name": "NVIDIA H100-SXM5-80GB",
    "host_processor_model_name": "AMD EPYC",
    "framework": "PyTorch",
}


def write(folder: Path, *minutes: float | None, benchmark: str = "bert", folder_name: str | None = None) -> None:
    """Write a result of a run each; None is one that was aborted."""
    place = folder / "v3.0" / "Maker" / "results" / "box" / (folder_name or benchmark)
    place.mkdir(parents=True)
    for number, one in enumerate(minutes):
        lines = run(stop=60 * (one or 1), status="success" if one else "aborted", benchmark=benchmark)
        (place / f"result_{number}_2023.txt").write_text("\n".join(lines))
    systems = folder / "v3.0" / "Maker" / "systems"
    systems.mkdir(exist_ok=True)
    (systems / "box.json").write_text(json.dumps(SYSTEM))


def test_result_has_the_seconds_of_each_run_and_what_its_system_is(tmp_path: Path) -> None:
    write(tmp_path, 2.0, None, 1.5)
    table, problems = logs.read(tmp_path, CARDS)
    (row,) = table.to_dict("records")
    assert problems == []
    assert (row["round"], row["submitter"], row["system"], row["benchmark"]) == ("v3.0", "Maker", "box", "bert")
    assert row["seconds"] == "120 x 90"
    assert (row["card"], row["accelerators"], row["nodes"]) == ("h100", 16, 2)
    assert (row["division"], row["availability"], row["factor"]) == ("closed", "on-premise", 1.0)
    assert (row["init_seconds"], row["batch_size"]) == (7.0, 256)


def test_archive_says_the_same_as_its_folder(tmp_path: Path) -> None:
    write(tmp_path / "folder", 2.0, 1.5)
    packed = tmp_path / "packed"
    packed.mkdir()
    with tarfile.open(packed / "v3.0.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "folder" / "v3.0", "v3.0")
    pd.testing.assert_frame_equal(logs.read(tmp_path / "folder", CARDS)[0], logs.read(packed, CARDS)[0])


def test_written_table_is_read_as_it_was(tmp_path: Path) -> None:
    write(tmp_path, 2.0, None)
    table, _ = logs.read(tmp_path, CARDS)
    table.to_csv(tmp_path / "results.csv", index=False)
    pd.testing.assert_frame_equal(results.read(tmp_path / "results.csv"), table)


def test_factor_of_a_score_stands_beside_the_logs_or_in_one_table(tmp_path: Path) -> None:
    write(tmp_path, 2.0)
    (tmp_path / "scaling.csv").write_text("round,submitter,system,benchmark,factor\nv3.0,Maker,box,bert,1.25\n")
    assert logs.read(tmp_path, CARDS)[0]["factor"].to_list() == [1.25]
    beside = tmp_path / "v3.0" / "Maker" / "results" / "box" / "bert" / "scaling.json"
    beside.write_text('{"scaling_factor": 1.5}')
    assert logs.read(tmp_path, CARDS)[0]["factor"].to_list() == [1.5]


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("results/result_0.txt", "", " passed over: must lie in <submitter>/results/<system>/"),
        ("Maker/results/result_0.txt", "", " passed over: must lie in <submitter>/results/<system>/"),
        ("Maker/scaling.json", '{"scaling_factor": 2}', " passed over: must lie in <submitter>/results/<system>/"),
        ("Maker/results/box/bert/scaling.json", "x", "1: passed over: broken JSON: Expecting value"),
        *(
            ("Maker/results/box/bert/scaling.json", text, " passed over: scaling_factor: must be a number above 0")
            for text in ('{"x": 1}', "7", '{"scaling_factor": null}', '{"scaling_factor": NaN}')
        ),
    ],
)
def test_file_that_says_nothing_is_named_and_the_rest_is_read(path: str, text: str, said: str, tmp_path: Path) -> None:
    write(tmp_path, 2.0)
    (tmp_path / "v3.0" / path).parent.mkdir(exist_ok=True)
    (tmp_path / "v3.0" / path).write_text(text)
    table, problems = logs.read(tmp_path, CARDS)
    assert table[["seconds", "factor"]].to_numpy().tolist() == [["120", 1.0]]
    assert [str(problem) for problem in problems] == [f"v3.0/{path}:{said}"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "round,submitter,system,factor\nv3.0,Maker,box,2\n",
            "column benchmark is missing; needed are round, submitter",
        ),
        ("round,submitter,system,benchmark,factor\nv3.0,Maker,box,bert,two\n", "no table of factors: "),
        ("", "no table of factors: "),
    ],
)
def test_broken_table_of_factors_is_refused(text: str, said: str, tmp_path: Path) -> None:
    write(tmp_path, 2.0)
    (tmp_path / "scaling.csv").write_text(text)
    with pytest.raises(InputError, match=rf"scaling\.csv: {said}"):
        logs.read(tmp_path, CARDS)


def test_logs_of_another_benchmark_than_their_folder_are_nobodys(tmp_path: Path) -> None:
    write(tmp_path, 2.0, benchmark="bert", folder_name="resnet")
    table, problems = logs.read(tmp_path, CARDS)
    assert table["benchmark"].to_list() == [""]
    assert str(problems[0]) == "v3.0/Maker/box/resnet: the folder says resnet, its logs say bert"


@pytest.mark.parametrize(("folder", "benchmark"), [("mask", "maskrcnn"), ("gnn", "rgat"), ("ssd", "ssd")])
def test_benchmarks_of_two_names_have_one(tmp_path: Path, folder: str, benchmark: str) -> None:
    write(tmp_path, 2.0, benchmark=folder if folder != "ssd" else "retinanet", folder_name=folder)
    table, problems = logs.read(tmp_path, CARDS)
    assert (table["benchmark"].to_list(), problems) == ([benchmark], [])


def test_log_that_breaks_off_counts_as_a_failed_run(tmp_path: Path) -> None:
    write(tmp_path, 2.0, 2.0)
    log = tmp_path / "v3.0/Maker/results/box/bert/result_1_2023.txt"
    log.write_text("\n".join(log.read_text().splitlines()[:-1]))
    table, problems = logs.read(tmp_path, CARDS)
    assert table["seconds"].to_list() == ["120 x"]
    assert "counts as failed: the run that begins in line 1 has no run_stop" in str(problems[0])


@pytest.mark.parametrize(
    ("described", "system", "card", "accelerators"),
    [
        ("NVIDIA H100-SXM-80GB", "x", "h100", None),
        ("NVIDIA H100 80GB HBM3", "x", "h100", None),
        ("NVIDIA H100-SXM5-96GB", "x", "h100-96gb", None),
        ("NVIDIA H100-PCIe", "x", "h100-pcie", None),
        ("NVIDIA Blackwell GPU (GB200)", "x", "gb200", None),
        ("NVIDIA Blackwell GPU (B200-SXM-180GB)", "x", "b200", None),
        ("NVIDIA Blackwell GPU", "1xXE9712x4GB200", "gb200", None),
        ("NVIDIA A100-SXM4-80GB (400W)", "x", "a100-80gb", None),
        ("NVIDIA A100 - PCIe - 80 GB", "x", "a100-pcie-80gb", None),
        ("NVIDIA A100", "x", "", None),
        ("NVIDIA A30", "x", "a30", None),
        ("", "submission/dgx2h_ngc18.11_mxnet", "v100-450w", 16),
        ("", "dgx1_n130_ngc19.05_mxnet", "v100", 1040),
        ("", "submission/dgx1_multi_ngc18.11_mxnet", "v100", None),
        ("", "tpu-v3-1024", "tpu-v3", 512),
        ("TPU", "tpu-v4-128-TF", "tpu-v4", 64),
        ("", "cloud_v2.512/resnet-tpuv2-512/tpu", "tpu-v2", 256),
        ("TPU-trillium", "cloud-tpu-trillium-256", "tpu-v6e", 256),
        ("", "1-node-SPR-pytorch", "cpu", None),
    ],
)
def test_card_and_number_are_read_from_the_words_or_not_at_all(
    described: str, system: str, card: str, accelerators: int | None
) -> None:
    assert (CARDS.name(described, system), CARDS.count(system)) == (card, accelerators)


def test_bare_name_of_a_card_is_known_by_its_memory_and_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Inspur's NF5488 of v0.7 has it."""
    described = {"accelerator_memory_capacity": "40G", "accelerator_interconnect": "NVLink 600 GB/s"}
    monkeypatch.setitem(SYSTEM, "accelerator_model_name", "NVIDIA A100")
    for key, value in described.items():
        monkeypatch.setitem(SYSTEM, key, value)
    write(tmp_path, 2.0)
    assert logs.read(tmp_path, CARDS)[0]["card"].to_list() == ["a100-40gb"]


def test_garbled_line_is_named_and_its_run_counts(tmp_path: Path) -> None:
    write(tmp_path, 2.0)
    (path,) = tmp_path.rglob("result_0_2023.txt")
    lines = path.read_text().split("\n")
    path.write_text("\n".join([*lines[:3], ':::MLLOG {"key": "train_sam:::MLLOG {"key": "x"}', *lines[3:]]))
    table, problems = logs.read(tmp_path, CARDS)
    assert table["seconds"].to_list() == ["120"]
    assert [(one.line, one.message.partition(":")[0]) for one in problems] == [(4, "passed over")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"accelerators_per_node": 8, "number_of_nodes": 1.0,}', ("8", "1.0")[:1]),
        ("""entry: {"value": "{'nodes': \\"{'num_accelerators': '16', 'num_nodes': '1'}\\"}"}""", ("16",)),
    ],
)
def test_description_with_a_fault_is_read_as_far_as_it_goes(text: str, expected: tuple[str, ...]) -> None:
    found = logs._description(text.replace("8,", '"8",').encode())
    assert found["per_node"] == expected[0]


def test_folder_without_rounds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no folder or archive of a round"):
        logs.read(tmp_path, CARDS)


@pytest.mark.slow
@pytest.mark.skipif(
    published() is None or not (published() / "mlperf").is_dir(),
    reason="the logs of MLPerf are not here: set EPOCHS_PUBLISHED_DIR to a folder with them in mlperf/",
)
def test_committed_results_are_those_of_the_logs() -> None:
    table, _ = logs.read(published() / "mlperf", CARDS)
    study = definition.read("mlperf", {})[1]
    committed = (definition.ROOT / study["mlperf"]["results"]).read_text()
    assert table.to_csv(index=False, lineterminator="\n") == committed


def test_results_come_back_as_written_and_hold_no_formula(tmp_path: Path) -> None:
    committed = definition.ROOT / "reports" / "published" / "results" / "mlperf.csv"
    table = results.read(committed)
    assert tables.to_csv(table) == committed.read_text()
    evil = table.iloc[:1].assign(submitter="=cmd|' /C calc'!A0", framework="@SUM(A1)")
    (tmp_path / "results.csv").write_text(tables.to_csv(evil))
    assert "'=cmd" in (tmp_path / "results.csv").read_text()
    (row,) = results.read(tmp_path / "results.csv")[["submitter", "framework"]].values.tolist()
    assert row == ["=cmd|' /C calc'!A0", "@SUM(A1)"]
