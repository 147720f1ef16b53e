"""The steps of a Keras model as functions of tensors, which a graph can be made of."""

import numpy as np

from scripts.frameworks._model import as_fitted, check_logs
from scripts.frameworks.torch.tables import Tables
from scripts.workloads import Samples


class KerasSteps:
    """What Keras does with a batch; batches are the leaves of the tree of x and y, one tensor each.

    Args:
        model: a compiled Keras model.
        tree: x and y, in whose form the model takes a batch.
        own: those of `train_step` and `test_step` that are the model's own, and are run as they are.
        devices: number of processes, each with a part of the batch.
        parallel: the model as it is called in training, if torch sums the gradients of the processes.
    """

    def __init__(self, model, tree: tuple[Samples, Samples], own: frozenset[str], devices: int, parallel=None) -> None:
        import keras

        self._model, self._own, self._devices, self._parallel = model, own, devices, parallel
        self._form = keras.tree.map_structure(lambda array: 0, tree)
        #: The embeddings whose rows a step moves apart.
        self.large: Tables | None = None
        #: This process's share of the batch; a batch of no share is not counted.
        self.share = 1.0

    def batch(self, leaves) -> tuple:
        """Return x and y, of which these are the leaves."""
        import keras

        return keras.tree.pack_sequence_as(self._form, list(leaves))

    def gradients(self, *leaves) -> list:
        """Return the gradients of the loss."""
        import torch

        model, (x, y) = self._model, self.batch(leaves)
        with torch.enable_grad():
            predicted = self._predicted(self._parallel or model, x, training=True)
            loss = model._compute_loss(x=x, y=y, y_pred=predicted, training=True)
            scaled = model.optimizer.scale_loss(loss)
            weights = [variable.value for variable in model.trainable_variables]
            weights += self.large.rows if self.large else []
            if self._parallel is None:
                gradients = torch.autograd.grad(scaled, weights, allow_unused=True)
            else:
                model.zero_grad()
                (scaled * (self.share * self._devices)).backward()  # what comes back is the mean over the devices
                gradients = [weight.grad for weight in weights]
        if self.share:
            self._count(x, y, predicted, loss)
        return list(gradients)

    def update(self, *gradients) -> None:
        """Let the optimiser apply the gradients."""
        self._model.optimizer.apply(list(gradients), self._model.trainable_variables)

    def step(self, *leaves) -> dict[int, list] | None:
        """Train a batch; return what is still to be moved of large embeddings (`Tables.apply`)."""
        import torch

        if "train_step" in self._own:
            with torch.enable_grad():
                check_logs(self._model, self._model.train_step(self.batch(leaves)))
        elif self.large:
            with self.large.watched():
                return self.large.apply(self.gradients(*leaves))
        else:
            self.update(*self.gradients(*leaves))
        return None

    def test(self, *leaves) -> None:
        """Validate on a batch."""
        x, y = self.batch(leaves)
        if "test_step" in self._own:
            check_logs(self._model, self._model.test_step((x, y)))
        else:
            predicted = self._predicted(self._model, x, training=False)
            self._count(x, y, predicted, self._model._compute_loss(x=x, y=y, y_pred=predicted, training=False))

    def _predicted(self, model, x, training: bool):
        return model(x, training=training) if self._model._call_has_training_arg else model(x)

    def _count(self, x, y, predicted, loss) -> None:
        """Count the batch in the means of the epoch; what is predicted keeps its mask."""
        import keras
        import torch

        with torch.no_grad():
            self._model._loss_tracker.update_state(loss.detach(), sample_weight=len(keras.tree.flatten(x)[0]))
            self._model.compute_metrics(x, y, predicted)


def held(samples: Samples, device: str) -> list:
    """Return the leaves of samples as tensors on the device."""
    import keras
    import torch

    leaves: list[np.ndarray] = keras.tree.flatten(as_fitted(samples))
    return [torch.as_tensor(leaf).to(device) for leaf in leaves]
