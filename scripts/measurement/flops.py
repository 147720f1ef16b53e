"""Model FLOPs: the multiplications and additions that a model's matrix products need, whatever computes them.

The count behind model FLOPs utilisation (A. Chowdhery et al., PaLM, arXiv 2204.02311, appendix B): a multiplication
and an addition are one each, training takes three times the forward pass, and what is computed again counts once.
"""

from itertools import chain
from math import prod
from typing import Any


def per_trained_sample(model: Any) -> int | None:
    """Return the FLOPs of training a Keras model on one sample; None if a layer or a shape is not known here."""
    try:
        forward = _of_graph(model)
    except (TypeError, ValueError):  # a length that differs from sample to sample
        return None
    return None if forward is None else 3 * forward


def _of_graph(model: Any) -> int | None:
    """Return the FLOPs of a forward pass through a sequential or functional model."""
    graph = getattr(model, "_functional", None) or model
    if not hasattr(graph, "_nodes_by_depth"):
        return None
    total = 0
    for node in chain.from_iterable(graph._nodes_by_depth.values()):
        if node.is_input:
            continue
        inputs, outputs = ([tensor.shape[1:] for tensor in side] for side in (node.input_tensors, node.output_tensors))
        found = _of_layer(node.operation, inputs, outputs[0])
        if found is None:
            return None
        total += found
    return total


def _of_layer(layer: Any, inputs: list[tuple], output: tuple) -> int | None:
    """Return the FLOPs of a layer for one sample, from the shapes of its inputs and its output."""
    from keras import Model, layers
    from keras.src.ops.numpy import Dot, Einsum, Matmul, Tensordot

    if isinstance(layer, Model):
        return _of_graph(layer)
    if isinstance(layer, layers.Dense):
        return 2 * inputs[0][-1] * prod(output)
    if isinstance(layer, layers.Conv1D | layers.Conv2D | layers.Conv3D):
        *_, channels, _ = layer.kernel.shape  # of one group
        return 2 * prod(layer.kernel_size) * channels * prod(output)
    if isinstance(layer, layers.Bidirectional):
        one_way = _of_layer(layer.forward_layer, inputs, output)
        return None if one_way is None else 2 * one_way
    if isinstance(layer, layers.LSTM | layers.GRU | layers.SimpleRNN):
        gates = 4 if isinstance(layer, layers.LSTM) else 3 if isinstance(layer, layers.GRU) else 1
        steps, features = inputs[0]
        return steps * gates * 2 * layer.units * (features + layer.units)
    if isinstance(layer, layers.MultiHeadAttention):
        return _of_attention(layer.get_config(), inputs, output)
    if isinstance(layer, Matmul | Einsum | Dot | Tensordot | layers.Dot | layers.Attention | layers.AdditiveAttention):
        return None
    no_product = layers.Embedding, layers.BatchNormalization, layers.LayerNormalization, layers.Normalization
    return 0 if not getattr(layer, "weights", []) or isinstance(layer, no_product) else None


def _of_attention(config: dict[str, Any], inputs: list[tuple], output: tuple) -> int:
    """Return the projections' FLOPs and those of scores and weighted sums, a causal mask not taken off."""
    (queried, width), (attended, other) = inputs[0], inputs[1] if len(inputs) > 1 else inputs[0]
    keys, values = config["num_heads"] * config["key_dim"], config["num_heads"] * config["value_dim"]
    projected = queried * width * keys + attended * other * (keys + values) + queried * values * output[-1]
    return 2 * (projected + queried * attended * (keys + values))
