"""Keras's optimisers by TensorFlow's kernels, for all of a variable or for single rows of it."""

from collections.abc import Callable

from scripts.frameworks import Unsupported
from scripts.frameworks.tensorflow.replace import Replacement


def fused_update(model, sparse: bool) -> list[Replacement]:
    """Let the optimiser use TensorFlow's kernels: a pass or three over the memory where Keras's formula takes ten.

    With `sparse`, a gradient that has rows updates these rows only. Nothing is replaced for an optimiser that
    TensorFlow has no kernel for; `Unsupported` with `sparse` for one that has no form of rows.
    """
    from keras import optimizers

    optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)
    own = type(optimizer).update_step
    dense: Callable | None = None
    lazy: Callable | None = None
    if own is optimizers.Adam.update_step and not optimizer.amsgrad:
        dense, lazy = _adam, _adam_rows
    elif own is optimizers.RMSprop.update_step and not optimizer.centered:
        dense, lazy = _rmsprop(optimizer), None if optimizer.momentum else _rmsprop_rows
    elif own is optimizers.Adadelta.update_step:
        dense = _adadelta
    elif own is optimizers.SGD.update_step:
        dense = _sgd
    if sparse and lazy is None:
        raise Unsupported(f"no sparse updates for this {type(optimizer).__name__}")
    if dense is None:
        return []

    def update_step(gradient, variable, rate):
        import tensorflow as tf

        index = optimizer._get_variable_index(variable)
        rate = tf.cast(rate, variable.dtype)
        if lazy and sparse and isinstance(gradient, tf.IndexedSlices):
            rows, places = tf.unique(gradient.indices)
            values = tf.math.unsorted_segment_sum(gradient.values, places, tf.size(rows))
            lazy(optimizer, index, variable, rate, tf.cast(values, variable.dtype), rows)
        else:
            dense(optimizer, index, variable, rate, tf.cast(tf.convert_to_tensor(gradient), variable.dtype))

    return [(optimizer, "update_step", update_step)]


def _adam(optimizer, index: int, variable, rate, gradient) -> None:
    import tensorflow as tf

    step = tf.cast(optimizer.iterations + 1, variable.dtype)
    tf.raw_ops.ResourceApplyAdam(
        var=variable.handle,
        m=optimizer._momentums[index].value.handle,
        v=optimizer._velocities[index].value.handle,
        beta1_power=tf.cast(optimizer.beta_1, variable.dtype) ** step,
        beta2_power=tf.cast(optimizer.beta_2, variable.dtype) ** step,
        lr=rate,
        beta1=optimizer.beta_1,
        beta2=optimizer.beta_2,
        epsilon=optimizer.epsilon,
        grad=gradient,
    )


def _adam_rows(optimizer, index: int, variable, rate, gradient, rows) -> None:
    import tensorflow as tf

    step = tf.cast(optimizer.iterations + 1, variable.dtype)
    momentum, velocity = (slot[index].value.handle for slot in (optimizer._momentums, optimizer._velocities))
    m, v = (
        tf.raw_ops.ResourceGather(resource=slot, indices=rows, dtype=variable.dtype) for slot in (momentum, velocity)
    )
    m += (gradient - m) * (1 - optimizer.beta_1)
    v += (gradient * gradient - v) * (1 - optimizer.beta_2)
    rate *= tf.sqrt(1 - optimizer.beta_2**step) / (1 - optimizer.beta_1**step)
    tf.raw_ops.ResourceScatterUpdate(resource=momentum, indices=rows, updates=m)
    tf.raw_ops.ResourceScatterUpdate(resource=velocity, indices=rows, updates=v)
    update = rate * m / (tf.sqrt(v) + optimizer.epsilon)
    tf.raw_ops.ResourceScatterSub(resource=variable.handle, indices=rows, updates=update)


def _rmsprop(optimizer) -> Callable:
    import tensorflow as tf

    # The kernel writes a momentum even where there is none.
    momentums = [slot.value for slot in optimizer._momentums] or [
        tf.Variable(tf.zeros(weight.shape, weight.dtype), trainable=False) for weight in optimizer._trainable_variables
    ]

    def update(optimizer, index: int, variable, rate, gradient) -> None:
        tf.raw_ops.ResourceApplyRMSProp(
            var=variable.handle,
            ms=optimizer._velocities[index].value.handle,
            mom=momentums[index].handle,
            lr=rate,
            rho=optimizer.rho,
            momentum=optimizer.momentum,
            epsilon=optimizer.epsilon,
            grad=gradient,
        )

    return update


def _rmsprop_rows(optimizer, index: int, variable, rate, gradient, rows) -> None:
    import tensorflow as tf

    velocity = optimizer._velocities[index].value.handle
    v = tf.raw_ops.ResourceGather(resource=velocity, indices=rows, dtype=variable.dtype)
    v = optimizer.rho * v + (1 - optimizer.rho) * gradient * gradient
    tf.raw_ops.ResourceScatterUpdate(resource=velocity, indices=rows, updates=v)
    update = rate * gradient / tf.sqrt(v + optimizer.epsilon)
    tf.raw_ops.ResourceScatterSub(resource=variable.handle, indices=rows, updates=update)


def _adadelta(optimizer, index: int, variable, rate, gradient) -> None:
    import tensorflow as tf

    tf.raw_ops.ResourceApplyAdadelta(
        var=variable.handle,
        accum=optimizer._accumulated_grads[index].value.handle,
        accum_update=optimizer._accumulated_delta_vars[index].value.handle,
        lr=rate,
        rho=optimizer.rho,
        epsilon=optimizer.epsilon,
        grad=gradient,
    )


def _sgd(optimizer, index: int, variable, rate, gradient) -> None:
    import tensorflow as tf

    if optimizer.momentum:
        tf.raw_ops.ResourceApplyKerasMomentum(
            var=variable.handle,
            accum=optimizer.momentums[index].value.handle,
            lr=rate,
            grad=gradient,
            momentum=optimizer.momentum,
            use_nesterov=optimizer.nesterov,
        )
    else:
        tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=rate, delta=gradient)
