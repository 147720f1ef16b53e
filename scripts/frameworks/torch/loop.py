"""The tuned loop within one process: its steps by graphs, its state, the means of its epochs."""

from collections.abc import Callable
from contextlib import nullcontext

import numpy as np

from scripts.frameworks import Unsupported
from scripts.frameworks.torch.graph import capture, compile_graph
from scripts.frameworks.torch.kernels import fast_kernels
from scripts.frameworks.torch.sparse import LAZY, lazy_rows


class Steps:
    """The training steps of one process: of whole batches, or of its rank's part of each.

    Args:
        model: a compiled Keras model.
        x, y: all training samples as arrays, the first axis is the samples.
        validation: `(x, y)` or None.
        batch_size: samples of a step over all devices.
        rank: number of this process, from 0.
        devices: number of processes.
        sparse: move only those rows of an embedding that the batch looks up.
        tuned: by graphs; else layer by layer as in Keras's guide.
    """

    def __init__(self, model, x, y, validation, batch_size: int, rank: int, devices: int, sparse: bool, tuned: bool):
        import keras
        import torch

        self.settings: dict[str, str] = {}
        self._model, self._batch_size, self._rank, self._devices = model, batch_size, rank, devices
        self._tuned, self._share = tuned, 1.0
        device = "cuda" if torch.cuda.is_available() else "cpu"

        def held(array: np.ndarray):
            return torch.as_tensor(array.astype(keras.config.floatx()) if array.dtype.kind == "f" else array).to(device)

        self._x, self._y = held(x), held(y)
        self._validation = None if validation is None else tuple(held(part) for part in validation)
        self._order = torch.arange(len(x), device=device)
        self._graphs: dict[tuple[str, int], Callable] = {}
        model._symbolic_build(data_batch=(self._x[:1], self._y[:1]))
        self._tables = self._embeddings() if sparse else []
        # An optimiser that looks at the gradients on the host, and one that waits for other processes, stand apart.
        self._whole = devices == 1 and not isinstance(model.optimizer, keras.optimizers.LossScaleOptimizer)
        self._trained = model
        if devices > 1 and not tuned:
            self._trained = torch.nn.parallel.DistributedDataParallel(model, init_sync=False)  # all loaded the same

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

    def _predict(self, model, x, training: bool):
        return model(x, training=training) if self._model._call_has_training_arg else model(x)

    def _count(self, y, predicted, loss) -> None:
        self._model._loss_tracker.update_state(loss.detach(), sample_weight=len(y))
        if self._model._compile_metrics is not None:
            self._model._compile_metrics.update_state(y, predicted.detach())

    def _gradients(self, x, y) -> list:
        """Return the gradients of the loss; a batch of no share is not counted."""
        import torch

        model = self._model
        with torch.enable_grad():
            predicted = self._predict(self._trained, x, training=True)
            loss = model._compute_loss(x=x, y=y, y_pred=predicted, training=True)
            scaled = model.optimizer.scale_loss(loss)
            weights = [variable.value for variable in model.trainable_variables]
            if self._trained is model:
                gradients = torch.autograd.grad(scaled, weights, allow_unused=True)
            else:
                model.zero_grad()
                (scaled * (self._share * self._devices)).backward()  # what comes back is the mean over the devices
                gradients = [weight.grad for weight in weights]
        if self._share:
            self._count(y, predicted, loss)
        return list(gradients)

    def _update(self, *gradients) -> None:
        self._model.optimizer.apply(list(gradients), self._model.trainable_variables)

    def _step(self, x, y) -> None:
        self._update(*self._gradients(x, y))

    def _test(self, x, y) -> None:
        predicted = self._predict(self._model, x, training=False)
        self._count(y, predicted, self._model._compute_loss(x=x, y=y, y_pred=predicted, training=False))

    def _run(self, name: str, size: int, *inputs):
        """Do `_name` by its graph for batches of this size, or as Keras does where there is none."""
        import torch

        graph = self._graphs.get((name, size))
        if graph is not None:
            with torch.enable_grad():
                return graph(*inputs)
        with torch.no_grad(), fast_kernels() if self._tuned else nullcontext():
            return getattr(self, f"_{name}")(*inputs)

    def _train(self, first: int, last: int) -> None:
        """Train the samples `first` to `last` - 1 of the order."""
        chosen = self._order[first:last]
        if self._devices > 1:
            part = chosen.tensor_split(self._devices)[self._rank]
            self._share = len(part) / len(chosen)
            chosen = part if len(part) else chosen[:1]  # a rank without samples still takes part
        x, y = self._x.index_select(0, chosen), self._y.index_select(0, chosen)
        size = len(chosen) if self._share else 0
        if self._tables:
            with lazy_rows(self._model.optimizer, self._tables):
                self._run("step", size, x, y)
        elif self._whole:
            self._run("step", size, x, y)
        else:
            gradients = self._run("gradients", size, x, y)
            if self._devices > 1 and self._trained is self._model:
                gradients = self._summed(gradients)
            self._run("update", 0, *gradients)

    def _summed(self, gradients: list) -> list:
        """Return the sum over the ranks of their shares of the gradients, sent as one."""
        import torch

        given = [gradient for gradient in gradients if gradient is not None]
        together = torch.cat([gradient.reshape(-1) for gradient in given]).mul_(self._share)
        torch.distributed.all_reduce(together)
        parts = iter(together.split([gradient.numel() for gradient in given]))
        return [None if gradient is None else next(parts).view_as(gradient) for gradient in gradients]

    def compile(self) -> None:
        """Make the graphs of a whole batch and of the odd last one."""
        import keras
        import torch

        self.settings |= {"loop": "one step per batch, samples on the device", "step": "Keras's, layer by layer"}
        if not self._tuned or self._tables:
            return
        size = self._batch_size
        variables = self._variables()
        # Tracing trains.
        before = [variable._value.detach().clone() for variable in variables]
        with torch.random.fork_rng(range(torch.cuda.device_count())):
            for count in (size, len(self._x) % size):
                local = len(torch.arange(count).tensor_split(self._devices)[self._rank])
                if not 0 < local <= len(self._x):
                    continue
                batch = self._x[:local].clone(), self._y[:local].clone()
                if self._whole:
                    self._trace("step", local, *batch, compiled=count == size)
                    continue
                gradients = self._trace("gradients", local, *batch, compiled=count == size)
                if gradients and not isinstance(self._model.optimizer, keras.optimizers.LossScaleOptimizer):
                    self._trace("update", 0, *gradients, compiled=count == size)
            if self._validation is not None:
                x, y = self._validation
                for count in {min(size, len(x)), len(x) % size} - {0}:
                    self._trace("test", count, x[:count].clone(), y[:count].clone(), compiled=count == size)
        with torch.no_grad():
            for variable, value in zip(variables, before, strict=True):
                variable._value.copy_(value)

    def _trace(self, name: str, size: int, *inputs, compiled: bool):
        """Make the graph of `_name` for such inputs, and run it once; what cannot be traced stays Keras's."""
        import torch

        if (name, size) in self._graphs:
            return None
        try:
            graph, state = capture(getattr(self, f"_{name}"), *inputs)
        except Exception as error:
            self.settings["step"] = f"Keras's, layer by layer ({type(error).__name__} while tracing)"
            return None
        run, how = compile_graph(graph, [*state, *inputs]) if compiled else (graph, "")
        if compiled:
            self.settings["step"] = f"a graph of ATen operations, {how}"
        with torch.enable_grad():
            results = run(*state, *inputs)
        self._graphs[name, size] = lambda *batch: run(*state, *batch)
        return results

    def _variables(self) -> list:
        """Return the variables of model, optimiser and metrics; one that comes twice does no harm."""
        model = self._model
        return [*model.variables, *model.optimizer.variables, *model.metrics_variables]

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
        self._order = torch.as_tensor(order).to(self._x.device)

    def steps(self, first: int, last: int) -> None:
        """Train whole batches."""
        for start in range(first * self._batch_size, last * self._batch_size, self._batch_size):
            self._train(start, start + self._batch_size)

    def rest(self) -> None:
        """Train the odd last batch, if there is one."""
        whole = len(self._x) // self._batch_size * self._batch_size
        if whole < len(self._x):
            self._train(whole, len(self._x))

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
        results = {name: float(value) for name, value in self._model.get_metrics_result().items()}
        return {("acc" if "acc" in name else name): value for name, value in results.items()}

    def validate(self) -> dict[str, float]:
        """Return the means over the validation samples, on one device."""
        if self._validation is None:
            return {}
        self._model.reset_metrics()
        x, y = self._validation
        for first in range(0, len(x), self._batch_size):
            part = x[first : first + self._batch_size], y[first : first + self._batch_size]
            self._run("test", len(part[0]), *part)
        return {f"val_{name}": value for name, value in self._results().items()}
