"""The tuned loop: Keras's own training step, compiled over samples that stay on the device."""

from copy import copy
from time import perf_counter
from typing import Any

import numpy as np

from scripts.frameworks._model import as_fitted, check_logs, named, own_steps
from scripts.frameworks.jax.batches import Batches
from scripts.frameworks.jax.device import first_devices
from scripts.frameworks.jax.sparse import SparseStep
from scripts.workloads import Samples, mapped

#: Forms of a step train so long in turns before the fastest is taken.
_TRIED_SECONDS = 2


class Loop:
    """Keras's own training step, compiled over samples that stay on the device."""

    def __init__(
        self,
        model: Any,
        x: Samples,
        y: Samples,
        validation: tuple[Samples, Samples] | None,
        batch_size: int,
        devices: int,
        sparse: bool,
    ) -> None:
        import jax

        self._model = model
        self._own = own_steps(model, devices, sparse)
        x, y, validation = as_fitted((x, y, validation))
        model._symbolic_build(data_batch=mapped(lambda array: array[:batch_size], (x, y)))
        mesh = jax.sharding.Mesh(first_devices(devices), ("batch",))
        self._everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
        train_step = SparseStep(model) if sparse else self._train_step
        self._train = Batches(train_step, (x, y), batch_size, mesh)
        self._test = None if validation is None else Batches(self._test_step, validation, batch_size, mesh)
        self._state: Any = None
        self.settings = {"samples": "on the device"}

    def compile(self) -> None:
        """Compile the training and the validation."""
        import jax

        state = [
            [jax.ShapeDtypeStruct(variable.shape, variable.dtype, sharding=self._everywhere) for variable in group]
            for group in self._variables()
        ]
        self._train.compile(state, patches=False)
        # Each convolution of a step comes with two gradients: of more than eight layers, XLA's are taken untried.
        if jax.default_backend() == "cpu" and 0 < self._train.convolutions <= 3 * 8:
            # A copy, as JAX would find what it has traced for the same object again.
            other = copy(self._train)
            other.compile(state, patches=True)
            candidates = {"of XLA": self._train, "product of patches": other}
            # A training that is resumed goes on as it began.
            chosen = candidates.get(self.settings.get("convolution", ""))
            self._train = chosen or self._fastest(*candidates.values())
            self.settings["convolution"] = "product of patches" if self._train.patches else "of XLA"
        self.settings["loop"] = "lax.fori_loop over the batches" if self._train.looped else "one call per batch"
        if self._test is not None:
            self._test.compile(state, self._train.patches)

    def _fastest(self, *candidates: Batches) -> Batches:
        """Let the candidates train a copy of the state in turns, for some seconds, and return the fastest."""
        import jax

        values = [[variable.value for variable in group] for group in self._variables()]
        state = jax.device_put(values, self._everywhere, may_alias=False)
        order = self._train.place(np.arange(self._train.count))
        seconds: list[list[float]] = [[] for _ in candidates]
        while sum(map(sum, seconds)) < _TRIED_SECONDS:
            for candidate, taken in zip(candidates, seconds, strict=True):
                start = perf_counter()
                state = jax.block_until_ready(candidate.run(state, order, 0, min(2, candidate.whole)))
                taken.append(perf_counter() - start)
        return candidates[np.argmin([min(taken) for taken in seconds])]

    def begin(self, order: np.ndarray) -> None:
        """Take the state from the model, which has none until `finish`."""
        self._order = self._train.place(order)
        self._take()

    def steps(self, first: int, last: int) -> None:
        """Train the whole batches `first` to `last` - 1 of the order."""
        self._state = self._train.run(self._state, self._order, first, last)

    def rest(self) -> None:
        """Train the odd last batch, if there is one."""
        self._state = self._train.rest(self._state, self._order)

    def state(self) -> list[np.ndarray]:
        """Return the values of all variables, random ones too."""
        import jax

        return [np.asarray(value) for group in jax.device_get(self._state) for value in group]

    def restore(self, state: list[np.ndarray]) -> None:
        """Take the values of all variables."""
        import jax

        values = iter(state)
        groups = [[next(values) for _ in group] for group in self._variables()]
        self._state = jax.device_put(groups, self._everywhere)

    def finish(self) -> dict[str, float]:
        """Give the state back to the model and return the epoch's means."""
        return self._give()

    def validate(self) -> dict[str, float]:
        """Return the means over the validation samples."""
        if self._test is None:
            return {}
        order = self._test.place(np.arange(self._test.count))
        self._take()
        self._state = self._test.run(self._state, order, 0, self._test.whole)
        self._state = self._test.rest(self._state, order)
        return {f"val_{name}": value for name, value in self._give().items()}

    def close(self) -> None:
        """Nothing was started that does not end with this process."""

    def _train_step(self, state: Any, data: Any) -> Any:
        logs, state = self._model.train_step(state, data)
        if "train_step" in self._own:
            check_logs(self._model, logs)
        return [list(group) for group in state]

    def _test_step(self, state: Any, data: Any) -> Any:
        trainable, other, optimizer, metrics = state
        logs, (trainable, other, metrics) = self._model.test_step((trainable, other, metrics), data)
        if "test_step" in self._own:
            check_logs(self._model, logs)
        # A layer may count, or draw random numbers, in validation too.
        return [list(trainable), list(other), optimizer, list(metrics)]

    def _variables(self) -> list[list]:
        model = self._model
        groups = model.trainable_variables, model.non_trainable_variables, model.optimizer.variables
        return [*groups, model.metrics_variables]

    def _take(self) -> None:
        import jax

        self._model.reset_metrics()
        values = [[variable.value for variable in group] for group in self._variables()]
        self._homes = [[value.sharding for value in group] for group in values]
        self._state = jax.device_put(values, self._everywhere)

    def _give(self) -> dict[str, float]:
        import jax

        state = jax.device_put(self._state, self._homes)
        self._state = None
        for variables, values in zip(self._variables(), state, strict=True):
            for variable, value in zip(variables, values, strict=True):
                variable.assign(value)
        return named(self._model, self._model.get_metrics_result())
