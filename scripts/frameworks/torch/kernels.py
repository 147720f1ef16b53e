"""What Keras computes slower on torch than torch can: the LSTM, moving images, layouts, random numbers, powers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache


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


def _power(keras_power: Callable) -> Callable:
    """Return Keras's power, that of two numbers by an operation which a graph's compiler leaves whole.

    TorchInductor takes Adam's powers of beta into its loop over the weights, and computes them for each 16 anew.
    """
    import torch

    power = _power_of_numbers()

    def either(x1, x2):
        tensors = [x for x in (x1, x2) if isinstance(x, torch.Tensor)]
        numbers = all(x.ndim == 0 and x.device.type == "cpu" and not x.requires_grad for x in tensors)
        if len(tensors) == 2 and numbers and x1.dtype == x2.dtype:
            return power(x1, x2)
        return keras_power(x1, x2)

    return either


@cache
def _power_of_numbers() -> Callable:
    import torch
    from torch import Tensor

    def power(x1: Tensor, x2: Tensor) -> Tensor:
        return torch.pow(x1, x2)

    operation = torch.library.custom_op("epochs::power", power, mutates_args=())
    operation.register_fake(lambda x1, x2: torch.empty_like(x1))
    return operation


@contextmanager
def fast_kernels() -> Iterator[None]:
    """Replace what Keras has slower than torch: the LSTM, moving images, layouts, powers, a generator for every draw.

    Random numbers come from torch's own generator; Keras would make and seed one for every layer and step, which
    no graph can hold.
    """
    from keras.src import backend
    from keras.src.backend.torch import image, nn, numpy, random

    replaced = (
        (backend, "lstm", _lstm(backend.lstm)),
        (image, "affine_transform", _affine_transform(image.affine_transform)),
        # Channels-last memory as it is, which Keras copies to channels-first and back.
        (nn, "_transpose_spatial_inputs", lambda inputs: inputs.movedim(-1, 1)),
        (numpy, "power", _power(numpy.power)),
        (random, "torch_seed_generator", lambda seed: None),
    )
    stock = [getattr(module, name) for module, name, _ in replaced]
    try:
        for module, name, fast in replaced:
            setattr(module, name, fast)
        yield
    finally:
        for (module, name, _), function in zip(replaced, stock, strict=True):
            setattr(module, name, function)
