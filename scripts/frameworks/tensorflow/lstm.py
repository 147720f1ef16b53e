"""An LSTM whose gradient is written by hand: the sums over the time steps are one product each."""

from collections.abc import Callable
from functools import partial

from scripts.frameworks.tensorflow.replace import Replacement


def fast_lstms(model) -> list[Replacement]:
    """Let plain LSTM layers run `_lstm`, but on a GPU, where cuDNN does."""
    import keras
    import tensorflow as tf

    def inner_loop(layer, sequences, initial_state, mask, training=False):
        if mask is not None:
            return type(layer).inner_loop(layer, sequences, initial_state, mask, training)
        cell = layer.cell
        weights = [tf.cast(weight, sequences.dtype) for weight in (cell.kernel, cell.recurrent_kernel, cell.bias)]
        outputs, carry = _lstm(sequences, initial_state, weights, layer.go_backwards, layer.return_sequences)
        last = outputs[:, -1] if layer.return_sequences else outputs
        return last, outputs, [last, carry]

    def plain(layer) -> bool:
        return (
            isinstance(layer, keras.layers.LSTM)
            and type(layer).inner_loop is keras.layers.LSTM.inner_loop
            and type(layer.cell) is type(keras.layers.LSTM(1).cell)
            and (layer.activation, layer.recurrent_activation) == (keras.activations.tanh, keras.activations.sigmoid)
            and layer.use_bias
            and not layer.dropout
            and not layer.recurrent_dropout
        )

    if tf.config.list_logical_devices("GPU"):
        return []
    return [(layer, "inner_loop", partial(inner_loop, layer)) for layer in model._flatten_layers() if plain(layer)]


def _lstm(x, states: list, weights: list, backwards: bool, sequences: bool):
    """Return the outputs (all, or the last) and the last carry of an LSTM: one product for all steps where one can.

    Only what depends on the step before stays in the loops. What TensorFlow makes of a loop that it
    differentiates itself sums the gradients of the weights step by step.

    Args:
        x: (batch, length, inputs).
        states: hidden and carry at the start, each (batch, units).
        weights: kernel (inputs, 4 units), recurrent kernel (units, 4 units), bias (4 units).
        backwards: from the last time step to the first.
        sequences: return all outputs, (batch, length, units), not the last alone, (batch, units).
    """
    import tensorflow as tf

    batch, length, inputs = x.shape
    units = states[0].shape[-1]

    def loop(body: Callable, start: tuple, width: int, stored: int, reverse: bool = False):
        """Return the last state of `body` and, stacked in the order of time, what it stored at each step."""
        arrays = [tf.TensorArray(x.dtype, length, element_shape=(batch, width), clear_after_read=False)] * stored

        def step(count, state, arrays):
            time = length - 1 - count if reverse else count
            state, values = body(time, *state)
            return count + 1, state, [array.write(time, value) for array, value in zip(arrays, values, strict=True)]

        _, state, arrays = tf.while_loop(
            lambda count, *_: count < length, step, (0, start, arrays), maximum_iterations=length
        )
        return state, [array.stack() for array in arrays]

    @tf.custom_gradient
    def run(x, hidden, carry, kernel, recurrent, bias):
        x = tf.reshape(tf.transpose(x[:, ::-1] if backwards else x, (1, 0, 2)), (-1, inputs))
        projected = tf.reshape(tf.matmul(x, kernel) + bias, (length, batch, 4 * units))

        def forward(time, hidden, carry):
            i, f, g, o = tf.split(projected[time] + tf.matmul(hidden, recurrent), 4, 1)
            i, f, g, o = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(g), tf.sigmoid(o)
            after = f * carry + i * g
            return (o * tf.tanh(after), after), (hidden, carry, i, f, g, o)

        (last, last_carry), (hiddens, carries, *gates) = loop(forward, (hidden, carry), units, 6)

        def gradient(d_outputs, d_carry):
            if sequences:
                d_outputs = tf.transpose(d_outputs, (1, 0, 2))
            transposed = tf.transpose(recurrent)

            def backward(time, d_hidden, d_carry, after):
                i, f, g, o = (gate[time] for gate in gates)
                before, squashed = carries[time], tf.tanh(after)
                if sequences:
                    d_hidden = d_hidden + d_outputs[time]
                d_carry = d_carry + d_hidden * o * (1 - squashed * squashed)
                d_sums = tf.concat(
                    [
                        d_carry * g * i * (1 - i),
                        d_carry * before * f * (1 - f),
                        d_carry * i * (1 - g * g),
                        d_hidden * squashed * o * (1 - o),
                    ],
                    1,
                )
                return (tf.matmul(d_sums, transposed), d_carry * f, before), (d_sums,)

            start = (tf.zeros_like(hidden) if sequences else d_outputs, d_carry, last_carry)
            (d_hidden, d_carry, _), (d_sums,) = loop(backward, start, 4 * units, 1, reverse=True)
            d_sums = tf.reshape(d_sums, (-1, 4 * units))
            d_x = tf.reshape(tf.matmul(d_sums, kernel, transpose_b=True), (length, batch, inputs))
            d_x = tf.transpose(d_x, (1, 0, 2))
            return (
                d_x[:, ::-1] if backwards else d_x,
                d_hidden,
                d_carry,
                tf.matmul(x, d_sums, transpose_a=True),
                tf.matmul(tf.reshape(hiddens, (-1, units)), d_sums, transpose_a=True),
                tf.reduce_sum(d_sums, 0),
            )

        outputs = tf.transpose(tf.concat([hiddens[1:], last[None]], 0), (1, 0, 2)) if sequences else last
        return (outputs, last_carry), gradient

    return run(x, *states, *weights)
