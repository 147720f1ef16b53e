"""TensorFlow: thread pools through its configuration, devices by `sync_devices`."""

from scripts.frameworks import ThreadPoolError

DISTRIBUTIONS = ("tensorflow",)


def environment(cores: int) -> dict[str, str]:
    """Quiet start-up messages; the pools are sized in `start`."""
    return {"TF_CPP_MIN_LOG_LEVEL": "2", "OMP_NUM_THREADS": str(cores)}


def start(cores: int) -> list[str]:
    """Import TensorFlow with pools of `cores` threads and GPU memory taken as needed; return its devices."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(cores)
    tf.config.threading.set_inter_op_parallelism_threads(cores)
    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    threads = tf.config.threading.get_intra_op_parallelism_threads()
    if threads != cores:
        raise ThreadPoolError(f"TensorFlow runs {threads} threads, not {cores}")
    return [device.name for device in gpus or tf.config.list_physical_devices("CPU")]


def synchronise() -> None:
    """Wait for every device."""
    import tensorflow as tf

    tf.test.experimental.sync_devices()
