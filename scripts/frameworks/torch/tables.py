"""The dense update of large embeddings without their dense gradient, which is zero but for the rows of the batch."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from scripts.frameworks.torch.graph import capture, compile_graph
from scripts.frameworks.torch.host import use_huge_pages
from scripts.frameworks.torch.sparse import LAZY

#: Options of Keras's optimisers with which a row's update depends on more than this row, or on more than the rule.
_EXTRAS = (
    "amsgrad", "centered", "momentum", "weight_decay", "clipnorm", "clipvalue", "global_clipnorm", "use_ema",
    "gradient_accumulation_steps",
)  # fmt: skip


@cache
def _operations() -> tuple[Callable, Callable]:
    """Return `taken(table, indices)`, rows of a table, and `summed(indices, values)`, for equal indices their sum.

    As torch has them: TorchInductor writes loops over the elements instead, which take 12 ms where torch's take 1
    (12,800 rows of 50; torch 2.13).
    """
    import torch
    from torch import Tensor

    def taken(table: Tensor, indices: Tensor) -> Tensor:
        return table.index_select(0, indices)

    def summed(indices: Tensor, values: Tensor) -> Tensor:
        numbers = torch.searchsorted(indices.sort().values, indices)  # one for each row
        return torch.zeros_like(values).index_add_(0, numbers, values).index_select(0, numbers)

    # Not by decorator: `Tensor` in the annotations is local, and the signature is read from them.
    operations = [
        torch.library.custom_op(f"epochs::{function.__name__}", function, mutates_args=())
        for function in (taken, summed)
    ]
    operations[0].register_fake(lambda table, indices: table.new_empty(len(indices), table.shape[1]))
    operations[1].register_fake(lambda indices, values: torch.empty_like(values))
    return operations[0], operations[1]


class Tables:
    """The embeddings of a model whose rows a step moves apart: on a CPU, of plain Adam or RMSprop.

    Both rules go element by element. So the rows of the batch are moved with their gradient, all rows with a gradient
    of zero, in one pass of their own, and the first then take the place of what the pass made of them. That is what
    the dense gradient does, without hundreds of MB of zeros (`imdb_fasttext`) being written, summed and read.
    """

    def __init__(self, model: Any, wanted: bool) -> None:
        import torch

        self._model, self._optimizer = model, model.optimizer
        plain = type(self._optimizer).__name__ in LAZY and not any(
            getattr(self._optimizer, extra, None) for extra in _EXTRAS
        )
        wanted = wanted and plain and not torch.cuda.is_available()
        self._tables = dict(self._embeddings()) if wanted else {}
        self._lookups: list[tuple[int, Any, Any]] = []
        self._decays: dict[int, Callable] = {}
        for place in self._tables:
            for part in self._parts(place):
                use_huge_pages(part._value)

    def _embeddings(self) -> Iterator[tuple[int, Any]]:
        """Return each embedding's table, with its place among the weights of the model."""
        import keras
        import torch

        layers = self._model._flatten_layers()
        tables = [layer.embeddings for layer in layers if isinstance(layer, keras.layers.Embedding)]
        for place, variable in enumerate(self._model.trainable_variables):
            simple = variable.constraint is None and variable.value.dtype == torch.float32
            if simple and any(variable is table for table in tables):
                yield place, variable

    def _parts(self, place: int) -> list:
        """Return the table and its moments, variables of Keras."""
        table = self._tables[place]
        index = self._optimizer._get_variable_index(table)
        return [table, *(getattr(self._optimizer, name)[index] for name in LAZY[type(self._optimizer).__name__])]

    @property
    def rows(self) -> list:
        """The rows that were looked up since `watched`, of which gradients are wanted beside those of the weights."""
        return [rows for _, _, rows in self._lookups]

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Let look-ups of few rows of a table be noted; those rows, not the table, then have the gradient."""
        import torch
        from keras.src.backend.torch import numpy as keras_numpy
        from keras.src.backend.torch.core import convert_to_tensor

        keras_take = keras_numpy.take
        taken, _ = _operations()

        def take(x, indices, axis=None):
            place = next((place for place, table in self._tables.items() if table is x), None)
            indices = convert_to_tensor(indices).long()
            if place is None or axis != 0 or 2 * indices.numel() > len(x.value):
                return keras_take(x, indices, axis)
            flat = indices.reshape(-1)
            flat = torch.where(flat < 0, flat + len(x.value), flat)
            rows = taken(x.value.detach(), flat).requires_grad_()
            self._lookups.append((place, flat, rows))
            return rows.reshape(*indices.shape, -1)

        self._lookups = []
        keras_numpy.take = take
        try:
            yield
        finally:
            keras_numpy.take = keras_take
            self._lookups = []

    def apply(self, gradients: list) -> dict[int, list]:
        """Update the model, all but the tables that were looked up; within `watched`.

        `gradients` are those of the weights and of `rows`. Returned are, by the place of a table, the indices that
        were looked up and the rows that table and moments are to have there: for `write`.
        """
        import torch

        taken, summed = _operations()
        variables = self._model.trainable_variables
        gradients, of_rows = gradients[: len(variables)], gradients[len(variables) :]
        moved: dict[int, list] = {}
        whole: list[tuple] = []
        for place in dict.fromkeys(place for place, _, _ in self._lookups):
            found = [number for number, lookup in enumerate(self._lookups) if lookup[0] == place]
            indices = torch.cat([self._lookups[number][1] for number in found])
            sums = torch.cat([of_rows[number] for number in found])
            if gradients[place] is not None:  # the table is used otherwise too
                gradients[place] = gradients[place].index_add(0, indices, sums)
                continue
            gradients[place] = summed(indices, sums)
            for part in self._parts(place):
                whole.append((part, part._value))
                part._value = taken(part._value.detach(), indices)
            moved[place] = [indices]
        self._optimizer.apply(gradients, variables)
        for place, rows in moved.items():
            rows += [part._value for part in self._parts(place)]
        for part, value in whole:
            part._value = value
        return moved

    def write(self, moved: dict[int, list]) -> None:
        """Move all other rows of these tables, and set those that `apply` has moved."""
        import torch

        with torch.no_grad():
            for place, (indices, *rows) in moved.items():
                if place not in self._decays:
                    self._decays[place] = self._compiled(place)
                self._decays[place]()
                for part, values in zip(self._parts(place), rows, strict=True):
                    part._value.index_copy_(0, indices, values)

    def _compiled(self, place: int) -> Callable:
        values = [variable._value for variable in (*self._parts(place), *self._optimizer.variables)]
        graph, state = capture(lambda: self._decay(place), values)
        run, _ = compile_graph(graph, state)
        return lambda: run(*state)

    def _decay(self, place: int) -> None:
        """Move the whole table by a gradient of zero, in the step that `apply` has counted already."""
        import torch

        optimizer, table = self._optimizer, self._tables[place]
        after = optimizer._iterations._value
        optimizer._iterations._value = after - 1
        try:
            zeros = torch.zeros_like(table.value)
            optimizer._backend_update_step([zeros], [table], optimizer._get_current_learning_rate())
        finally:
            optimizer._iterations._value = after
