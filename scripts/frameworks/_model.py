"""What every training asks of a compiled Keras model: which log is its accuracy, which steps are its own."""

from collections.abc import Mapping
from typing import Any

from scripts.frameworks import Unsupported
from scripts.workloads import Samples, mapped

#: The share of predictions that are right, by the names that Keras gives it; a top-k accuracy is none of these.
_ACCURACIES = ("acc", "accuracy", "binary_accuracy", "categorical_accuracy", "sparse_categorical_accuracy")

#: What steps through the batches: a model with one of its own is not trained by a loop of ours.
_LOOPS = ("fit", "evaluate", "make_train_function", "make_test_function")

_STEPS = ("train_step", "test_step")


def _is_accuracy(metric: Any) -> bool:
    from keras import metrics

    plain = (
        metrics.Accuracy,
        metrics.BinaryAccuracy,
        metrics.CategoricalAccuracy,
        metrics.SparseCategoricalAccuracy,
    )
    top = metrics.TopKCategoricalAccuracy, metrics.SparseTopKCategoricalAccuracy
    return type(metric) in plain or (metric.name in _ACCURACIES and not isinstance(metric, top))


def _accuracy(model: Any) -> str | None:
    """Return the name under which Keras logs the model's first accuracy, None without one."""
    from keras.src.trainers.compile_utils import CompileMetrics

    for metric in model.metrics:
        if isinstance(metric, CompileMetrics):
            # Its names differ from those of its metrics where there are several outputs or a name comes twice.
            logged = zip(metric.metrics, metric.result() if metric.built else (), strict=True)
        else:
            logged = zip([metric], [metric.name], strict=True)
        for each, name in logged:
            if _is_accuracy(each):
                return name
    return None


def named(model: Any, logs: Mapping[str, Any]) -> dict[str, float]:
    """Return logs of Keras as a record has them: the model's accuracy as `acc` and `val_acc`, and no other metric so.

    It is the first one compiled, in the order of the outputs, that is one of Keras's plain accuracies or is called
    as one. A top-k accuracy never is, whatever it is called.
    """
    found = _accuracy(model)
    others = {name: float(value) for name, value in logs.items() if name.removeprefix("val_") not in ("acc", found)}
    accuracies = {
        f"{prefix}acc": float(logs[prefix + found]) for prefix in ("", "val_") if found and prefix + found in logs
    }
    return others | accuracies


def as_fitted(samples: Samples) -> Samples:
    """Return samples with fractions in Keras's float type, as `fit` takes them; None where there are none."""
    import keras

    def cast(array: Any) -> Any:
        is_float = array is not None and array.dtype.kind == "f"
        return array.astype(keras.config.floatx(), copy=False) if is_float else array

    return mapped(cast, samples)


def _overridden(model: Any, names: tuple[str, ...]) -> frozenset[str]:
    import keras

    def function(method: Any) -> Any:
        return getattr(method, "__func__", method)

    return frozenset(name for name in names if function(getattr(model, name)) is not getattr(keras.Model, name))


def own_steps(model: Any, devices: int, sparse: bool) -> frozenset[str]:
    """Return which of `train_step` and `test_step` are the model's own; `Unsupported` where a loop cannot keep to it.

    Its own `compute_loss` and `compute_metrics` are called wherever Keras's steps would call them.
    """
    import keras

    loops = _overridden(model, _LOOPS)
    if loops:
        raise Unsupported(f"the model has its own {', '.join(sorted(loops))}: mode stock trains it on one device")
    if any(isinstance(value, keras.optimizers.Optimizer) for value in _others(model)):
        raise Unsupported("the model has more than one optimizer: mode stock trains it on one device")
    own = _overridden(model, _STEPS)
    if own and (sparse or devices > 1):
        where = "sparse updates are" if sparse else "several devices are"
        raise Unsupported(f"the model has its own {', '.join(sorted(own))}: {where} for Keras's step")
    return own


def _others(model: Any) -> list[Any]:
    return [value for value in vars(model).values() if value is not model.optimizer]


def states(model: Any) -> list[Any]:
    """Return the variables that layers hold beside `model.variables`: the states of stateful recurrences."""
    import keras

    known = {id(variable) for variable in model.variables}
    found = {}
    for layer in model._flatten_layers():
        for value in vars(layer).values():
            for part in value if isinstance(value, list | tuple) else (value,):
                if isinstance(part, keras.Variable) and id(part) not in known:
                    found[id(part)] = part
    return list(found.values())


def check_logs(model: Any, logs: Mapping[str, Any]) -> None:
    """Raise `Unsupported` if a step of the model's own logs what no metric of the model holds.

    Of such logs Keras shows those of the last batch, which stand for no epoch.
    """
    parts = [set(value) if isinstance(value, Mapping) else {name} for name, value in logs.items()]
    logged, held = set[str]().union(*parts), set(model.get_metrics_result())
    if logged != held:
        raise Unsupported(
            f"the model's own step logs {', '.join(sorted(logged))}; its metrics are {', '.join(sorted(held))}: "
            "what no metric holds is a value of the last batch"
        )
