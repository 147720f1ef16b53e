"""What W&B and MLflow write while a training runs, read as they wrote it."""

import base64
import os
import sqlite3
import struct
import time
from pathlib import Path

import pytest
from epochs_per_dollar.files import Files

#: What wandb 0.31 wrote in mode offline: the head of its file, and the records of the first three steps.
WANDB = base64.b64decode(
    "OlcmQuG+ANQbe09dAAEICRpZCgsSBV9zdGVwggEBMAoKEgRsb3NzggEBMQokEgpfdGltZXN0YW1wggEVMS43OTU1NzUyMzczMTc0NjdlKzA5ChgS"
    "CF9ydW50aW1lggELMC4zMTgxMDE1NjZxnDRhXwABCAoSWwoKEgRsb3NzggEBMQokEgpfdGltZXN0YW1wggEVMS43OTU1NzUyMzczMTc0NjdlKzA5"
    "ChgSCF9ydW50aW1lggELMC4zMTgxMDE1NjYKCxIFX3N0ZXCCAQEwEgDy0fUQKwABCAsaJwoVEgZfd2FuZGISB3J1bnRpbWWCAQEwCg4KCF9ydW50"
    "aW1lggEBMLG/LCheAAEIDBpaCgwSBGxvc3OCAQMwLjUKIxIKX3RpbWVzdGFtcIIBFDEuNzk1NTc1MjM3NDA1MzJlKzA5ChgSCF9ydW50aW1lggEL"
    "MC4zMjQ4NjQwOTUKCxIFX3N0ZXCCAQExy6mLeWIAAQgNEl4KDBIEbG9zc4IBAzAuNQojEgpfdGltZXN0YW1wggEUMS43OTU1NzUyMzc0MDUzMmUr"
    "MDkKGBIIX3J1bnRpbWWCAQswLjMyNDg2NDA5NQoLEgVfc3RlcIIBATESAggBZ0y5WCsAAQgOGicKFRIGX3dhbmRiEgdydW50aW1lggEBMAoOCghf"
    "cnVudGltZYIBATCVhLEpbgABCA8aagobEgRsb3NzggESMC4zMzMzMzMzMzMzMzMzMzMzCiUSCl90aW1lc3RhbXCCARYxLjc5NTU3NTIzNzQxNDE0"
    "MTJlKzA5ChcSCF9ydW50aW1lggEKMC4zMzM2MDE2MQoLEgVfc3RlcIIBATKflIDPcgABCBASbgolEgpfdGltZXN0YW1wggEWMS43OTU1NzUyMzc0"
    "MTQxNDEyZSswOQoXEghfcnVudGltZYIBCjAuMzMzNjAxNjEKCxIFX3N0ZXCCAQEyChsSBGxvc3OCARIwLjMzMzMzMzMzMzMzMzMzMzMSAggC"
)

#: Its bytes from 32,668 on, where a step lies across the end of a block.
ACROSS = base64.b64decode(
    "4XjGxF0AAgjNAhpuCg0SBV9zdGVwggEDMTA4Ch0SBGxvc3OCARQwLjAwOTE3NDMxMTkyNjYwNTUwNQokEgpfdGltZXN0YW1wggEVMS43OTU1NzUy"
    "MzgxMDE3MDllKzA5ChgSCMas0EUWAARfcnVudGltZYIBCzEuMDIwODkyNzky3C7iqncAAQjOAhJyCg0SBV9zdGVwggEDMTA4Ch0SBGxvc3OCARQw"
    "LjAwOTE3NDMxMTkyNjYwNTUwNQokEgpfdGltZXN0YW1wggEVMS43OTU1NzUyMzgxMDE3MDllKzA5ChgSCF9ydW50aW1lggELMS4wMjA4OTI3OTIS"
    "AghsdVi8lSwAAQjPAhonChUSBl93YW5kYhIHcnVudGltZYIBATEKDgoIX3J1bnRpbWWCAQExeoCt1nMAAQjQAhpuChgSCF9ydW50aW1lggELMS4w"
    "MzM0MDQyMDIKDRIFX3N0ZXCCAQMxMDkKHBIEbG9zc4IBEzAuMDA5MDkwOTA5MDkwOTA5MDkKJRIKX3RpbWVzdGFtcIIBFjEuNzk1NTc1MjM4MTE0"
    "MTIzOGUrMDnVsLHHdwABCNECEnIKHBIEbG9zc4IBEzAuMDA5MDkwOTA5MDkwOTA5MDkKJRIKX3RpbWVzdGFtcIIBFjEuNzk1NTc1MjM4MTE0MTIz"
    "OGUrMDkKGBIIX3J1bnRpbWWCAQsxLjAzMzQwNDIwMgoNEgVfc3RlcIIBAzEwORICCG0="
)

BEGAN = 1795575200.0


def steps(files: Files, at: float = 10.0) -> list[float]:
    return [tick.done for _, tick in files.look(at)]


def test_steps_of_wandb_have_their_own_times(tmp_path: Path) -> None:
    place = tmp_path / "wandb" / "offline-run-20261125_025356-w3e44oge" / "run-w3e44oge.wandb"
    place.parent.mkdir(parents=True)
    place.write_bytes(WANDB)
    found = list(Files(tmp_path, BEGAN).look(10))
    assert [tick.done for _, tick in found] == [0, 1, 2]
    assert found[0][0] == pytest.approx(37.317467)
    assert {tick.source for _, tick in found} == {"W&B's file"}


@pytest.mark.parametrize("cut", range(1, len(WANDB), 23))
def test_a_run_of_wandb_that_is_half_written_comes_with_the_next_look(tmp_path: Path, cut: int) -> None:
    place = tmp_path / "run-w3e44oge.wandb"
    place.write_bytes(WANDB[:cut])
    files = Files(tmp_path, BEGAN)
    before = steps(files)
    place.write_bytes(WANDB)
    assert before + steps(files, 20) == [0, 1, 2]


@pytest.mark.parametrize("cut", [None, 32_700, 32_768, 32_780])
def test_a_step_may_lie_across_two_blocks(tmp_path: Path, cut: int | None) -> None:
    """What comes before is one record of zeros."""
    length = 32_668 - 7 - 7
    whole = WANDB[:7] + struct.pack("<IHB", 0, length, 1) + bytes(length) + ACROSS
    place = tmp_path / "run.wandb"
    place.write_bytes(whole[:cut])
    files = Files(tmp_path, BEGAN)
    found = steps(files)
    place.write_bytes(whole)
    found += steps(files, 20)
    assert found == [108, 109]


def test_metrics_of_a_folder_of_mlflow(tmp_path: Path) -> None:
    """As mlflow 3.17 writes them: milliseconds, value, step."""
    place = tmp_path / "mlruns" / "1" / "0a1b" / "metrics" / "loss"
    place.parent.mkdir(parents=True)
    place.write_text("1795575251397 1.0 0\n1795575251450 1.0 10\n17955752515")
    files = Files(tmp_path, BEGAN)
    assert [(round(seconds, 3), tick.done) for seconds, tick in files.look(10)] == [(51.397, 0), (51.45, 10)]
    with place.open("a") as file:
        file.write("06 1.0 20\n")
    assert steps(files, 20) == [20]


def test_metrics_of_a_database_of_mlflow(tmp_path: Path) -> None:
    """Its table as mlflow 3.17 makes it; what another run had logged before is none of this one."""
    began = time.time() - 5
    with sqlite3.connect(tmp_path / "mlflow.db") as known:
        known.execute(
            'CREATE TABLE "metrics" ("key" VARCHAR(250) NOT NULL, value FLOAT NOT NULL, timestamp BIGINT NOT NULL, '
            "run_uuid VARCHAR(32) NOT NULL, step BIGINT DEFAULT '0' NOT NULL, is_nan BOOLEAN DEFAULT '0' NOT NULL)"
        )
        rows = [("loss", -60, 900), ("loss", 1, 0), ("system/cpu", 1.5, 7), ("loss", 2, 10), ("loss", 3, 20)]
        known.executemany(
            "INSERT INTO metrics VALUES (?, 1.0, ?, 'a', ?, 0)",
            [(key, int((began + seconds) * 1000), step) for key, seconds, step in rows],
        )
    files = Files(tmp_path, began)
    found = list(files.look(10))
    assert [tick.done for _, tick in found] == [0, 10, 20]
    assert [seconds for seconds, _ in found] == pytest.approx([1, 2, 3], abs=0.01)
    os.utime(tmp_path / "mlflow.db")
    assert steps(files, 20) == []


@pytest.mark.parametrize("name", ["run-1.wandb", "mlflow.db", "mlruns/1/2/metrics/loss"])
def test_what_is_no_such_store_is_no_progress(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_bytes(os.urandom(2000) + b"\n\xff {[ step\n")
    files = Files(tmp_path, time.time() - 5)
    assert steps(files) == steps(files, 20) == []
