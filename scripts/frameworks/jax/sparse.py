"""Sparse updates: a step that moves only those rows of an embedding that its batch looks up."""

from collections.abc import Callable
from typing import Any

from scripts.frameworks import Unsupported

#: Settings under which an optimizer does with a gradient what needs that of the whole table.
_EXTRAS = (
    "clipnorm",
    "clipvalue",
    "global_clipnorm",
    "weight_decay",
    "use_ema",
    "gradient_accumulation_steps",
    "loss_scale_factor",
)


def _lazy_adam(optimizer: Any, rate: Any, step: Any, gradient: Any, row: Any, m: Any, v: Any) -> tuple:
    m += (1 - optimizer.beta_1) * (gradient - m)
    v += (1 - optimizer.beta_2) * (gradient**2 - v)
    rate = rate * (1 - optimizer.beta_2**step) ** 0.5 / (1 - optimizer.beta_1**step)
    return row - rate * m / (v**0.5 + optimizer.epsilon), m, v


def _lazy_rmsprop(optimizer: Any, rate: Any, step: Any, gradient: Any, row: Any, v: Any) -> tuple:
    v = optimizer.rho * v + (1 - optimizer.rho) * gradient**2
    return row - rate * gradient / (v + optimizer.epsilon) ** 0.5, v


class SparseStep:
    """A training step that moves only those rows of the embeddings that the batch holds, and their moments.

    Called with the state, values of the model's trainable and other variables, the optimizer's and the metrics', and
    with a batch `(x, y)`; returns the state after it. Raises `Unsupported` for a model without an embedding that is
    trained, or with one that is used for more than looking up, and for optimizers that have no such form.
    """

    def __init__(self, model: Any) -> None:
        import keras

        self._model = model
        self._optimizer = optimizer = model.optimizer
        layers = [layer for layer in model._flatten_layers() if type(layer) is keras.layers.Embedding]
        variables = list(map(id, model.trainable_variables))
        #: Each embedding by the place of its table among the trainable variables.
        self._layers = {
            variables.index(id(part.embeddings)): part for part in layers if id(part.embeddings) in variables
        }
        if not self._layers:
            raise Unsupported("mode sparse: the model trains no embedding")
        rule: Callable
        if type(optimizer) is keras.optimizers.Adam and not optimizer.amsgrad:
            rule, moments = _lazy_adam, [optimizer._momentums, optimizer._velocities]
        elif type(optimizer) is keras.optimizers.RMSprop and not optimizer.momentum and not optimizer.centered:
            rule, moments = _lazy_rmsprop, [optimizer._velocities]
        else:
            raise Unsupported(f"mode sparse: no such form of {type(optimizer).__name__} with these settings")
        self._rule = rule
        for extra in _EXTRAS:
            if getattr(optimizer, extra):
                raise Unsupported(f"mode sparse: the optimizer has {extra}")
        if any(layer.embeddings.constraint is not None for layer in self._layers.values()):
            raise Unsupported("mode sparse: an embedding has a constraint")
        kept = list(map(id, optimizer.variables))
        #: The places of a table's moments among the optimizer's variables.
        self._moments = {
            place: [kept.index(id(moment[optimizer._get_variable_index(layer.embeddings)])) for moment in moments]
            for place, layer in self._layers.items()
        }

    def __call__(self, state: Any, data: Any) -> Any:
        import jax
        import jax.numpy as jnp
        from keras import StatelessScope

        model, optimizer = self._model, self._optimizer
        values, other, optimizer_values, metrics = state
        dense = [place for place in range(len(values)) if place not in self._layers]
        looked_up: list[int] = []

        def loss(learned: list, tables: list, nudges: list | None) -> Any:
            """Return the loss where each row that is looked up is nudged: its gradient is that of the row."""
            found: list = []

            def lookup(place: int, layer: Any) -> Callable:
                def call(inputs: Any) -> Any:
                    rows = values[place][inputs.astype("int32")]
                    if nudges is not None:
                        rows += nudges[len(found)]
                    found.append((place, inputs, rows))
                    return rows.astype(layer.compute_dtype)

                return call

            merged = list(values)
            for place, value in zip([*dense, *self._layers], [*learned, *tables], strict=True):
                merged[place] = value
            try:
                for place, layer in self._layers.items():
                    layer.call = lookup(place, layer)
                value, aux = model.compute_loss_and_updates(
                    merged, other, metrics, *data, None, training=True, optimizer_variables=optimizer_values
                )
            finally:
                for layer in self._layers.values():
                    del layer.call
            looked_up[:] = [place for place, _, _ in found]
            return value, (aux, [inputs for _, inputs, _ in found], [rows for _, _, rows in found])

        learned, tables = [values[place] for place in dense], [values[place] for place in self._layers]
        traced, shapes = jax.make_jaxpr(lambda *given: loss(given[0], given[1], None), return_shape=True)(
            learned, tables
        )
        used = {id(variable) for equation in traced.eqns for variable in equation.invars}
        if used & set(map(id, traced.jaxpr.invars[len(learned) :])):
            raise Unsupported("mode sparse: an embedding is used for more than looking up, as for a regulariser")
        nudges = [jnp.zeros(row.shape, row.dtype) for row in shapes[1][2]]
        gradients, (aux, inputs, _) = jax.grad(
            lambda learned, nudges: loss(learned, tables, nudges), argnums=(0, 1), has_aux=True
        )(learned, nudges)
        unscaled, predicted, other, metrics = aux

        pairs = [*zip(model.trainable_variables, values, strict=True)]
        pairs += zip(optimizer.variables, optimizer_values, strict=True)
        with StatelessScope(state_mapping=pairs) as scope:
            # Before it is applied: what is applied counts as a step of a schedule.
            rate = optimizer._get_current_learning_rate()
            rate = getattr(rate, "value", rate)
            optimizer.apply(gradients[0], [model.trainable_variables[place] for place in dense])
            for place in self._layers:
                calls = [call for call, table in enumerate(looked_up) if table == place]
                table = [model.trainable_variables[place], *(optimizer.variables[at] for at in self._moments[place])]
                width = table[0].shape[1]
                indices = jnp.concatenate([inputs[call].ravel() for call in calls])
                sums = jnp.concatenate([gradients[1][call].reshape(-1, width) for call in calls])
                # Places that are left over lie behind the last row, where nothing is written.
                indices, inverse = jnp.unique(
                    indices, return_inverse=True, size=len(indices), fill_value=table[0].shape[0]
                )
                sums = jax.ops.segment_sum(sums, inverse, len(indices))
                old = [variable.value.at[indices].get(mode="clip") for variable in table]
                new = self._rule(optimizer, rate, optimizer.iterations.value.astype("float32"), sums, *old)
                for variable, rows in zip(table, new, strict=True):
                    variable.assign(variable.value.at[indices].set(rows, mode="drop", indices_are_sorted=True))
        _, metrics = model._update_metrics_variables(metrics, unscaled, *data, predicted, None)
        trainable = [scope.get_current_value(variable) for variable in model.trainable_variables]
        return [
            trainable,
            list(other),
            [scope.get_current_value(variable) for variable in optimizer.variables],
            metrics,
        ]
