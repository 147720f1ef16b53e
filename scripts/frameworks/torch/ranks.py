"""The tuned loop over several devices: a process each, the ranks of one team, the first of them this one."""

import ctypes
import multiprocessing
import pickle
import signal
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from scripts.frameworks import Unsupported, UnsupportedDevice, hide_others
from scripts.frameworks._model import own_steps
from scripts.frameworks.torch.device import set_precision
from scripts.frameworks.torch.loop import Steps

_PR_SET_PDEATHSIG = 1

#: What a process says that has the model and the samples.
_READY = "ready"


def _backend() -> str:
    import torch

    return "nccl" if torch.cuda.is_available() else "gloo"


@dataclass(frozen=True)
class _Team:
    """What a rank must know to join: numbers, folder, how the first one is set."""

    devices: int
    folder: Path
    batch_size: int
    tuned: bool
    threads: int
    precision: str
    seed: int

    def meet(self, rank: int) -> None:
        import torch

        meeting = (self.folder / "meeting").as_uri()
        torch.distributed.init_process_group(_backend(), init_method=meeting, rank=rank, world_size=self.devices)


def _serve(team: _Team, rank: int, pipe: Connection) -> None:
    """Be the rank of a team: do what comes through the pipe until it closes."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    hide_others("torch")
    import keras
    import torch

    torch.set_num_threads(team.threads)
    set_precision(team.precision)
    if torch.cuda.is_available():
        torch.cuda.set_device(rank)
    try:
        model = keras.models.load_model(team.folder / "model.keras")
    except Exception as error:  # a class or a function of the workload's own file, most often
        pipe.send(" ".join(f"{type(error).__name__}: {error}".split())[:300])
        return
    with (team.folder / "samples.pickle").open("rb") as file:
        x, y = pickle.load(file)
    keras.utils.set_random_seed(team.seed + rank)
    pipe.send(_READY)
    team.meet(rank)
    steps = Steps(model, x, y, None, team.batch_size, rank, team.devices, False, team.tuned)
    while True:
        try:
            name, *arguments = pipe.recv()
        except EOFError:
            return
        getattr(steps, name)(*arguments)


def _dismiss(processes: list, pipes: list[Connection], folder: TemporaryDirectory) -> None:
    """Stop the other ranks."""
    import torch

    for pipe in pipes:
        pipe.close()
    for process in processes:
        process.join(10)
        process.kill()
    torch.distributed.destroy_process_group()
    folder.cleanup()


class Loop(Steps):
    """Keras's step as one compiled graph; `tuned=False` is the loop of Keras's guide, for stock on several devices.

    Several devices have a process each, this one the first; `close` stops the others.
    """

    def __init__(self, model, x, y, validation, batch_size, devices=1, sparse=False, tuned=True):
        self._pipes: list[Connection] = []
        self.close: Callable[[], object] = lambda: None
        if devices > 1:
            own_steps(model, devices, sparse)  # refused before anything is started
            self._start(model, x, y, batch_size, devices, tuned)
        super().__init__(model, x, y, validation, batch_size, 0, devices, sparse, tuned)

    def _start(self, model, x, y, batch_size: int, devices: int, tuned: bool) -> None:
        import keras
        import torch

        if any(getattr(loss, "reduction", "") == "sum" for loss in keras.tree.flatten(model.loss)):
            raise Unsupported("a loss that is a sum: the mean over the devices would be taken of it")
        if batch_size % devices:
            raise Unsupported(f"a batch of {batch_size} cannot be split evenly over {devices} devices")
        if torch.cuda.is_available() and torch.cuda.device_count() < devices:
            raise UnsupportedDevice(f"{devices} devices asked for, torch sees {torch.cuda.device_count()}")
        precision = "float32" if torch.get_float32_matmul_precision() == "highest" else "tf32"
        context = multiprocessing.get_context("spawn")
        processes = []
        # Kept to the end: the ranks meet in a file of it, and may do so again.
        folder = TemporaryDirectory()
        root = Path(folder.name)
        model.save(root / "model.keras")
        with (root / "samples.pickle").open("wb") as file:
            pickle.dump((x, y), file, pickle.HIGHEST_PROTOCOL)
        threads, seed = torch.get_num_threads(), torch.initial_seed() % 2**31
        team = _Team(devices, root, batch_size, tuned, threads, precision, seed)
        for rank in range(1, devices):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(team, rank, theirs), daemon=True)
            process.start()
            theirs.close()
            processes.append(process)
            self._pipes.append(ours)
        for rank, pipe in enumerate(self._pipes, 1):
            try:
                answer = pipe.recv()
                if answer != _READY:
                    raise Unsupported(f"the process of device {rank} cannot load the model: {answer}")
            except EOFError:
                raise RuntimeError(f"the process of device {rank} ended while it started") from None
        (root / "model.keras").unlink()
        (root / "samples.pickle").unlink()
        team.meet(0)
        self.close = weakref.finalize(self, _dismiss, processes, self._pipes, folder)

    def _send(self, *call) -> None:
        for pipe in self._pipes:
            pipe.send(call)

    def compile(self) -> None:
        self._send("compile")
        super().compile()
        if self._devices > 1:
            how = "gradients sent as one" if self._tuned else "DistributedDataParallel"
            self.settings["devices"] = f"{how} over {_backend()}, a process each"

    def begin(self, order: np.ndarray) -> None:
        self._send("begin", order)
        super().begin(order)

    def steps(self, first: int, last: int) -> None:
        self._send("steps", first, last)
        super().steps(first, last)

    def rest(self) -> None:
        self._send("rest")
        super().rest()

    def finish(self) -> dict[str, float]:
        self._send("finish")
        return super().finish()
