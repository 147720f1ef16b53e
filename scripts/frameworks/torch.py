"""PyTorch: thread pools through its setters; the tuned loop runs Keras's step as one graph of torch operations.

Keras on torch spends much of its time in Python, layer by layer. The tuned loop traces one whole training step of
the compiled Keras model, optimiser and metrics included, into a graph of ATen operations, which leaves nothing of
Keras in it, and lets TorchInductor compile the graph where there is a compiler. Two of Keras's functions have a
faster torch twin with the same mathematics and are replaced while it traces: see `_twins`.
"""

import ctypes
import multiprocessing
import signal
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from importlib.machinery import PathFinder
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from scripts.frameworks import ThreadPoolError, Unsupported, UnsupportedDevice

DISTRIBUTIONS = ("torch",)

#: Keras fits on one torch device only: several need `Loop`, stock too.
PARALLEL_FIT = False

#: The slots of the optimisers that have a lazy form: with a row of an embedding, their rows rest too.
_LAZY = {"Adam": ("_momentums", "_velocities"), "RMSprop": ("_velocities",)}

_PR_SET_PDEATHSIG = 1


def environment(cores: int, virtual: int = 1) -> dict[str, str]:
    """OpenMP, MKL and TorchInductor read their sizes at load; virtual devices share the cores."""
    threads = str(max(1, cores // virtual))
    return {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, "TORCHINDUCTOR_COMPILE_THREADS": threads}


def start(cores: int, virtual: int = 1) -> list[str]:
    """Import PyTorch with pools for `cores` cores and return its devices."""
    import torch

    expected = max(1, cores // virtual)
    torch.set_num_threads(expected)
    torch.set_num_interop_threads(expected)
    threads = torch.get_num_threads()
    if threads != expected:
        raise ThreadPoolError(f"PyTorch runs {threads} threads, not {expected}")
    if torch.cuda.is_available():
        return [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return ["cpu"] * virtual


def synchronise() -> None:
    """Wait for the GPU, if there is one."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def set_precision(precision: str) -> None:
    """Let float32 be multiplied as tf32 for `tf32` only; `Unsupported` without a GPU that can."""
    import torch

    tf32 = precision == "tf32"
    if tf32 and not (torch.cuda.is_available() and torch.cuda.get_device_capability() >= (8, 0)):
        raise UnsupportedDevice("tf32 needs an NVIDIA GPU of compute capability 8.0 or more")
    torch.set_float32_matmul_precision("high" if tf32 else "highest")
    torch.backends.cudnn.allow_tf32 = tf32


@contextmanager
def parallel(devices: int) -> Iterator[None]:
    """Keras's `fit` has no data parallelism on torch: more than one device raises `Unsupported`."""
    if devices != 1:
        raise Unsupported("Keras fits on one torch device: train on several with Loop")
    yield


@cache
def _fused_lstm() -> Callable:
    """Return oneDNN's LSTM of one layer and direction as a torch operation that a graph can hold.

    torch's own operation forgets the workspace of the backward pass unless autograd records it, and a graph of
    both passes needs no recording.
    """
    import torch
    from torch import Tensor
    from torch.utils._python_dispatch import _disable_current_modes

    # torch's numbers and flags: (kind of cell, units, layers, biases), both directions, batch first, training.
    kernel, kernel_backward = torch.ops.aten.mkldnn_rnn_layer, torch.ops.aten.mkldnn_rnn_layer_backward

    def cell(r: Tensor) -> tuple[int, int, int, bool]:
        return 2, r.shape[1], 1, True

    def lstm(
        x: Tensor, w: Tensor, r: Tensor, b: Tensor, h: Tensor, c: Tensor, backwards: bool, workspace: int
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        with torch.enable_grad():
            zeros = torch.zeros_like(b)
            return tuple(kernel(x, w, r, b, zeros, h, c, backwards, [], *cell(r), False, True, True))

    def lstm_backward(
        x: Tensor, w: Tensor, r: Tensor, b: Tensor, h: Tensor, c: Tensor, outputs: Tensor, hn: Tensor, cn: Tensor,
        workspace: Tensor, d_outputs: Tensor | None, d_hn: Tensor | None, d_cn: Tensor | None, backwards: bool,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
        d_outputs, d_hn, d_cn = (
            torch.zeros_like(like) if d is None else d.contiguous()
            for d, like in ((d_outputs, outputs), (d_hn, hn), (d_cn, cn))
        )
        zeros = torch.zeros_like(b)
        d_x, d_w, d_r, d_b, _, d_h, d_c = kernel_backward(
            x, w, r, b, zeros, h, c, outputs, hn, cn, d_outputs, d_hn, d_cn,
            backwards, *cell(r), True, False, [], True, workspace,
        )  # fmt: skip
        return d_x, d_w, d_r, d_b.clone(), d_h, d_c  # oneDNN gives one gradient for both biases

    # Not by decorator: `Tensor` in the annotations is local, and the signature is read from them.
    operation = torch.library.custom_op("epochs::lstm", lstm, mutates_args=())
    backward = torch.library.custom_op("epochs::lstm_backward", lstm_backward, mutates_args=())

    @operation.register_fake
    def _(x, w, r, b, h, c, backwards, workspace):
        outputs = x.new_empty(*x.shape[:2], r.shape[1])
        return outputs, torch.empty_like(h), torch.empty_like(c), x.new_empty(workspace, dtype=torch.uint8)

    @backward.register_fake
    def _(*tensors):
        return tuple(torch.empty_like(tensor) for tensor in tensors[:6])

    def setup(ctx, inputs, output):
        *tensors, ctx.backwards, _ = inputs
        ctx.save_for_backward(*tensors, *output)
        ctx.set_materialize_grads(False)

    def differentiate(ctx, d_outputs, d_hn, d_cn, _):
        return *backward(*ctx.saved_tensors, d_outputs, d_hn, d_cn, ctx.backwards), None, None

    operation.register_autograd(differentiate, setup_context=setup)

    @cache
    def workspace(steps: int, batch: int, features: int, units: int, dtype) -> int:
        shapes = ((steps, batch, features), (4 * units, features), (4 * units, units), (4 * units,))
        x, w, r, b = (torch.zeros(shape, dtype=dtype) for shape in shapes)
        h = torch.zeros((1, batch, units), dtype=dtype)
        return lstm(x, w, r, b, h, h, False, 0)[3].numel()

    def run(x, w, r, b, h, c, backwards):
        with _disable_current_modes():
            size = workspace(*x.shape, r.shape[1], x.dtype)
        return operation(x, w, r, b, h, c, backwards, size)[:3]

    return run


def _lstm(keras_lstm: Callable) -> Callable:
    """Return Keras's LSTM hook with oneDNN's kernel where Keras loops over the time steps in Python."""
    import torch
    from keras import activations
    from keras.src.backend.torch.core import convert_to_tensor

    def lstm(
        inputs, initial_state_h, initial_state_c, mask, kernel, recurrent_kernel, bias,
        activation, recurrent_activation, return_sequences=False, go_backwards=False, unroll=False, batch_first=True,
    ):  # fmt: skip
        kernel, recurrent_kernel = convert_to_tensor(kernel), convert_to_tensor(recurrent_kernel)
        alike = activation is activations.tanh and recurrent_activation is activations.sigmoid
        if mask is not None or not alike or kernel.device.type != "cpu" or kernel.dtype != torch.float32:
            return keras_lstm(
                inputs, initial_state_h, initial_state_c, mask, kernel, recurrent_kernel, bias, activation,
                recurrent_activation, return_sequences, go_backwards, unroll, batch_first,
            )  # fmt: skip
        b = kernel.new_zeros(kernel.shape[1]) if bias is None else convert_to_tensor(bias)
        x = convert_to_tensor(inputs).to(kernel.dtype)
        x = (x.transpose(0, 1) if batch_first else x).contiguous()
        h, c = (convert_to_tensor(state).to(kernel.dtype)[None] for state in (initial_state_h, initial_state_c))
        outputs, h, c = _fused_lstm()(x, kernel.T.contiguous(), recurrent_kernel.T.contiguous(), b, h, c, go_backwards)
        h, c = h[0], c[0]
        if not return_sequences:
            return h, h[:, None] if batch_first else h[None], [h, c]
        if go_backwards:
            outputs = outputs.flip(0)
        return h, outputs.transpose(0, 1) if batch_first else outputs, [h, c]

    return lstm


def _affine_transform(keras_transform: Callable) -> Callable:
    """Return Keras's transform of images by `grid_sample`, all at once instead of image by image."""
    import torch

    def affine_transform(
        images, transform, interpolation="bilinear", fill_mode="constant", fill_value=0, data_format=None
    ):
        if (interpolation, fill_mode, images.ndim, data_format) != ("bilinear", "nearest", 4, "channels_last"):
            return keras_transform(images, transform, interpolation, fill_mode, fill_value, data_format)
        height, width = images.shape[1:3]
        rows = torch.arange(height, dtype=transform.dtype, device=transform.device)[:, None]
        columns = torch.arange(width, dtype=transform.dtype, device=transform.device)
        a0, a1, a2, b0, b1, b2 = transform[:, :6, None, None].unbind(1)
        x = (a0 * columns + a1 * rows + a2) * (2 / max(1, width - 1)) - 1
        y = (b0 * columns + b1 * rows + b2) * (2 / max(1, height - 1)) - 1
        moved = torch.nn.functional.grid_sample(
            images.permute(0, 3, 1, 2),
            torch.stack((x, y), -1).to(images.dtype),
            padding_mode="border",
            align_corners=True,
        )
        return moved.permute(0, 2, 3, 1)

    return affine_transform


@contextmanager
def _twins() -> Iterator[None]:
    """Replace what Keras has slower than torch: the LSTM, moving images, layouts, a generator for every draw.

    Random numbers come from torch's own generator; Keras would make and seed one for every layer and step, which
    no graph can hold.
    """
    from keras.src import backend
    from keras.src.backend.torch import image, nn, random

    replaced = (
        (backend, "lstm", _lstm(backend.lstm)),
        (image, "affine_transform", _affine_transform(image.affine_transform)),
        # Channels-last memory as it is, which Keras copies to channels-first and back.
        (nn, "_transpose_spatial_inputs", lambda inputs: inputs.movedim(-1, 1)),
        (random, "torch_seed_generator", lambda seed: None),
    )
    stock = [getattr(module, name) for module, name, _ in replaced]
    try:
        for module, name, twin in replaced:
            setattr(module, name, twin)
        yield
    finally:
        for (module, name, _), function in zip(replaced, stock, strict=True):
            setattr(module, name, function)


def _capture(function: Callable, *examples) -> tuple[Any, list]:
    """Return `function` as a graph of ATen operations, and the tensors it closes over: the graph's first inputs."""
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    with _twins(), torch.no_grad():
        graph = make_fx(lambda *inputs: function(*inputs))(*examples)
    first = next(iter(graph.graph.nodes))
    state, places = {}, {}
    for node in list(graph.graph.nodes):
        if node.op != "get_attr":
            continue
        if node.target not in places:
            # Detached: the graph holds its own backward pass, and oneDNN's LSTM runs where recording is on.
            state[node.target] = getattr(graph, node.target).detach()
            with graph.graph.inserting_before(first):
                places[node.target] = graph.graph.placeholder(node.target)
        node.replace_all_uses_with(places[node.target])
        graph.graph.erase_node(node)
    graph.graph.lint()
    graph.recompile()
    return graph, list(state.values())


@contextmanager
def _lazy_rows(optimiser, tables: list) -> Iterator[None]:
    """Shrink embedding `tables` and their slots to the rows that a step looks up, until it is done."""
    import torch
    from keras.src.backend.torch import numpy as keras_numpy
    from keras.src.backend.torch.core import convert_to_tensor

    keras_take = keras_numpy.take
    whole: list[tuple] = []

    def take(x, indices, axis=None):
        table = next((table for table in tables if table is x), None)
        if table is None:
            return keras_take(x, indices, axis)
        if any(table is taken for taken, _, _ in whole):
            raise Unsupported("sparse updates are for an embedding that is looked up once per step")
        rows, places = torch.unique(convert_to_tensor(indices).long(), return_inverse=True)
        index = optimiser._get_variable_index(table)
        slots = [getattr(optimiser, name)[index] for name in _LAZY[type(optimiser).__name__]]
        for variable in (table, *slots):
            whole.append((variable, variable._value, rows))
            variable._value = variable._value.detach()[rows]
        return torch.nn.functional.embedding(places, table._value.requires_grad_())

    keras_numpy.take = take
    try:
        yield
    finally:
        keras_numpy.take = keras_take
        with torch.no_grad():
            for variable, value, rows in whole:
                value[rows] = variable._value
                variable._value = value


def _compiled(graph: Any, inputs: list) -> tuple[Callable, str]:
    """Return the graph compiled by TorchInductor, and how it runs; the graph itself without a compiler."""
    import torch
    from torch._inductor.cpp_builder import get_cpp_compiler

    try:
        get_cpp_compiler()  # else TorchInductor finds out only after minutes
        compiled = torch.compile(graph, fullgraph=True, dynamic=False)
        with torch.enable_grad():
            compiled(*inputs)
        return compiled, "compiled by TorchInductor"
    except Exception as error:
        return graph, f"not compiled ({type(error).__name__})"


class _Steps:
    """The training steps of one process: of whole batches, or of its rank's part of each."""

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
        if type(optimiser).__name__ not in _LAZY or not plain or self._devices > 1 or not self._tuned:
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
        with torch.no_grad(), _twins() if self._tuned else nullcontext():
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
            with _lazy_rows(self._model.optimizer, self._tables):
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
            graph, state = _capture(getattr(self, f"_{name}"), *inputs)
        except Exception as error:
            self.settings["step"] = f"Keras's, layer by layer ({type(error).__name__} while tracing)"
            return None
        run, how = _compiled(graph, [*state, *inputs]) if compiled else (graph, "")
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


class _Finder(PathFinder):
    """Finds no TensorFlow, which Keras would import for seconds, and no JAX."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        return None if fullname in ("tensorflow", "jax") else super().find_spec(fullname, path, target)


def _serve(team: _Team, rank: int, pipe: Connection) -> None:
    """Be the rank of a team: do what comes through the pipe until it closes."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.meta_path = [_Finder if finder is PathFinder else finder for finder in sys.meta_path]
    import keras
    import torch

    torch.set_num_threads(team.threads)
    set_precision(team.precision)
    if torch.cuda.is_available():
        torch.cuda.set_device(rank)
    model = keras.models.load_model(team.folder / "model.keras")
    with np.load(team.folder / "samples.npz") as samples:
        x, y = samples["x"], samples["y"]
    keras.utils.set_random_seed(team.seed + rank)
    pipe.send("ready")
    team.meet(rank)
    steps = _Steps(model, x, y, None, team.batch_size, rank, team.devices, False, team.tuned)
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


class Loop(_Steps):
    """Keras's step as one compiled graph; `tuned=False` is the loop of Keras's guide, for stock on several devices.

    Several devices have a process each, this one the first; `close` stops the others.
    """

    def __init__(self, model, x, y, validation, batch_size, devices=1, sparse=False, tuned=True):
        self._pipes: list[Connection] = []
        self.close: Callable[[], object] = lambda: None
        if devices > 1:
            self._start(model, x, y, batch_size, devices, tuned)
        super().__init__(model, x, y, validation, batch_size, 0, devices, sparse, tuned)

    def _start(self, model, x, y, batch_size: int, devices: int, tuned: bool) -> None:
        import torch

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
        np.savez(root / "samples.npz", x=x, y=y)
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
                pipe.recv()
            except EOFError:
                raise RuntimeError(f"the process of device {rank} ended while it started") from None
        (root / "model.keras").unlink()
        (root / "samples.npz").unlink()
        team.meet(0)
        self.close = weakref.finalize(self, _dismiss, processes, self._pipes, folder)

    def _tell(self, *call) -> None:
        for pipe in self._pipes:
            pipe.send(call)

    def compile(self) -> None:
        self._tell("compile")
        super().compile()
        if self._devices > 1:
            how = "gradients sent as one" if self._tuned else "DistributedDataParallel"
            self.settings["devices"] = f"{how} over {_backend()}, a process each"

    def begin(self, order: np.ndarray) -> None:
        self._tell("begin", order)
        super().begin(order)

    def steps(self, first: int, last: int) -> None:
        self._tell("steps", first, last)
        super().steps(first, last)

    def rest(self) -> None:
        self._tell("rest")
        super().rest()

    def finish(self) -> dict[str, float]:
        self._tell("finish")
        return super().finish()
