"""How TensorFlow is held to its cores, multiplies float32, waits for its devices and trains on several."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from scripts.frameworks import ThreadPoolError, UnsupportedDevice


def environment(cores: int, virtual: int = 1) -> dict[str, str]:
    """Quiet start-up messages; the pools and the virtual devices are made in `start`."""
    return {"TF_CPP_MIN_LOG_LEVEL": "2", "OMP_NUM_THREADS": str(cores)}


def start(cores: int, virtual: int = 1) -> list[str]:
    """Import TensorFlow with pools of `cores` threads and GPU memory taken as needed; return its devices."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(cores)
    # A replica that waits for the others in an all-reduce holds its thread.
    tf.config.threading.set_inter_op_parallelism_threads(max(cores, virtual))
    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    if virtual > 1:
        (cpu,) = tf.config.list_physical_devices("CPU")
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * virtual)
    threads = tf.config.threading.get_intra_op_parallelism_threads()
    if threads != cores:
        raise ThreadPoolError(f"TensorFlow runs {threads} threads, not {cores}")
    return [device.name for device in gpus or tf.config.list_logical_devices("CPU")]


def synchronise() -> None:
    """Wait for every device."""
    import tensorflow as tf

    tf.test.experimental.sync_devices()


def set_precision(precision: str) -> None:
    """Allow tf32, which TensorFlow does unasked, for `tf32` only."""
    import tensorflow as tf

    if precision == "tf32":
        gpus = tf.config.list_physical_devices("GPU")
        capabilities = [
            tf.config.experimental.get_device_details(gpu).get("compute_capability", (0, 0)) for gpu in gpus
        ]
        if min(capabilities, default=(0, 0)) < (8, 0):
            raise UnsupportedDevice("tf32 needs GPUs of compute capability 8.0 or later")
    tf.config.experimental.enable_tensor_float_32_execution(precision == "tf32")


@contextmanager
def parallel(devices: int) -> Iterator[None]:
    """Mirror what is built inside over `devices` GPUs, or virtual CPUs where there is no GPU."""
    import tensorflow as tf

    if devices == 1:
        yield
        return
    names = [device.name for device in tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices("CPU")]
    if len(names) < devices:
        raise UnsupportedDevice(f"TensorFlow sees {len(names)} devices, not {devices}")
    with _mirrored(tuple(names[:devices])).scope():
        yield


@cache
def _mirrored(names: tuple[str, ...]):
    """Return the strategy for these devices: two of them in one process would interleave their all-reduces."""
    import tensorflow as tf

    return tf.distribute.MirroredStrategy(names)
