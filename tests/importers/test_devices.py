"""How many cards trained together: what programs print and what files of arguments hold."""

from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from scripts.importers import Layout, _devices
from scripts.importers._devices import Devices
from scripts.importers.formats import console

STEPS = "step 1 loss 2.0 dt: 250ms\nstep 2 loss 1.0 dt: 250ms\n"


@pytest.mark.parametrize(
    ("text", "cards"),
    [
        ("WORLD_SIZE=64", 64),
        ("using world size: 16, data-parallel size: 8", 16),
        ("  world_size ................... 8", 8),
        ("| num_processes         | 8          |", 8),
        ("Training in distributed mode, 1 device per process. Process 0, total 8, device cuda:0.", 8),
        ("Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/4", 4),
        ("torchrun --nproc_per_node=8 --nnodes=4 train.py", 32),
        ("torchrun --nproc-per-node 8 train.py", 8),
        ("#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8", 16),
        ("#SBATCH --gres=gpu:a100:4", 4),
        ("gpus: 8\nnum_nodes: 1", 8),
        ("Namespace(world_size=1, gpu=0, ngpus_per_node=8)", 8),
        ("CUDA_VISIBLE_DEVICES=0,1,2 python train.py", 3),
        ("Training on 8 GPUs", 8),
        ("distributed_world_size=4", 4),
        ("Batch (t): 6.000, 2730.67/s, 341.33/s/gpu", 8),
        (
            "  Instantaneous batch size per device = 8\n"
            "  Total train batch size (w. parallel, distributed & accumulation) = 128\n"
            "  Gradient Accumulation steps = 2\n",
            8,
        ),
        ("device: cuda:0, gpu=3, GPU: 1.5 GB, gpu 80%, gpus: 0,1", None),
        ("step 5 gpu_mem: 8 devices_seen 4", None),
    ],
)  # fmt: skip
def test_a_log_may_print_them(text: str, cards: int | None) -> None:
    found = _devices.of_text(text)
    assert (found.cards if found else None) == cards


def test_a_line_of_digits_is_gone_through_once() -> None:
    """From each digit to the last it took a minute for 40,000."""
    assert _devices.of_text(f"{'0' * 200_000}\n2730.67/s, 341.3/s/gpu\n") == Devices(8, "2730.67/s, 341.3/s/gpu")


@pytest.mark.parametrize(
    ("settings", "cards"),
    [
        ({"trainer": {"devices": 8, "num_nodes": 4}}, 32),
        ({"gpus": [0, 1]}, 2),
        ({"gpus": "0,1,2"}, 3),
        ({"num_gpus": {"value": "8"}}, 8),
        ({"world_size": 64, "ngpus_per_node": 8, "num_nodes": 8}, 64),
        ({"devices": "auto", "gpus": -1, "gpu": 3, "lr": 8}, None),
        ({"gpus": 0}, None),
    ],
)
def test_parameters_may_name_them(settings: dict[str, Any], cards: int | None) -> None:
    found = _devices.of_settings(settings)
    assert (found.cards if found else None) == cards


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("run/args.yaml", "lr: 0.1\ngpus: 8\n", Devices(8, "gpus: 8 in args.yaml")),
        ("run/config.json", '{"trainer": {"n_devices": 4}}', Devices(4, "n_devices: 4 in config.json")),
        ("run/train.sh", "torchrun --nproc_per_node=8 a.py", Devices(8, "--nproc_per_node=8 in train.sh")),
        ("run/.hydra/config.yaml", "num_gpus: 2", Devices(2, "num_gpus: 2 in config.yaml")),
        ("hparams.yaml", "a: !!python/object:x.Y {}\nnum_gpus: 2", Devices(2, "num_gpus: 2 in hparams.yaml")),
        ("run/config.json", "{broken", None),
        ("run/notes.md", "gpus: 8", None),
    ],
)
def test_files_of_arguments_beside_a_log_may_name_them(
    file: str, text: str, said: Devices | None, tmp_path: Path
) -> None:
    log = "version_0/out.log" if "/" not in file else "run/out.log"
    for name, content in ((file, text), (log, STEPS)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    assert _devices.beside(tmp_path, PurePosixPath(log)) == said


def test_cards_that_are_named_are_those_of_the_run_and_it_says_by_what(tmp_path: Path) -> None:
    (tmp_path / "out.log").write_text("WORLD_SIZE=64\n" + STEPS)
    (row,) = console.read(tmp_path, Layout({".": "box"}, {".": "torch"}, workload="gpt")).runs.to_dict("records")
    assert (row["devices"], row["remarks"]) == (64, "64 cards, by WORLD_SIZE=64")
