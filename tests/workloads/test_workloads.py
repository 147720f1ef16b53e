import csv
import os
import py_compile
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from scripts import datasets, frameworks, workloads
from scripts.records import about
from scripts.records.reference import Reference
from scripts.storage.errors import InputError
from scripts.workloads import Split, imdb_fasttext

ROOT = Path(__file__).resolve().parents[2]
RNG = np.random.default_rng(1)


def images(*shape: int) -> dict[str, np.ndarray]:
    """Return 4 + 2 images."""
    return {
        "x_train": RNG.integers(0, 256, (4, *shape), dtype=np.uint8),
        "y_train": np.array([0, 1, 2, 9], np.uint8),
        "x_test": RNG.integers(0, 256, (2, *shape), dtype=np.uint8),
        "y_test": np.array([3, 9], np.uint8),
    }


def reviews(train: list[list[int]], test: list[list[int]]) -> dict[str, np.ndarray]:
    """Return texts as `scripts.datasets.imdb` and `twitter_sentiment` store them, labels 0 1 0 1 ..."""
    arrays = {}
    for split, texts in (("train", train), ("test", test)):
        arrays[f"{split}_tokens"] = np.concatenate(texts).astype(np.uint32)
        arrays[f"{split}_lengths"] = np.array([len(text) for text in texts], np.int32)
        arrays[f"{split}_labels"] = (np.arange(len(texts)) % 2).astype(np.uint8)
    return arrays


TINY = {
    "cifar10": images(32, 32, 3),
    "imagenet_like": {
        "images": RNG.integers(0, 256, (3, 299, 299, 3), dtype=np.uint8),
        "labels": np.array([0, 999, 5, 7], np.int32),
    },
    "imdb": reviews([[1, 5, 6], [1, 5], [1, 30_000, 9], [1]], [[1, 7, 5, 6], [1]]),
    "mnist": images(28, 28),
    "nietzsche": {"text": np.arange(50, dtype=np.uint8) % 7, "characters": np.arange(97, 104, dtype=np.uint32)},
    "twitter_sentiment": reviews([[1, 5, 6], [1, 5], [1, 9, 2, 3, 4], [1]], [[1, 7, 5, 6], [1]]),
}
#: Workloads whose reference is a log of 2017.
FROM_LOGS = [
    "cifar10_cnn",
    "imdb_bidirectional_lstm",
    "imdb_fasttext",
    "lstm_text_generation",
    "mnist_cnn",
    "mnist_mlp",
]
LONGER = {"nietzsche_gpt": {**TINY["nietzsche"], "text": (np.arange(800) % 7).astype(np.uint8)}}


def tiny(name: str) -> dict[str, np.ndarray]:
    """Return the arrays of few samples that the workload takes."""
    return LONGER.get(name, TINY[workloads.workload(name).DATASET])


@pytest.fixture(params=about.workloads())
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def test_module_has_what_a_workload_needs(name: str) -> None:
    work = workloads.workload(name)
    assert datasets.dataset(work.DATASET).COMPLETE >= work.BATCH_SIZE > 0
    if work.REFERENCE is not None:
        assert work.REFERENCE.first_epoch - 1 + len(work.REFERENCE.values) == work.EPOCHS
        assert work.REFERENCE.metric in ("val_acc", "loss")
        assert work.REFERENCE.source
    assert callable(work.prepare)
    assert callable(work.build)
    assert work.__doc__.splitlines()[0].endswith("."), "the report shows the first line"


@pytest.mark.parametrize(
    ("name", "x", "y", "kind"),
    [
        ("cifar10_cnn", (4, 32, 32, 3), (4,), "float32"),
        ("cifar10_resnet20", (4, 32, 32, 3), (4,), "float32"),
        ("inception_v3", (4, 299, 299, 3), (4,), "uint8"),
        ("mnist_cnn", (4, 28, 28, 1), (4,), "float32"),
        ("mnist_mlp", (4, 784), (4,), "float32"),
        ("imdb_bidirectional_lstm", (4, 100), (4,), "int32"),
        ("imdb_fasttext", (4, 400), (4,), "int32"),
        ("lstm_text_generation", (4, 40, 7), (4,), "bool"),
        ("nietzsche_gpt", (5, 256), (5, 256), "int32"),
        ("resnet50", (4, 224, 224, 3), (4,), "uint8"),
        ("twitter_bidirectional_lstm", (4, 5), (4,), "int32"),
        ("vgg16", (4, 224, 224, 3), (4,), "uint8"),
    ],
)
def test_prepared_arrays_have_the_documented_shape(name: str, x: tuple, y: tuple, kind: str) -> None:
    work = workloads.workload(name)
    split = work.prepare(tiny(name))
    assert (split.x_train.shape, split.x_train.dtype.name, split.y_train.shape) == (x, kind, y)
    if split.x_val is None:
        assert work.REFERENCE is None or work.REFERENCE.metric == "loss", "without validation the loss is the result"
    else:
        samples = 1 if name == "nietzsche_gpt" else 2
        assert (split.x_val.shape, split.y_val.shape) == ((samples, *x[1:]), (samples, *y[1:]))
        assert split.x_val.dtype == split.x_train.dtype


@pytest.mark.parametrize("name", ["cifar10_cnn", "mnist_cnn", "mnist_mlp"])
def test_pixels_go_from_0_to_1(name: str) -> None:
    work = workloads.workload(name)
    arrays = TINY[work.DATASET]
    split = work.prepare(arrays)
    np.testing.assert_allclose(split.x_train.ravel() * 255, arrays["x_train"].ravel(), atol=1e-4)
    assert split.y_train.tolist() == [0, 1, 2, 9]


def test_lstm_sees_the_end_of_a_review() -> None:
    long = [1, *range(100, 250)]
    split = workloads.workload("imdb_bidirectional_lstm").prepare(reviews([long, [1, 25_000]], [[1]]))
    assert split.x_train[0].tolist() == list(range(150, 250))
    assert split.x_train[1].tolist() == [0] * 98 + [1, 2]
    assert split.y_train.tolist() == [0, 1]


def test_fasttext_appends_the_pairs_that_training_knows() -> None:
    split = imdb_fasttext.prepare(reviews([[1, 5, 6], [1, 5]], [[1, 7, 5, 6], [1, 7]]))
    first, second = 20_001, 20_002  # pairs (1, 5) and (5, 6); 20,000 words and the padding come before
    assert [[i for i in row if i] for row in split.x_train.tolist()] == [[1, 5, 6, first, second], [1, 5, first]]
    assert [[i for i in row if i] for row in split.x_val.tolist()] == [[1, 7, 5, 6, second], [1, 7]]
    assert split.classes == 20_003


def test_fasttext_embedding_has_a_row_for_every_index() -> None:
    split = imdb_fasttext.prepare(TINY["imdb"])
    assert max(split.x_train.max(), split.x_val.max()) < split.classes
    assert split.x_train.max() == split.classes - 1


def test_text_is_windows_of_40_characters_3_apart() -> None:
    split = workloads.workload("lstm_text_generation").prepare(TINY["nietzsche"])
    assert split.x_train.argmax(axis=2)[:, 0].tolist() == [0, 3, 6, 2]
    assert split.x_train.argmax(axis=2)[1].tolist() == [i % 7 for i in range(3, 43)]
    assert (split.x_train.sum(axis=2) == 1).all()
    assert split.y_train.tolist() == [i % 7 for i in (40, 43, 46, 49)]
    assert split.classes == 7


def test_gpt_is_asked_for_the_next_character_everywhere_and_for_the_end_of_the_text() -> None:
    text = np.arange(800) % 7
    split = workloads.workload("nietzsche_gpt").prepare(LONGER["nietzsche_gpt"])
    assert split.x_train[1].tolist() == text[64:320].tolist()
    assert split.y_train[1].tolist() == text[65:321].tolist()
    assert split.y_train[-1].tolist() == text[4 * 64 + 1 : 4 * 64 + 257].tolist(), "nothing of what is held out"
    assert split.y_val[0].tolist() == text[-256:].tolist()
    assert split.classes == 7


def test_tweets_are_padded_at_their_end_to_the_longest_of_all() -> None:
    arrays = TINY["twitter_sentiment"] | {"train_labels": np.array([0, 1], np.uint8)}
    split = workloads.workload("twitter_bidirectional_lstm").prepare(arrays)
    assert split.x_train.tolist() == [[1, 5, 6, 0, 0], [1, 5, 0, 0, 0]], "the longest is not among them"
    assert split.x_val.tolist() == [[1, 7, 5, 6, 0], [1, 0, 0, 0, 0]]
    assert split.y_train.tolist() == [0, 1]
    assert split.classes == 10


def test_resnet20_images_lose_the_mean_of_the_training_images() -> None:
    arrays = TINY["cifar10"]
    split = workloads.workload("cifar10_resnet20").prepare(arrays)
    np.testing.assert_allclose(split.x_train.mean(axis=0), 0, atol=1e-6)
    mean = arrays["x_train"].mean(axis=0)
    np.testing.assert_allclose(split.x_val * 255, arrays["x_test"] - mean, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("images", "batch_size", "drops"),
    [(50_000, 128, [32_000, 48_000]), (50_000, 512, [8_020, 12_031]), (5_000, 128, [3_274, 4_910])],
)
def test_resnet20_learns_slower_after_as_many_epochs_whatever_the_batch(
    images: int, batch_size: int, drops: list[int]
) -> None:
    """81.8 and 122.8 epochs: 98 steps of 512 images, 40 steps of 128 of a tenth of them."""
    pytest.importorskip("keras", reason="no framework is installed")
    x = np.broadcast_to(np.float32(0), (images, 32, 32, 3))
    split = Split(x, np.zeros(images, np.uint8), batch_size=batch_size)
    model = workloads.workload("cifar10_resnet20").build(split)
    assert model.optimizer._learning_rate.boundaries == drops


@pytest.mark.parametrize("name", ["inception_v3", "resnet50", "vgg16"])
def test_noise_is_said_to_teach_nothing(name: str) -> None:
    work = workloads.workload(name)
    assert (work.DATASET, work.REFERENCE, work.LEARNABLE) == ("imagenet_like", None, False)


@pytest.mark.represented_by("cifar10_resnet20-269722", "twitter_bidirectional_lstm-100225")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("cifar10_resnet20", 269_722),
        ("inception_v3", 23_817_352),
        ("nietzsche_gpt", 10_763_904 - 50 * 2 * 384),  # 7 characters here, 57 in the text
        ("resnet50", 25_583_592),
        ("twitter_bidirectional_lstm", 10 * 128 + 98_816 + 129),
        ("vgg16", 138_357_544),
    ],
)
def test_network_has_the_published_number_of_trained_parameters(name: str, parameters: int) -> None:
    pytest.importorskip("keras", reason="no framework is installed")
    work = workloads.workload(name)
    model = work.build(work.prepare(tiny(name)))
    assert sum(int(np.prod(weights.shape)) for weights in model.trainable_weights) == parameters


@pytest.mark.parametrize(
    ("train", "val", "left"),
    [(100, 50, (96, 32)), (64, 32, (64, 32)), (32, 20, (32, 20)), (63, None, (32, None))],
)
def test_short_runs_are_cut_to_whole_batches(train: int, val: int | None, left: tuple[int, int | None]) -> None:
    x, y = np.arange(train), np.arange(train) * 2
    given = Split(x, y, classes=5) if val is None else Split(x, y, np.arange(val), np.arange(val), 5)
    cut = given.whole_batches(32)
    assert (len(cut.x_train), None if cut.x_val is None else len(cut.x_val)) == left
    assert (cut.y_train == cut.x_train * 2).all()
    assert cut.classes == 5


def test_inputs_and_outputs_may_be_trees() -> None:
    x, y = {"a": np.arange(70), "b": [np.arange(140).reshape(70, 2)]}, (np.arange(70), np.arange(70))
    cut = Split(x, y, x, y).whole_batches(32)
    assert (cut.train_samples, cut.val_samples) == (64, 64)
    assert cut.x_train["b"][0].shape == (64, 2)
    assert type(cut.y_val) is tuple
    assert cut.part(0.5).train_samples == 32
    assert list(cut.repeated(66).x_train["a"][-3:]) == [63, 0, 1]


def test_arrays_of_a_split_have_as_many_samples() -> None:
    with pytest.raises(ValueError, match=r"different numbers of samples: \[3, 4\]"):
        Split((np.zeros(3), np.zeros(3)), np.zeros(4))


def test_less_than_one_batch_is_refused() -> None:
    with pytest.raises(ValueError, match="31 samples do not fill one batch of 32"):
        Split(np.zeros(31), np.zeros(31)).whole_batches(32)


@pytest.mark.parametrize(
    ("epochs", "published"),
    [(0, None), (0.9, None), (1, (1, 0.5)), (1.9, (1, 0.5)), (1.9999999999999998, (2, 0.7)), (9, (3, 0.9))],
)
def test_reference_is_that_after_as_many_whole_epochs(epochs: float, published: tuple[int, float] | None) -> None:
    assert Reference("val_acc", (0.5, 0.7, 0.9), "a log").after(epochs) == published


def test_reference_of_the_end_of_a_training_says_nothing_of_the_epochs_before() -> None:
    reference = Reference("val_acc", (0.8,), "an article", first_epoch=4)
    assert [reference.after(epochs) for epochs in (0, 1, 3.9, 4, 9)] == [None, None, None, (4, 0.8), (4, 0.8)]


def published() -> Path | None:
    """Return the folder of the published logs, None where they are not here."""
    given = os.environ.get("EPOCHS_PUBLISHED_DIR")
    folder = Path(given) if given else ROOT.parent / "shared" / "published"
    return folder if given or folder.is_dir() else None


@pytest.mark.skipif(published() is None, reason="the published logs are not here: set EPOCHS_PUBLISHED_DIR")
@pytest.mark.parametrize("name", FROM_LOGS)
def test_reference_is_that_of_the_published_log(name: str) -> None:
    reference = about.workload(name).reference
    assert "MIT licence" in reference.source
    project, log = re.match(r"\w+/(\S+) @ \w+, (logs/\S+\.csv): ", reference.source).groups()
    (path,) = published().glob(f"{project}*/{log}")
    with path.open(newline="") as file:
        values = [float(row[reference.metric]) for row in csv.DictReader(file)]
    assert reference.values == tuple(round(value, 4) for value in values)


def test_workload_that_ends_python_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(about, "_ADDED", {})
    file = tmp_path / "leaves.py"
    file.write_text("DATASET, BATCH_SIZE, EPOCHS, REFERENCE = None, 8, 1, None\nimport sys\nsys.exit(0)\n")
    about.add({"leaves": str(file)})
    with pytest.raises(InputError, match=r"leaves\.py: SystemExit: 0"):
        workloads.workload("leaves")


def test_constants_are_what_was_read_of_the_file_before_it_ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(about, "_ADDED", {})
    file = tmp_path / "turns.py"
    file.write_text(
        "DATASET, BATCH_SIZE, EPOCHS, REFERENCE = None, 8, 1, None\nglobals()['EPOCHS'] = 9\n"
        "def prepare(arrays): ...\ndef build(split): ...\n"
    )
    about.add({"turns": str(file)})
    assert about.workload("turns").epochs == 1
    with pytest.raises(InputError, match=r"turns\.py: EPOCHS: the file sets it to 1 and then to something else"):
        workloads.workload("turns")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A workload that imports what lies beside it, and leaves no trace of that."""
    monkeypatch.setattr(about, "_ADDED", {})
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "own_net.py"
    file.write_text(
        "DATASET, BATCH_SIZE, EPOCHS, REFERENCE = None, 8, 1, None\n"
        "import own_helper\nSAID = own_helper.SAID\ndef prepare(arrays): ...\ndef build(split): ...\n"
    )
    (tmp_path / "own_helper.py").write_text("SAID = 'as trusted'  # and as it was read\n")
    about.add({"own_net": str(file)})
    yield file
    sys.modules.pop("own_helper", None)


@pytest.mark.parametrize("name", ["own_net", "own_helper"])
def test_what_came_compiled_with_a_workload_is_never_run(own: Path, name: str) -> None:
    """Python believes a file of `__pycache__` that has size and time of its source."""
    source = own.with_name(f"{name}.py")
    told = source.stat()
    trusted = source.read_text()
    source.write_text("raise RuntimeError('unasked')".ljust(told.st_size))
    os.utime(source, ns=(told.st_mtime_ns, told.st_mtime_ns))
    py_compile.compile(str(source), doraise=True)
    source.write_text(trusted)
    os.utime(source, ns=(told.st_mtime_ns, told.st_mtime_ns))
    assert workloads.workload("own_net").SAID == "as trusted"


def test_a_workload_imports_nothing_else_of_the_clone(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (ROOT / ".cache").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / ".cache") as folder:
        Path(folder, "own_helper.py").write_text("SAID = 'unasked'")
        monkeypatch.syspath_prepend(folder)
        with pytest.raises(InputError, match=r"own_helper\.py: lies outside .*, whose code was trusted: put it there"):
            workloads.workload("own_net")
        monkeypatch.setattr(sys, "prefix", folder)  # where Snakemake makes environments of conda
        assert workloads.workload("own_net").SAID == "unasked"


@pytest.mark.parametrize("hides_first", [True, False])
def test_a_workload_finds_what_lies_beside_it_and_no_other_framework(own: Path, hides_first: bool) -> None:
    """A training hides the other frameworks before it runs the workload's file."""
    for name in ("jax", "torch"):
        own.with_name(f"{name}.py").write_text("")
    steps = [lambda: frameworks.hide_others("jax"), lambda: workloads.workload("own_net")]
    for step in steps if hides_first else reversed(steps):
        step()
    assert workloads.workload("own_net").SAID == "as trusted"
    found = {name for name in ("jax", "torch") if any(finder.find_spec(name, None) for finder in sys.meta_path)}
    assert found == {"jax"}


@pytest.mark.parametrize("place", ["__pycache__", ".git"])
def test_what_was_not_asked_about_is_not_imported(own: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    own.with_name(place).mkdir()
    own.with_name("own_helper.py").rename(own.with_name(place) / "own_helper.py")
    monkeypatch.syspath_prepend(own.with_name(place))
    with pytest.raises(InputError, match=r"own_helper\.py: lies in .git or __pycache__, .* not trusted: put it elsewh"):
        workloads.workload("own_net")


def test_a_workload_imports_nothing_from_where_it_has_python_look(
    own: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a person's PYTHONPATH has it look is that person's."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    own.with_name("own_helper.py").rename(elsewhere / "own_helper.py")
    own.write_text(f"import sys\nsys.path.insert(0, {str(elsewhere)!r})\n{own.read_text()}")
    with pytest.raises(InputError, match=r"own_helper\.py: lies outside .*, or name its folder in PYTHONPATH"):
        workloads.workload("own_net")
    monkeypatch.syspath_prepend(elsewhere)
    assert workloads.workload("own_net").SAID == "as trusted"


def test_another_way_to_its_folder_is_no_way_round(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = own.parent.with_name("link")
    link.symlink_to(own.parent, target_is_directory=True)
    compiled = link / "own_helper.py"
    compiled.write_text("SAID = 'unasked'".ljust(len("SAID = 'as trusted'")))
    py_compile.compile(str(compiled), doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    compiled.write_text("SAID = 'as trusted'")
    monkeypatch.setattr(sys, "path", [str(link), *(one for one in sys.path if one != str(own.parent))])
    assert workloads.workload("own_net").SAID == "as trusted"
