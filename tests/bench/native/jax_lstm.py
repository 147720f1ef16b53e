"""An LSTM by plain JAX with its gradient written by hand: one product for all moments wherever one can.

After JAX's own page "Custom derivative rules for JAX-transformable Python programs" (`custom_vjp`) and `lax.scan`.
Written on 2026-11-22 by the project, before it had read what `tuned` made of the LSTM on JAX.
"""

import jax
import jax.numpy as jnp
from jax import lax


@jax.custom_vjp
def last_output(x, w, u, b):
    """Return the last output for inputs (length, batch, width), gates in the order i, f, g, o."""
    return _forward(x, w, u, b)[0]


def _forward(x, w, u, b):
    length, batch, width = x.shape
    cells = u.shape[0]

    def moment(state, z):
        h, c = state
        i, f, g, o = jnp.split(z + h @ u, 4, 1)
        i, f, g, o = jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(g), jax.nn.sigmoid(o)
        after = f * c + i * g
        t = jnp.tanh(after)
        return (o * t, after), (h, c, i, f, g, o, t)

    z = (x.reshape(-1, width) @ w + b).reshape(length, batch, 4 * cells)
    zeros = jnp.zeros((batch, cells))
    (h, _), saved = lax.scan(moment, (zeros, zeros), z)
    return h, (x, w, u, saved)


def _backward(kept, dh):
    x, w, u, (h, *saved) = kept

    def moment(state, saved):
        dh, dc = state
        c, i, f, g, o, t = saved
        dc = dc + dh * o * (1 - t * t)
        dz = (dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g), dh * t * o * (1 - o))
        dz = jnp.concatenate(dz, 1)
        return (dz @ u.T, dc * f), dz

    _, dz = lax.scan(moment, (dh, jnp.zeros_like(dh)), tuple(saved), reverse=True)
    dz = dz.reshape(-1, u.shape[1])
    flat, before = x.reshape(-1, x.shape[2]), h.reshape(-1, h.shape[2])
    return (dz @ w.T).reshape(x.shape), flat.T @ dz, before.T @ dz, dz.sum(0)


last_output.defvjp(_forward, _backward)
