"""The classics as a PyTorch user would tune them by hand: the floor that `scripts.frameworks.torch.Loop` is held to.

Weights are plain tensors, the formulas of the optimisers Keras's. Steps run eager: torch.compile loses oneDNN's LSTM,
and made the dense and convolutional models slower here.
"""

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F

from tests.bench.native import torch_fasttext


def glorot(*shape: int) -> torch.Tensor:
    """Return weights drawn as Keras draws those of dense and convolutional layers."""
    receptive = int(np.prod(shape[2:]))
    limit = (6 / (receptive * (shape[0] + shape[1]))) ** 0.5
    return torch.empty(shape).uniform_(-limit, limit)


def dense(inputs: int, outputs: int) -> list[torch.Tensor]:
    """Return the weights of a dense layer."""
    return [glorot(outputs, inputs), torch.zeros(outputs)]


def conv(inputs: int, outputs: int) -> list[torch.Tensor]:
    """Return the weights of a 3 × 3 convolution, channels last in memory."""
    return [glorot(outputs, inputs, 3, 3).contiguous(memory_format=torch.channels_last), torch.zeros(outputs)]


def recurrent(inputs: int, units: int) -> list[torch.Tensor]:
    """Return the weights of an LSTM: torch has two biases where Keras has one; the second stays zero."""
    r = torch.nn.init.orthogonal_(torch.empty(4 * units, units))
    forget = torch.zeros(4 * units)
    forget[units : 2 * units] = 1
    return [glorot(4 * units, inputs), r, forget]


def lstm(x: torch.Tensor, weights: list[torch.Tensor]) -> torch.Tensor:
    """Return the last output of oneDNN's LSTM."""
    w, r, b = weights
    h = x.new_zeros(1, len(x), r.shape[1])
    return torch._VF.lstm(x, (h, h), [w, r, b, torch.zeros_like(b)], True, 1, 0.0, True, False, True)[1][0]


def mnist_mlp(x, classes):
    """784-512-512-10."""
    weights = [*dense(784, 512), *dense(512, 512), *dense(512, 10)]

    def forward(x, w1, b1, w2, b2, w3, b3):
        x = F.dropout(F.relu(F.linear(x, w1, b1)), 0.2)
        x = F.dropout(F.relu(F.linear(x, w2, b2)), 0.2)
        return F.linear(x, w3, b3)

    return weights, forward


def mnist_cnn(x, classes):
    """Two convolutions, two dense layers."""
    weights = [*conv(1, 32), *conv(32, 64), *dense(12 * 12 * 64, 128), *dense(128, 10)]

    def forward(x, w1, b1, w2, b2, w3, b3, w4, b4):
        x = F.relu(F.conv2d(x.permute(0, 3, 1, 2), w1, b1))
        x = F.dropout(F.max_pool2d(F.relu(F.conv2d(x, w2, b2)), 2), 0.25)
        x = F.dropout(F.relu(F.linear(x.permute(0, 2, 3, 1).flatten(1), w3, b3)), 0.5)
        return F.linear(x, w4, b4)

    return weights, forward


def moved(x: torch.Tensor) -> torch.Tensor:
    """Shift images (n, channels, height, width) by up to a tenth, bilinear, edges repeated; flip half of them."""
    n = len(x)
    theta = x.new_zeros(n, 2, 3)
    theta[:, 0, 0] = 1 - 2 * (torch.rand(n) < 0.5).to(x.dtype)
    theta[:, 1, 1] = 1
    # In units of half the picture, between the centres of its outermost pixels.
    theta[:, :, 2] = torch.empty(n, 2).uniform_(-0.1, 0.1) * (2 * x.shape[-1] / (x.shape[-1] - 1))
    grid = F.affine_grid(theta, list(x.shape), align_corners=True)
    return F.grid_sample(x, grid, padding_mode="border", align_corners=True)


def cifar10_cnn(x, classes):
    """Moving images, four convolutions, two dense layers."""
    weights = [*conv(3, 32), *conv(32, 32), *conv(32, 64), *conv(64, 64), *dense(6 * 6 * 64, 512), *dense(512, 10)]

    def forward(x, w1, b1, w2, b2, w3, b3, w4, b4, w5, b5, w6, b6):
        x = F.relu(F.conv2d(moved(x.permute(0, 3, 1, 2)), w1, b1, padding=1))
        x = F.dropout(F.max_pool2d(F.relu(F.conv2d(x, w2, b2)), 2), 0.25)
        x = F.relu(F.conv2d(x, w3, b3, padding=1))
        x = F.dropout(F.max_pool2d(F.relu(F.conv2d(x, w4, b4)), 2), 0.25)
        x = F.dropout(F.relu(F.linear(x.permute(0, 2, 3, 1).flatten(1), w5, b5)), 0.5)
        return F.linear(x, w6, b6)

    return weights, forward


def imdb_bidirectional_lstm(x, classes):
    """Embedding of 128, 64 cells in each direction."""
    weights = [
        torch.empty(20_000, 128).uniform_(-0.05, 0.05), *recurrent(128, 64), *recurrent(128, 64), *dense(128, 1)
    ]  # fmt: skip

    def forward(x, table, *rest):
        x = F.embedding(x, table)
        both = torch.cat((lstm(x, rest[:3]), lstm(x.flip(1), rest[3:6])), 1)
        return F.linear(F.dropout(both, 0.5), *rest[6:]).squeeze(1)

    return weights, forward


def lstm_text_generation(x, classes):
    """One LSTM of 128."""
    weights = [*recurrent(classes, 128), *dense(128, classes)]

    def forward(x, w, r, b, w2, b2):
        return F.linear(lstm(x.float(), [w, r, b]), w2, b2)

    return weights, forward


def rmsprop(weights, rate):
    """Keras's RMSprop: epsilon inside the root."""
    velocities = [torch.zeros_like(weight) for weight in weights]

    def update(gradients):
        torch._foreach_mul_(velocities, 0.9)
        torch._foreach_addcmul_(velocities, gradients, gradients, value=0.1)
        roots = torch._foreach_add(velocities, 1e-7)
        torch._foreach_sqrt_(roots)
        torch._foreach_addcdiv_(weights, gradients, roots, value=-rate)

    return update


def adam(weights, rate=0.001):
    """Keras's Adam: epsilon beside the root before its bias is corrected."""
    means, squares = ([torch.zeros_like(weight) for weight in weights] for _ in range(2))
    step = torch.zeros(())

    def update(gradients):
        step.add_(1)
        alpha = -rate * torch.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        torch._foreach_lerp_(means, gradients, 0.1)
        torch._foreach_mul_(squares, 0.999)
        torch._foreach_addcmul_(squares, gradients, gradients, value=0.001)
        roots = torch._foreach_sqrt(squares)
        torch._foreach_add_(roots, 1e-7)
        for weight, mean, root in zip(weights, means, roots, strict=True):
            weight.add_(mean / root * alpha)

    return update


def adadelta(weights, rate):
    """Keras's Adadelta."""
    squares, moves = ([torch.zeros_like(weight) for weight in weights] for _ in range(2))

    def update(gradients):
        torch._foreach_mul_(squares, 0.95)
        torch._foreach_addcmul_(squares, gradients, gradients, value=0.05)
        deltas = torch._foreach_sqrt(torch._foreach_add(moves, 1e-7))
        torch._foreach_mul_(deltas, gradients)
        torch._foreach_div_(deltas, torch._foreach_sqrt(torch._foreach_add(squares, 1e-7)))
        torch._foreach_mul_(moves, 0.95)
        torch._foreach_addcmul_(moves, deltas, deltas, value=0.05)
        torch._foreach_add_(weights, deltas, alpha=-rate)

    return update


MODELS = {
    "mnist_mlp": (mnist_mlp, lambda weights: rmsprop(weights, 1e-3)),
    "mnist_cnn": (mnist_cnn, lambda weights: adadelta(weights, 1.0)),
    "cifar10_cnn": (cifar10_cnn, lambda weights: rmsprop(weights, 1e-4)),
    "imdb_bidirectional_lstm": (imdb_bidirectional_lstm, adam),
    "lstm_text_generation": (lstm_text_generation, lambda weights: rmsprop(weights, 0.01)),
}


def build(
    workload: str, x: np.ndarray, y: np.ndarray, batch_size: int, classes: int | None
) -> Callable[[np.ndarray, int, int], float]:
    """Return `run(order, first, last)`: train those whole batches of the order and return their mean loss."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_default_device(device)
    binary = workload.startswith("imdb")
    samples = torch.as_tensor(x).to(device)
    labels = torch.as_tensor(y.reshape(-1), dtype=torch.float32 if binary else torch.int64).to(device)
    if workload == "imdb_fasttext":
        step = torch_fasttext.build(samples, labels, classes)
    else:
        model, optimiser = MODELS[workload]
        step = _steps(*model(x, classes), optimiser, samples, labels)

    def run(order: np.ndarray, first: int, last: int) -> float:
        total = torch.zeros(())
        chosen = torch.as_tensor(order).to(device)
        for batch in range(first, last):
            total.add_(step(chosen[batch * batch_size : (batch + 1) * batch_size]))
        return float(total) / (last - first)

    return run


def _steps(weights, forward, optimiser, samples, labels) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return `step(indices)`, which trains on these samples and returns their loss."""
    for weight in weights:
        weight.requires_grad_()
    update = optimiser(weights)

    def step(indices):
        y = labels.index_select(0, indices)
        predicted = forward(samples.index_select(0, indices), *weights)
        binary = labels.is_floating_point()
        loss = F.binary_cross_entropy_with_logits(predicted, y) if binary else F.cross_entropy(predicted, y)
        gradients = list(torch.autograd.grad(loss, weights))
        with torch.no_grad():
            update(gradients)
        return loss.detach()

    return step
