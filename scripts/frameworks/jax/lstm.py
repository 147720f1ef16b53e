"""An LSTM whose gradient is written by hand: the sums over the time steps are one product each."""

from collections.abc import Callable
from functools import cache
from typing import Any


def fast_lstm(stock: Callable) -> Callable:
    """Return Keras's hook for a whole LSTM, with `_lstm` for a plain one.

    `stock` is Keras's function, and what is returned takes its arguments. Masked steps, other activations and other
    types than float32 are left to it; it knows cuDNN's LSTM only and sends all else to Keras's loop of cells.
    """

    def lstm(
        inputs: Any,
        initial_state_h: Any,
        initial_state_c: Any,
        mask: Any,
        kernel: Any,
        recurrent_kernel: Any,
        bias: Any,
        activation: Any,
        recurrent_activation: Any,
        return_sequences: bool = False,
        go_backwards: bool = False,
        unroll: bool = False,
    ) -> tuple:
        import jax.numpy as jnp
        from keras import activations, ops

        plain = (activation, recurrent_activation) == (activations.tanh, activations.sigmoid)
        tensors = [inputs, initial_state_h, initial_state_c, kernel, recurrent_kernel]
        tensors = [ops.convert_to_tensor(tensor) for tensor in tensors]
        if mask is not None or not plain or unroll or any(tensor.dtype != jnp.float32 for tensor in tensors):
            return stock(
                inputs, initial_state_h, initial_state_c, mask, kernel, recurrent_kernel, bias, activation,
                recurrent_activation, return_sequences, go_backwards, unroll,
            )  # fmt: skip
        x, hidden, carry, kernel, recurrent = tensors
        bias = jnp.zeros(kernel.shape[1], x.dtype) if bias is None else ops.convert_to_tensor(bias)
        x = x.swapaxes(0, 1)
        outputs, carry = _lstm()(go_backwards, return_sequences, x, hidden, carry, kernel, recurrent, bias)
        if not return_sequences:
            return outputs, outputs[:, None], [outputs, carry]
        # Keras gives them in the order in which they were computed.
        outputs = (outputs[::-1] if go_backwards else outputs).swapaxes(0, 1)
        return outputs[:, -1], outputs, [outputs[:, -1], carry]

    return lstm


@cache
def _lstm() -> Callable:
    """Return `lstm(backwards, sequences, x, hidden, carry, kernel, recurrent, bias) -> (outputs, carry)`.

    x is (length, batch, inputs), hidden and carry (batch, units) the states before the first step, which is the last
    in time for `backwards`. The outputs are all, (length, batch, units), in the order of time, for `sequences`; else
    the last that is computed. The cell is Hochreiter and Schmidhuber's (1997) with the forget gate of Gers et al.
    (2000), gates in Keras's order i, f, g, o; the gradient is backpropagation through time. Only what depends on the
    step before is in the loops: JAX, differentiating a loop itself, sums the gradients of the weights step by step.
    """
    import jax
    import jax.numpy as jnp
    from jax import lax

    def forward(backwards, sequences, x, hidden, carry, kernel, recurrent, bias):
        length, batch, inputs = x.shape

        def step(state, projected):
            hidden, carry = state
            i, f, g, o = jnp.split(projected + hidden @ recurrent, 4, axis=1)
            i, f, g, o = jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(g), jax.nn.sigmoid(o)
            after = f * carry + i * g
            output = o * jnp.tanh(after)
            return (output, after), (output if sequences else None, hidden, carry, i, f, g, o)

        projected = (x.reshape(-1, inputs) @ kernel + bias).reshape(length, batch, -1)
        (last, carry), (outputs, *stored) = lax.scan(step, (hidden, carry), projected, reverse=backwards)
        return (outputs if sequences else last, carry), (x, kernel, recurrent, carry, stored)

    def backward(backwards, sequences, kept, gradients):
        x, kernel, recurrent, carry, (hiddens, *stored) = kept
        d_outputs, d_carry = gradients
        transposed = recurrent.T

        def step(state, values):
            d_hidden, d_carry, after = state
            d_output, before, i, f, g, o = values
            squashed = jnp.tanh(after)
            if sequences:
                d_hidden += d_output
            d_carry += d_hidden * o * (1 - squashed * squashed)
            d_sums = jnp.concatenate(
                [
                    d_carry * g * i * (1 - i),
                    d_carry * before * f * (1 - f),
                    d_carry * i * (1 - g * g),
                    d_hidden * squashed * o * (1 - o),
                ],
                axis=1,
            )
            return (d_sums @ transposed, d_carry * f, before), d_sums

        start = jnp.zeros_like(carry) if sequences else d_outputs, d_carry, carry
        values = d_outputs if sequences else None, *stored
        (d_hidden, d_carry, _), d_sums = lax.scan(step, start, values, reverse=not backwards)
        d_sums = d_sums.reshape(-1, d_sums.shape[-1])
        return (
            (d_sums @ kernel.T).reshape(x.shape),
            d_hidden,
            d_carry,
            x.reshape(-1, x.shape[-1]).T @ d_sums,
            hiddens.reshape(-1, hiddens.shape[-1]).T @ d_sums,
            d_sums.sum(0),
        )

    lstm = jax.custom_vjp(lambda *arguments: forward(*arguments)[0], nondiff_argnums=(0, 1))
    lstm.defvjp(forward, backward)
    return lstm
