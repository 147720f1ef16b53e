import gzip
import io
import json
import lzma
import os
import pickle
import struct
import tarfile
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
import requests

from scripts import datasets
from scripts.datasets import Source, cifar10, imagenet_like, imdb, mnist, nietzsche, twitter_sentiment
from scripts.records import data_file
from scripts.storage.errors import InputError

#: Data sets with official files.
REAL = ["cifar10", "imdb", "mnist", "nietzsche", "twitter_sentiment"]
NAMES = [*REAL, "imagenet_like"]

#: Documented in each module: type and shape beyond the first axis.
DOCUMENTED = {
    "cifar10": {
        "x_train": ("uint8", (32, 32, 3)),
        "y_train": ("uint8", ()),
        "x_test": ("uint8", (32, 32, 3)),
        "y_test": ("uint8", ()),
    },
    "imagenet_like": {"images": ("uint8", (299, 299, 3)), "labels": ("int32", ())},
    "imdb": {
        "train_tokens": ("uint32", ()),
        "train_lengths": ("int32", ()),
        "train_labels": ("uint8", ()),
        "test_tokens": ("uint32", ()),
        "test_lengths": ("int32", ()),
        "test_labels": ("uint8", ()),
    },
    "mnist": {
        "x_train": ("uint8", (28, 28)),
        "y_train": ("uint8", ()),
        "x_test": ("uint8", (28, 28)),
        "y_test": ("uint8", ()),
    },
    "nietzsche": {"text": ("uint8", ()), "characters": ("uint32", ())},
}
DOCUMENTED["twitter_sentiment"] = DOCUMENTED["imdb"]

TEXT = "Ça va!\nÀ vous"
REVIEWS = {"train": [[5, 6], [7], [8, 9, 10]], "test": [[11], [12, 13]]}
LABELS = {"train": [1, 0, 1], "test": [0, 1]}
TWEETS = [f"@a no{'o' * i} {'b' * (i + 1)} c" for i in range(20)]


class Python2Pickler(pickle._Pickler):
    """Writes text as the official CIFAR-10 files hold it: plain strings of Python 2."""

    def _string(self, value: str | bytes) -> None:
        content = value if isinstance(value, bytes) else value.encode("latin-1")
        self.write(pickle.BINSTRING + struct.pack("<i", len(content)) + content)

    dispatch = pickle._Pickler.dispatch | {str: _string, bytes: _string}


def pickled(value: object) -> bytes:
    stream = io.BytesIO()
    Python2Pickler(stream, protocol=2).dump(value)
    return stream.getvalue().replace(b"numpy._core.multiarray", b"numpy.core.multiarray")


def batch(label: int) -> bytes:
    """Return a CIFAR-10 batch of one image, of which the first row is red and the rest blue."""
    image = np.zeros((3, 32, 32), np.uint8)
    image[0, 0] = 200
    image[2, 1:] = 100 + label
    data = {"batch_label": "a batch", "labels": [label], "data": image.reshape(1, -1), "filenames": ["one.png"]}
    return pickled(data)


def tar(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def official_cifar10(folder: Path) -> None:
    files = {"batches.meta": pickled({"label_names": ["airplane"]}), "readme.html": b"<html>", "test_batch": batch(9)}
    files |= {f"data_batch_{i}": batch(i) for i in (3, 1, 5, 2, 4)}
    tar(folder / "cifar-10-python.tar.gz", files)


def official_imdb(folder: Path) -> None:
    arrays = {}
    for split in ("train", "test"):
        arrays[f"x_{split}"] = np.empty(len(REVIEWS[split]), object)
        arrays[f"x_{split}"][:] = REVIEWS[split]
        arrays[f"y_{split}"] = np.array(LABELS[split])
    np.savez(folder / "imdb.npz", **arrays)


def official_mnist(folder: Path) -> None:
    for split, samples in (("train", 3), ("t10k", 2)):
        images = np.arange(samples * 784).astype(np.uint8)
        head = struct.pack(">4i", 0x803, samples, 28, 28)
        (folder / f"{split}-images-idx3-ubyte.gz").write_bytes(gzip.compress(head + images.tobytes()))
        labels = struct.pack(">2i", 0x801, samples) + bytes(range(samples))
        (folder / f"{split}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(labels))


def official_nietzsche(folder: Path) -> None:
    (folder / "nietzsche.txt").write_text(TEXT, encoding="utf-8")


def official_twitter_sentiment(folder: Path) -> None:
    """Write tweets of which those with an even number are negative, in the official CSV of six fields."""
    rows = (f'"{i % 2 * 4}","{i}","Mon","NO_QUERY","caf\xe9","{tweet}"' for i, tweet in enumerate(TWEETS))
    with zipfile.ZipFile(folder / "trainingandtestdata.zip", "w") as archive:
        archive.writestr("training.1600000.processed.noemoticon.csv", "\n".join(rows).encode("latin-1"))
        archive.writestr("testdata.manual.2009.06.14.csv", "")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*args: object, **kwargs: object) -> None:
        raise requests.ConnectionError("no network in this test")

    monkeypatch.setattr(datasets.pooch, "retrieve", unreachable)
    monkeypatch.setattr(requests, "head", unreachable)


@pytest.fixture
def official(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of tiny files in the official layouts, which count as the official ones."""
    folder = tmp_path / "given"
    for module, write in (
        (cifar10, official_cifar10),
        (imdb, official_imdb),
        (mnist, official_mnist),
        (nietzsche, official_nietzsche),
        (twitter_sentiment, official_twitter_sentiment),
    ):
        own = folder / module.__name__.rpartition(".")[2]
        own.mkdir(parents=True)
        write(own)
        sums = {name: sha256((own / name).read_bytes()).hexdigest() for name in module.FILES}
        monkeypatch.setattr(
            module, "FILES", {name: Source(f"sha256:{sums[name]}", about.url) for name, about in module.FILES.items()}
        )
    return folder


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Synthetic sets of few training samples."""
    for name in NAMES:
        monkeypatch.setattr(datasets.dataset(name), "COMPLETE", 120)


def obtained(folder: Path, name: str, kind: str = "real", data_dir: Path | None = None) -> Path:
    path = folder / kind / f"{name}.npz"
    datasets.obtain(name, kind, path, data_dir, folder / "downloads")
    return path


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("name", "kind"), [*((name, "real") for name in REAL), *((name, "synthetic") for name in NAMES)]
)
def test_arrays_have_the_documented_names_types_and_shapes(
    tmp_path: Path, official: Path, name: str, kind: str
) -> None:
    path = obtained(tmp_path, name, kind, official)
    arrays = datasets.load(path)
    assert {key: (array.dtype.name, array.shape[1:]) for key, array in arrays.items()} == DOCUMENTED[name]
    about = data_file.describe(path)
    assert (about["dataset"], about["kind"], about["complete_train_samples"]) == (name, kind, 120)
    module = datasets.dataset(name)
    assert about["train_samples"] == len(arrays[module.TRAIN])
    assert set(about["sha256"]) == (set(module.FILES) if kind == "real" else set())


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", NAMES)
def test_synthetic_data_are_the_same_bytes_every_time(tmp_path: Path, name: str) -> None:
    first, second = obtained(tmp_path / "a", name, "synthetic"), obtained(tmp_path / "b", name, "synthetic")
    assert first.read_bytes() == second.read_bytes()
    arrays = datasets.load(first)
    assert len(arrays[datasets.dataset(name).TRAIN]) == 120
    assert all(len(np.unique(array)) > 1 for array in arrays.values())


@pytest.mark.parametrize("name", REAL)
def test_wrong_checksum_is_refused_with_both_sums(tmp_path: Path, official: Path, name: str) -> None:
    file, source = next(iter(datasets.dataset(name).FILES.items()))
    path = official / name / file
    path.write_bytes(path.read_bytes() + b"!")
    with pytest.raises(InputError) as error:
        obtained(tmp_path, name, data_dir=official)
    found = sha256(path.read_bytes()).hexdigest()
    expected = source.checksum.removeprefix("sha256:")
    for part in (str(path), found, expected):
        assert part in str(error.value)
    assert not (tmp_path / "real").exists()


@pytest.mark.parametrize("name", REAL)
def test_without_network_the_user_reads_what_to_put_where(tmp_path: Path, name: str) -> None:
    file, source = next(iter(datasets.dataset(name).FILES.items()))
    with pytest.raises(InputError) as error:
        obtained(tmp_path, name)
    for part in (file, source.url, source.checksum, f"DIR/{name}/", "--config data_dir=DIR"):
        assert part in str(error.value)


def test_half_of_the_files_are_not_the_data_set(tmp_path: Path, official: Path) -> None:
    (official / "mnist" / "t10k-labels-idx1-ubyte.gz").unlink()
    assert datasets.find("mnist", official) is None
    with pytest.raises(InputError, match=r"train-images-idx3-ubyte\.gz could not be fetched"):
        obtained(tmp_path, "mnist", data_dir=official)


def test_download_goes_where_the_next_one_finds_it(
    tmp_path: Path, official: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fetch(url: str, path: Path, checksum: str) -> None:
        asked.append((url, checksum))
        path.parent.mkdir(parents=True)
        path.write_bytes((official / "nietzsche" / path.name).read_bytes())

    monkeypatch.setattr(datasets.downloads, "fetch", fetch)
    path = obtained(tmp_path, "nietzsche")
    source = nietzsche.FILES["nietzsche.txt"]
    assert asked == [(source.url, source.checksum)]
    assert (tmp_path / "downloads" / "nietzsche" / "nietzsche.txt").read_text(encoding="utf-8") == TEXT
    assert data_file.describe(path)["train_samples"] == len(TEXT)


def test_data_are_the_same_by_their_arrays_and_not_by_their_files(tmp_path: Path) -> None:
    """As they came from other files, by older code, or with one sample changed by hand."""
    noted = {"about": {"dataset": "mnist", "kind": "real", "train_samples": 2, "sha256": {"a.gz": "1"}}}

    def described(name: str, x: list[int], **about: object) -> dict:
        text = np.array(json.dumps(noted["about"] | about))
        np.savez(tmp_path / name, about=text, x_train=np.array(x, "uint8"))
        return data_file.describe(tmp_path / f"{name}.npz")

    first = described("first", [1, 2])
    assert data_file.are_same(first, described("other-files", [1, 2], sha256={"b.npz": "2"}))
    assert not data_file.are_same(first, described("changed", [1, 3]))
    assert not data_file.are_same(first, described("kind", [1, 2], kind="synthetic"))
    assert data_file.are_same(noted["about"], first), "a record of before is known by its files"
    assert not data_file.are_same(noted["about"] | {"sha256": {"a.gz": "3"}}, first)


def test_corrupt_download_is_named(tmp_path: Path, official: Path) -> None:
    kept = tmp_path / "downloads" / "nietzsche" / "nietzsche.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("cut o")
    with pytest.raises(InputError, match=r"nietzsche\.txt: sha256 is .*, must be"):
        obtained(tmp_path, "nietzsche")


@pytest.mark.parametrize("place", ["mnist", "."])
def test_given_files_are_found_in_their_folder_or_beside_others(tmp_path: Path, official: Path, place: str) -> None:
    target = tmp_path / "mine" / place
    target.mkdir(parents=True)
    for file in (official / "mnist").iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    assert datasets.find("mnist", tmp_path / "mine") == {name: target / name for name in mnist.FILES}


def test_folder_may_have_hyphens_in_its_name(tmp_path: Path, official: Path) -> None:
    (official / "twitter_sentiment").rename(official / "twitter-sentiment")
    found = {name: official / "twitter-sentiment" / name for name in twitter_sentiment.FILES}
    assert datasets.find("twitter_sentiment", official) == found


@pytest.mark.parametrize("policy", ["real", "synthetic", "real-or-synthetic"])
def test_set_that_is_synthetic_by_design_is_so_under_every_policy(tmp_path: Path, policy: str) -> None:
    assert datasets.choose(policy, "imagenet_like", tmp_path, tmp_path) == "synthetic"


def test_no_real_form_of_a_set_that_is_synthetic_by_design(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="data set imagenet_like: synthetic by design"):
        obtained(tmp_path, "imagenet_like", data_dir=tmp_path)
    assert not (tmp_path / "real").exists()


def test_given_folder_is_named_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EPOCHS_DATA_DIR", raising=False)
    assert datasets.given_folder() is None
    monkeypatch.setenv("EPOCHS_DATA_DIR", str(tmp_path))
    assert datasets.given_folder() == tmp_path
    monkeypatch.setenv("EPOCHS_DATA_DIR", str(tmp_path / "none"))
    with pytest.raises(InputError, match=f"data_dir: {tmp_path}/none: no such folder"):
        datasets.given_folder()


@pytest.mark.parametrize("policy", ["real", "synthetic"])
def test_plain_policy_is_obeyed(tmp_path: Path, policy: str) -> None:
    assert datasets.choose(policy, "mnist", tmp_path, None) == policy


def test_real_data_are_chosen_where_they_can_be_had(
    tmp_path: Path, official: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def choice(data_dir: Path | None = None) -> str:
        return datasets.choose("real-or-synthetic", "mnist", tmp_path, data_dir)

    assert choice() == "synthetic"
    assert choice(official) == "real"
    obtained(tmp_path, "mnist", data_dir=official)
    assert choice() == "real"
    monkeypatch.setattr(requests, "head", lambda url, **_: requests.Response())
    (tmp_path / "real" / "mnist.npz").unlink()
    monkeypatch.setattr(requests.Response, "ok", True)
    assert choice() == "real"
    monkeypatch.setattr(requests.Response, "ok", False)
    assert choice() == "synthetic", "the host is there, the file is not"


@pytest.mark.parametrize(("fraction", "train", "test"), [(1.0, 3, 2), (0.5, 2, 1), (0.01, 1, 1)])
def test_fraction_takes_the_first_samples_of_each_split(
    tmp_path: Path, official: Path, fraction: float, train: int, test: int
) -> None:
    path = obtained(tmp_path, "mnist", data_dir=official)
    whole, part = datasets.load(path), datasets.load(path, fraction)
    assert (len(part["x_train"]), len(part["y_train"]), len(part["x_test"])) == (train, train, test)
    np.testing.assert_array_equal(part["x_train"], whole["x_train"][:train])


@pytest.mark.parametrize("kept", [0, 3, 1000], ids=lambda kept: f"first {kept} bytes")
@pytest.mark.parametrize("read", [datasets.load, data_file.describe])
def test_damaged_file_is_named(tmp_path: Path, official: Path, read: Callable, kept: int) -> None:
    path = obtained(tmp_path, "mnist", data_dir=official)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(InputError, match=r"mnist\.npz: not a data set made by this project"):
        read(path)


def test_foreign_npz_is_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", x_train=np.zeros(3))
    with pytest.raises(InputError, match=r"mine\.npz: not a data set made by this project"):
        datasets.load(tmp_path / "mine.npz")


def test_mnist_is_decoded(tmp_path: Path, official: Path) -> None:
    arrays = datasets.load(obtained(tmp_path, "mnist", data_dir=official))
    assert arrays["y_train"].tolist() == [0, 1, 2]
    assert arrays["x_train"].shape == (3, 28, 28)
    assert arrays["x_train"][0, 1, :3].tolist() == [28, 29, 30], "row by row"


def test_cifar10_is_decoded(tmp_path: Path, official: Path) -> None:
    arrays = datasets.load(obtained(tmp_path, "cifar10", data_dir=official))
    assert arrays["y_train"].tolist() == [1, 2, 3, 4, 5], "in the order of the batches, whatever that of the archive"
    assert arrays["y_test"].tolist() == [9]
    assert arrays["x_train"][0, 0, 5].tolist() == [200, 0, 0]
    assert arrays["x_train"][0, 1, 5].tolist() == [0, 0, 101]


class Attack:
    def __reduce__(self) -> tuple:
        return os.system, ("exit 1",)


@pytest.mark.parametrize("value", [Attack(), {b"data": Attack(), b"labels": [0]}])
def test_cifar10_file_that_would_run_a_command_is_refused(tmp_path: Path, value: object) -> None:
    path = tar(tmp_path / "cifar-10-python.tar.gz", {"data_batch_1": pickled(value), "test_batch": batch(0)})
    with pytest.raises(InputError, match=r"asks for (os|posix|nt)\.system: not an official file"):
        cifar10.read({path.name: path})


def test_imdb_is_encoded_as_by_keras(tmp_path: Path, official: Path) -> None:
    arrays = datasets.load(obtained(tmp_path, "imdb", data_dir=official))
    rng = np.random.RandomState(113)
    for split in ("train", "test"):
        order = np.arange(len(REVIEWS[split]))
        rng.shuffle(order)
        expected = [[1, *(word + 3 for word in REVIEWS[split][i])] for i in order]
        assert [review.tolist() for review in imdb.reviews(arrays, split, words=100)] == expected
        assert arrays[f"{split}_labels"].tolist() == [LABELS[split][i] for i in order]


def test_imdb_words_that_are_too_rare_are_unknown(tmp_path: Path, official: Path) -> None:
    arrays = datasets.load(obtained(tmp_path, "imdb", data_dir=official))
    reviews = imdb.reviews(arrays, "train", words=10)
    assert sorted(review.tolist() for review in reviews) == [[1, 2], [1, 2, 2, 2], [1, 8, 9]]


def test_imdb_part_is_the_first_reviews_whole(tmp_path: Path, official: Path) -> None:
    path = obtained(tmp_path, "imdb", data_dir=official)
    whole, part = (imdb.reviews(datasets.load(path, fraction), "train", words=100) for fraction in (1.0, 0.7))
    assert [review.tolist() for review in part] == [review.tolist() for review in whole[:2]]


@pytest.mark.parametrize(
    ("sequence", "row"), [([], [0, 0, 0]), ([1, 7], [0, 1, 7]), ([1, 7, 8], [1, 7, 8]), ([1, 7, 8, 9], [7, 8, 9])]
)
def test_reviews_keep_their_end_and_are_padded_in_front(sequence: list[int], row: list[int]) -> None:
    assert imdb.padded([np.array(sequence, np.int32)], 3).tolist() == [row]


def test_nietzsche_is_lower_case_characters(tmp_path: Path, official: Path) -> None:
    arrays = datasets.load(obtained(tmp_path, "nietzsche", data_dir=official))
    characters = [chr(point) for point in arrays["characters"]]
    assert characters == sorted(set(TEXT.lower()))
    assert "".join(characters[i] for i in arrays["text"]) == TEXT.lower()


def words(arrays: datasets.Arrays, split: str) -> list[list[int]]:
    """Return the tweets of a split as lists of word indices."""
    return [row[row > 0].tolist() for row in twitter_sentiment.padded(arrays, split)]


@pytest.mark.parametrize(
    ("tweet", "expected"),
    [
        ("@Bob_1 I CAN'T wait!!!", "name i ca n't wait ! !"),
        ("soooo it's #win at http://t.co/x?a=1, www.x.org", "soo it 's hashtag at link link"),
        ("&quot;A&amp;B&quot; &lt;3 :-) (ok?)", "a b 3 ) ( ok ? )"),
        ("don\N{RIGHT SINGLE QUOTATION MARK}t 10,000", "don t 10 , 00"),
        ("  \t ", ""),
    ],
)
def test_tweet_is_words_as_in_the_study(tweet: str, expected: str) -> None:
    (cleaned,) = twitter_sentiment._cleaned([tweet])
    assert " ".join(cleaned.split()) == expected


def test_tweets_are_shuffled_and_a_tenth_is_held_out(tmp_path: Path, official: Path) -> None:
    arrays = datasets.load(obtained(tmp_path, "twitter_sentiment", data_dir=official))
    tweets = words(arrays, "train") + words(arrays, "test")
    labels = [*arrays["train_labels"], *arrays["test_labels"]]
    assert (len(words(arrays, "train")), len(words(arrays, "test"))) == (18, 2)
    assert sorted(labels) == [0] * 10 + [1] * 10
    assert labels != [i % 2 for i in range(20)]
    assert all(len(tweet) == 4 and tweet[0] == 2 and tweet[3] == 1 for tweet in tweets), "@a is name, after c in rank"


def test_tweets_keep_their_label(tmp_path: Path) -> None:
    for name, word in (("positive", "good"), ("negative", "bad")):
        (tmp_path / f"{name}.txt.xz").write_bytes(lzma.compress(f"{word} day\n".encode() * 10))
    arrays = twitter_sentiment.read({path.name: path for path in tmp_path.iterdir()})
    index = {"day": 1, "bad": 2, "good": 3}
    for split in ("train", "test"):
        assert words(arrays, split) == [
            [index["good" if label else "bad"], index["day"]] for label in arrays[f"{split}_labels"]
        ]


def test_part_of_the_tweets_has_the_shape_of_all(tmp_path: Path, official: Path) -> None:
    path = obtained(tmp_path, "twitter_sentiment", data_dir=official)
    whole, part = datasets.load(path), datasets.load(path, 0.5)
    tables = [twitter_sentiment.padded(arrays, "train") for arrays in (whole, part)]
    np.testing.assert_array_equal(tables[1], tables[0][:9])
    assert twitter_sentiment.indices(part) == twitter_sentiment.indices(whole)


def test_noise_of_few_images_stands_for_many_samples() -> None:
    images = np.arange(4, dtype=np.uint8)[:, None, None, None] * np.ones((1, 5, 5, 3), np.uint8)
    shown = imagenet_like.images({"images": images, "labels": np.zeros(6, np.int32)}, 3)
    assert shown.shape == (6, 3, 3, 3)
    assert shown[:, 0, 0, 0].tolist() == [0, 1, 2, 3, 0, 1]
