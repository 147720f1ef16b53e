"""The tuned loop within one process: its steps by graphs, its state, the means of its epochs."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from scripts.frameworks import Unsupported
from scripts.frameworks._model import named, own_steps, states
from scripts.frameworks.torch.graph import capture, compile_graph, out_of_memory
from scripts.frameworks.torch.host import flush_denormals, keep_memory
from scripts.frameworks.torch.kernels import fast_kernels
from scripts.frameworks.torch.sparse import LAZY, lazy_rows
from scripts.frameworks.torch.steps import KerasSteps, held
from scripts.frameworks.torch.tables import Tables
from scripts.workloads import Samples


class Steps:
    """The training steps of one process: of whole batches, or of its rank's part of each.

    Args:
        model: a compiled Keras model.
        x, y: all training samples as arrays or trees of arrays, the first axis is the samples.
        validation: `(x, y)` or None.
        batch_size: samples of a step over all devices.
        rank: number of this process, from 0.
        devices: number of processes.
        sparse: move only those rows of an embedding that the batch looks up.
        tuned: by graphs; else layer by layer as in Keras's guide.
    """

    def __init__(
        self,
        model,
        x: Samples,
        y: Samples,
        validation: tuple[Samples, Samples] | None,
        batch_size: int,
        rank: int,
        devices: int,
        sparse: bool,
        tuned: bool,
    ):
        import keras
        import torch

        self.settings: dict[str, str] = {}
        self._model, self._batch_size, self._rank, self._devices = model, batch_size, rank, devices
        self._tuned = tuned
        self._own = own_steps(model, devices, sparse)
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        if tuned and self._device == "cpu":
            self.settings |= {"memory": "kept when freed"} if keep_memory() else {}
            self.settings |= {"denormals": "taken for zero"} if flush_denormals() else {}
        self._data = held((x, y), self._device)
        self._samples = len(self._data[0])
        self._validation = None if validation is None else held(validation, self._device)
        self._order = torch.arange(self._samples, device=self._device)
        self._graphs: dict[tuple[str, int], Callable] = {}
        self._steps = KerasSteps(model, (x, y), self._own, devices)
        # Of the size that a model may have fixed.
        model._symbolic_build(data_batch=self._steps.batch(leaf[: batch_size // devices] for leaf in self._data))
        if devices > 1 and not tuned:
            # All have loaded the same model.
            parallel = torch.nn.parallel.DistributedDataParallel(model, init_sync=False)
            self._steps = KerasSteps(model, (x, y), self._own, devices, parallel)
        self._tables = self._embeddings() if sparse else []
        # An optimiser that looks at the gradients on the host, and one that waits for other processes, stand apart.
        self._scaled = isinstance(model.optimizer, keras.optimizers.LossScaleOptimizer)
        self._whole = "train_step" in self._own or (devices == 1 and not self._scaled)
        apart = tuned and self._whole and not sparse and "train_step" not in self._own
        self._large = self._steps.large = Tables(model, wanted=apart)

    def _embeddings(self) -> list:
        import keras

        optimiser = self._model.optimizer
        plain = not any(getattr(optimiser, name, None) for name in ("amsgrad", "centered", "momentum", "weight_decay"))
        if type(optimiser).__name__ not in LAZY or not plain or self._devices > 1 or not self._tuned:
            raise Unsupported("sparse updates are for tuned plain Adam or RMSprop on one device")
        layers = [layer for layer in self._model._flatten_layers() if isinstance(layer, keras.layers.Embedding)]
        if not layers:
            raise Unsupported("sparse updates are for models with an embedding")
        return [layer.embeddings for layer in layers if layer.trainable]

    def _run(self, name: str, size: int, *inputs):
        """Do the step of this name by its graph for batches of this size, or as Keras does where there is none."""
        import torch

        graph = self._graphs.get((name, size))
        if graph is not None:
            with torch.enable_grad():
                return graph(*inputs)
        with torch.no_grad(), fast_kernels() if self._tuned else nullcontext():
            return getattr(self._steps, name)(*inputs)

    def _train(self, first: int, last: int) -> None:
        """Train the samples `first` to `last` - 1 of the order."""
        chosen = self._order[first:last]
        if self._devices > 1:
            part = chosen.tensor_split(self._devices)[self._rank]
            self._steps.share = len(part) / len(chosen)
            chosen = part if len(part) else chosen[:1]  # a rank without samples still takes part
        batch = [leaf.index_select(0, chosen) for leaf in self._data]
        size = len(chosen) if self._steps.share else 0
        if self._tables:
            with lazy_rows(self._model.optimizer, self._tables):
                self._run("step", size, *batch)
        elif self._whole:
            self._large.write(self._run("step", size, *batch) or {})
        else:
            gradients = self._run("gradients", size, *batch)
            if self._devices > 1 and self._tuned:
                gradients = self._summed(gradients)
            self._run("update", 0, *gradients)

    def _summed(self, gradients: list) -> list:
        """Return the sum over the ranks of their shares of the gradients, sent as one."""
        import torch

        given = [gradient for gradient in gradients if gradient is not None]
        together = torch.cat([gradient.reshape(-1) for gradient in given]).mul_(self._steps.share)
        torch.distributed.all_reduce(together)
        parts = iter(together.split([gradient.numel() for gradient in given]))
        return [None if gradient is None else next(parts).view_as(gradient) for gradient in gradients]

    def compile(self) -> None:
        """Make the graphs of a whole batch and of the odd last one."""
        import torch

        self.settings |= {"loop": "one step per batch, samples on the device", "step": "Keras's, layer by layer"}
        if "train_step" in self._own:
            self.settings["step"] = "the model's own, layer by layer"
        if not self._tuned or self._tables:
            return
        variables = self._variables()
        # Tracing trains.
        before = [variable._value.detach().clone() for variable in variables]
        with torch.random.fork_rng(range(torch.cuda.device_count())):
            if "train_step" not in self._own:
                self._trace_training()
            if self._validation is not None and "test_step" not in self._own:
                self._trace_validation(self._validation)
        with torch.no_grad():
            for variable, value in zip(variables, before, strict=True):
                variable._value.copy_(value)

    def _trace_training(self) -> None:
        import torch

        self._model.train()
        for count in (self._batch_size, self._samples % self._batch_size):
            size = len(torch.arange(count).tensor_split(self._devices)[self._rank])
            if not 0 < size <= self._samples:
                continue
            batch = [leaf[:size].clone() for leaf in self._data]
            is_whole = count == self._batch_size
            if self._whole and (moved := self._trace("step", size, *batch, compiled=is_whole)) is not None:
                self._large.write(moved or {})
                if moved:
                    self.settings["embeddings"] = "rows of the batch apart, all others by a gradient of zero"
                continue
            # An optimiser that takes branches, for accumulated gradients or moving weights, stands apart.
            self._whole = False
            gradients = self._trace("gradients", size, *batch, compiled=is_whole)
            if gradients and not self._scaled:
                self._trace("update", 0, *gradients, compiled=is_whole)

    def _trace_validation(self, samples: list) -> None:
        self._model.eval()
        number = len(samples[0])
        for size in {min(self._batch_size, number), number % self._batch_size} - {0}:
            batch = [leaf[:size].clone() for leaf in samples]
            self._trace("test", size, *batch, compiled=size == self._batch_size)

    def _trace(self, name: str, size: int, *inputs, compiled: bool) -> Any:
        """Make the graph of a step for such inputs, run it once and return its results (empty for none).

        What cannot be traced, or is already, is None: it stays Keras's.
        """
        import torch

        if (name, size) in self._graphs:
            return None
        part = "step" if name in ("step", "gradients") else "validation" if name == "test" else name
        try:
            values = [variable._value for variable in self._variables()]
            graph, state = capture(getattr(self._steps, name), values, *inputs)
        except Exception as error:
            if exhausted := out_of_memory(error):
                raise exhausted from None
            self.settings[part] = f"Keras's, layer by layer ({type(error).__name__} while tracing)"
            return None
        run, how = compile_graph(graph, [*state, *inputs]) if compiled else (graph, "")
        if compiled:
            self.settings[part] = f"a graph of ATen operations, {how}"
        with torch.enable_grad():
            results = run(*state, *inputs)
        self._graphs[name, size] = lambda *batch: run(*state, *batch)
        return results or ()

    def _variables(self) -> list:
        """Return the variables of model, layers, optimiser and metrics; one that comes twice does no harm."""
        model = self._model
        return [*model.variables, *states(model), *model.optimizer.variables, *model.metrics_variables]

    def state(self) -> list[np.ndarray]:
        """Return the values of all variables, and the state of the random numbers."""
        import torch

        values = [variable._value.detach().cpu().numpy().copy() for variable in self._variables()]
        states = [torch.get_rng_state(), *torch.cuda.get_rng_state_all()]
        return [*values, *(state.numpy().copy() for state in states)]

    def restore(self, state: list[np.ndarray]) -> None:
        """Take the values of all variables, and the state of the random numbers."""
        import torch

        variables = self._variables()
        with torch.no_grad():
            for variable, value in zip(variables, state, strict=False):
                variable._value.copy_(torch.as_tensor(value))
        of_host, *of_gpus = (torch.as_tensor(value) for value in state[len(variables) :])
        torch.set_rng_state(of_host)
        torch.cuda.set_rng_state_all(of_gpus)

    def begin(self, order: np.ndarray) -> None:
        """Start an epoch in this order."""
        import torch

        self._model.reset_metrics()
        self._model.train()
        self._order = torch.as_tensor(order).to(self._device)

    def steps(self, first: int, last: int) -> None:
        """Train whole batches."""
        for start in range(first * self._batch_size, last * self._batch_size, self._batch_size):
            self._train(start, start + self._batch_size)

    def rest(self) -> None:
        """Train the odd last batch, if there is one."""
        whole = self._samples // self._batch_size * self._batch_size
        if whole < self._samples:
            self._train(whole, self._samples)

    def finish(self) -> dict[str, float]:
        """Return the means of the epoch over all ranks."""
        import torch

        if self._devices > 1:
            sums = [variable._value.detach() for variable in self._model.metrics_variables]
            together = torch.stack([total.to(torch.float32) for total in sums])
            torch.distributed.all_reduce(together)
            for total, value in zip(sums, together, strict=True):
                total.copy_(value)
        return self._results()

    def _results(self) -> dict[str, float]:
        return named(self._model, self._model.get_metrics_result())

    def validate(self) -> dict[str, float]:
        """Return the means over the validation samples, on one device."""
        if self._validation is None:
            return {}
        self._model.reset_metrics()
        self._model.eval()
        for first in range(0, len(self._validation[0]), self._batch_size):
            part = [leaf[first : first + self._batch_size] for leaf in self._validation]
            self._run("test", len(part[0]), *part)
        return {f"val_{name}": value for name, value in self._results().items()}
