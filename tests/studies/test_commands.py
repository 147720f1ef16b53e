"""Workloads that are programs: what of them is refused, what a cell's command is, and what trains it again."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.records import about
from scripts.storage import brought, environment
from scripts.storage.errors import InputError
from scripts.studies import commands, definition, grid, trust

CATALOGUE = {"cpu1": {"label": "one core", "machine": {"cores": 1}, "local": True}}
LINE = "python train.py --batch_size={batch_size}"


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No workload of another test is known, nothing is trusted, and the working folder has a program."""
    monkeypatch.setattr(about, "_ADDED", {})
    monkeypatch.setattr(about, "_COMMANDS", {})
    monkeypatch.setattr(trust, "KNOWN", tmp_path / ".cache" / "trusted")
    monkeypatch.setenv(environment.TRUST.name, "")
    monkeypatch.chdir(tmp_path)
    Path("gpt").mkdir()
    Path("gpt", "train.py").write_text("print(1)\n")


def written(more: dict[str, Any] | None = None, command: str | None = LINE, **keys: Any) -> Path:
    """Return the file of a study with one command, with `more` of its keys and others of the study."""
    one = {"name": "gpt", "command": command, "folder": "gpt"} | (more or {})
    study = {"title": "Mine", "workloads": [{key: value for key, value in one.items() if value is not None}]}
    study |= {"hardware": ["cpu1"], "base": {"hardware": "cpu1"}, "batch_sizes": [8]} | keys
    file = Path("mine.yaml")
    file.write_text(yaml.safe_dump(study, sort_keys=False))
    return file


def cells(file: Path) -> list[Any]:
    name, config = definition.read(str(file), {})
    return grid.planned(name, config, CATALOGUE).cells


def asked(file: Path) -> list[list[str]]:
    """Return the words of each cell's command."""
    _, config = definition.read(str(file), {})
    return [commands.asked(config["commands"][cell.workload], cell, cell.seed(1))["words"] for cell in cells(file)]


@pytest.mark.parametrize(
    ("more", "keys", "said"),
    [
        ({"command": "python train.py {dropuot}"}, {}, "gpt: command: {dropuot} is unknown: there are batch_size, "),
        ({"per_step": "{batch}x1024 tokens"}, {}, "gpt: per_step: {batch} is unknown: there are batch_size, "),
        ({"command": ""}, {}, "workloads[0].command: '' should be non-empty"),
        ({"command": "   "}, {}, "gpt: command: it is empty"),
        ({"command": "python 'train.py"}, {}, 'gpt: command: "python \'train.py": no closing quotation'),
        ({"command": None}, {}, "workloads[0]: 'command' is a required property"),
        ({"comand": "x"}, {}, "workloads[0]: 'comand' is unknown: it is one of name, command"),
        ({"folder": "gtp"}, {}, "gpt: folder: 'gtp': no such folder in "),
        ({"python": "gpt/.venv/bin/python"}, {}, "gpt: python: 'gpt/.venv/bin/python': no such program in "),
        ({"command": "torchrun {batch_size}", "python": sys.executable}, {}, "gpt: python: the command has no word"),
        ({"of": 0}, {}, "workloads[0].of: 0 is less than the minimum of 1"),
        ({"of": "many"}, {}, "gpt: of: 'many': must be a whole number from 1, or an amount, as '60000 images'"),
        ({"of": "60000 images"}, {}, "gpt: of: '60000 images': per_step must say how many images a step goes through"),
        ({"of": 5, "epochs": 1}, {}, "gpt: of and epochs: one of them says how long the whole is"),
        ({"per_step": "twelve"}, {}, "gpt: per_step: 'twelve': must be an amount, as '{batch_size} images'"),
        ({"per_step": "１２ images"}, {}, "gpt: per_step: '１２ images': must be an amount, as "),
        ({"per_step": "9" * 400 + " images"}, {}, "9 images': must be an amount, as "),
        ({"minutes": 0}, {}, "workloads[0].minutes: 0 is less than or equal to the minimum of 0"),
        ({"minutes": 500}, {}, "gpt: minutes: 500: with those of its start more than max_run_minutes, 480"),
        ({"pattern": "(done"}, {}, "gpt: pattern: '(done': no regular expression: "),
        ({"pattern": "done"}, {}, r"gpt: pattern: 'done': has no group (?P<count>\d+)"),
        ({"name": "a/b"}, {}, "workloads[0].name: 'a/b' does not match"),
        ({"name": "mnist_mlp"}, {}, "workload mnist_mlp: python train.py ...: there is a workload of this name"),
        ({"name": "charts"}, {}, "charts: name: charts/ of a study is not for runs: give it another name"),
        ({"axes": {"lr": [1]}}, {}, "gpt: axes: lr: the command has no {lr}"),
        ({"axes": {"batch_size": [1]}}, {}, "gpt: axes: 'batch_size' is an axis of the study: give its values there"),
        ({"command": f"{LINE} {{lr}}", "axes": {"lr": ["a/b"]}}, {}, "gpt: axes: lr: 'a/b': must be of letters"),
        ({"command": "python train.py"}, {"batch_sizes": [8, 16]}, "has no {batch_size}, and batch_sizes has several"),
        ({}, {"batch_sizes": ["published"]}, "batch_sizes: 'published': of a command it must be a whole number from 1"),
        ({}, {"batch_sizes": ["largest"]}, "batch_sizes: 'largest': of a command it must be a whole number from 1"),
        ({"image": "mine"}, {}, "workloads[0].image: 'mine' does not match"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_one_line(more: dict[str, Any], keys: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        cells(written(more, **keys))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_tables_of_a_program_are_shown_where_it_is_not() -> None:
    file = written({"folder": "gone"}, tables="theirs")
    assert [cell.path for cell in cells(file)] == ["gpt/cpu1/own/b8"]


def test_two_of_one_name_are_refused() -> None:
    file = written()
    study = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump(study | {"workloads": study["workloads"] * 2}))
    with pytest.raises(InputError, match="there are two workloads 'gpt'"):
        definition.read(str(file), {})


def test_a_cell_fills_the_words_of_its_command_and_no_shell_reads_them() -> None:
    python = Path("gpt", "python")
    python.symlink_to(sys.executable)
    line = f"{LINE} --seed {{seed}} '--name=two words; $HOME' '{{{{x}}}}' '{{\"a\": {{\"b\": 1}}}}'"
    file = written({"python": "gpt/python"}, line, batch_sizes=[8, 16])
    seeds = [cell.seed(1) for cell in cells(file)]
    assert asked(file) == [
        [str(python.absolute()), "train.py", f"--batch_size={size}", "--seed", str(seed), "--name=two words; $HOME",
         "{x}", '{"a": {"b": 1}}']
        for size, seed in zip([8, 16], seeds, strict=True)
    ]  # fmt: skip


def test_an_axis_that_a_command_does_not_name_has_one_cell_of_it() -> None:
    file = written(command="python train.py", frameworks=["jax", "torch"], precisions=["float32", "bfloat16"],
                   base={"hardware": "cpu1", "framework": "own"})  # fmt: skip
    assert [cell.path for cell in cells(file)] == ["gpt/cpu1/own/b1"]
    file = written(command=f"{LINE} {{framework}} {{precision}}", frameworks=["jax", "torch"],
                   precisions=["float32", "bfloat16"], base={"hardware": "cpu1", "framework": "jax"})  # fmt: skip
    assert [cell.path.removeprefix("gpt/cpu1/") for cell in cells(file)] == [
        "jax/b8", "jax/b8-bfloat16", "torch/b8", "torch/b8-bfloat16"
    ]  # fmt: skip


def test_values_of_its_own_axes_are_workloads_for_themselves() -> None:
    file = written({"axes": {"dropout": [0, 0.1], "fast": [True]}}, f"{LINE} --dropout={{dropout}} {{fast}}")
    assert [cell.workload for cell in cells(file)] == ["gpt-dropout0-fastTrue", "gpt-dropout0.1-fastTrue"]
    assert [words[-2:] for words in asked(file)] == [["--dropout=0", "True"], ["--dropout=0.1", "True"]]


@pytest.mark.parametrize(
    ("of", "per_step", "steps"),
    [("60000 images", "{batch_size} images", 7500), (5000, "{batch_size}x1024 tokens", 5000), (5000, None, 5000)],
)
def test_the_whole_may_be_said_in_the_unit_of_a_step(of: Any, per_step: str | None, steps: float) -> None:
    file = written({"of": of, "per_step": per_step})
    _, config = definition.read(str(file), {})
    (cell,) = cells(file)
    assert commands.asked(config["commands"]["gpt"], cell, 1)["of"] == steps


def test_a_program_beside_workloads_of_the_project() -> None:
    file = written(frameworks=["jax"], base={"hardware": "cpu1", "framework": "jax"}, data="synthetic")
    study = yaml.safe_load(file.read_text())
    study["workloads"].insert(0, "mnist_mlp")
    file.write_text(yaml.safe_dump(study))
    assert {cell.path for cell in cells(file)} == {"mnist_mlp/cpu1/jax/b8", "gpt/cpu1/own/b8"}


def test_axes_of_a_few_lines_that_make_a_billion_workloads_are_refused() -> None:
    axes = {name: list(range(10)) for name in "abcdefghi"}
    command = " ".join(["python train.py", *(f"{{{name}}}" for name in axes)])
    with pytest.raises(InputError, match=r"gpt: axes: 10 a x .* x 10 i are 1,000,000,000 workloads: at most 1,000 are"):
        definition.read(str(written({"axes": axes}, command=command)), {})


def code(file: Path) -> str:
    brought.tracked.cache_clear()
    _, config = definition.read(str(file), {})
    (cell,) = cells(file)
    return commands.code(commands.asked(config["commands"]["gpt"], cell, 1))


def git(*words: str) -> None:
    subprocess.run(["git", "-c", "user.name=me", "-c", "user.email=me@example.org", *words], cwd="gpt", check=True)


def test_tracked_files_and_the_command_train_again_and_nothing_else() -> None:
    git("init", "-q")
    git("add", ".")
    file, program = written(), Path("gpt", "train.py")
    before = code(file)
    Path("gpt", "out.csv").write_text("1,2\n")
    program.touch()
    assert code(file) == before
    assert code(written(command=f"{LINE} --fast")) != before
    assert code(written({"of": 7})) != before
    assert code(written()) == before
    program.write_text("print(2)\n")
    assert code(file) != before
    program.write_text("print(1)\n")
    assert code(file) == before
    program.unlink()
    assert code(file) != before


def test_without_git_the_python_of_its_folder_trains_again() -> None:
    file = written()
    before = code(file)
    Path("gpt", "log.txt").write_text("step 1\n")
    Path("gpt", ".venv").mkdir()
    Path("gpt", ".venv", "site.py").write_text("x = 1\n")
    assert code(file) == before
    Path("gpt", "model.py").write_text("x = 1\n")
    assert code(file) != before


@pytest.mark.parametrize(
    ("command", "name", "is_decisive"),
    [
        ("python ../other/main", "other/main", True),
        ("python ../other/main", "other/helper.py", True),
        ("python ../other/main --seed 1", "gpt/log.txt", False),
        ("env PYTHONPATH=../other python -m package", "other/package/__main__.py", True),
        ("python main --log=log.txt", "gpt/main", True),
        ("python main --log=log.txt", "gpt/log.txt", False),
        ("bash -c 'sh run.sh > log.txt'", "gpt/run.sh", True),
        ("bash -c 'sh run.sh > log.txt'", "gpt/log.txt", False),
    ],
)
def test_scripts_that_a_command_names_train_again_and_what_it_writes_does_not(
    command: str, name: str, is_decisive: bool
) -> None:
    for each in ("other/main", name):
        Path(each).parent.mkdir(parents=True, exist_ok=True)
        Path(each).write_text("1")
    before = code(written(command=command))
    Path(name).write_text("2")
    assert (code(written(command=command)) != before) == is_decisive


def refusal(file: Path) -> str:
    _, config = definition.read(str(file), {})
    with pytest.raises(InputError) as said:
        trust.check(file, config["workload_files"], config["commands"])
    return str(said.value)


def test_a_command_is_shown_and_asked_for_once_by_its_content() -> None:
    file = written()
    said = refusal(file)
    line = "python train.py --batch_size={batch_size}, in gpt"
    assert f"code that is not the project's: {line}; which may run {Path('gpt/train.py').resolve()} (1 lines): " in said
    environment.TRUST.write(said.rpartition("trust=")[2])
    for _ in range(2):
        _, config = definition.read(str(file), {})
        trust.check(file, {}, config["commands"])
        environment.TRUST.write("")  # it is known by now
    assert "train.py --fast" in refusal(written(command="python train.py --fast {batch_size}"))
    assert "in ." in refusal(written({"folder": "."}))
    image = f"registry/gpt@sha256:{'0' * 64}"
    assert f"image {image}, in gpt" in refusal(written({"image": image}))


def trusted(file: Path) -> None:
    environment.TRUST.write(refusal(file).rpartition("trust=")[2])
    trust.check(file, {}, definition.read(str(file), {})[1]["commands"])
    environment.TRUST.write("")
    trust.check(file, {}, definition.read(str(file), {})[1]["commands"])
    brought.tracked.cache_clear()


@pytest.mark.parametrize(
    "name",
    [
        "gpt/train.py",
        "gpt/helper.py",
        "gpt/__pycache__/helper.cpython-312.pyc",
        "gpt/Makefile",
        "elsewhere/helper.py",
        "env/lib/python3.12/site-packages/x.pth",
    ],
)
def test_code_that_a_command_may_run_is_asked_for_again(name: str) -> None:
    for folder in ("elsewhere", "env/bin", str(Path(name).parent)):
        Path(folder).mkdir(parents=True, exist_ok=True)
    Path("elsewhere", "tool_8.py").write_text("import helper\n")
    Path("env", "pyvenv.cfg").write_text("")
    Path("env", "bin", "python").symlink_to(sys.executable)
    command = "python ../elsewhere/tool_{batch_size}.py"
    file = written({"folder": "gpt", "python": "env/bin/python"}, command=command)
    trusted(file)
    Path(name).write_text("new = 2\n")
    assert str(Path(name)) in refusal(file)


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("bash bin/train", "gpt/bin/train"),
        ("bash ../other/bin/run.sh", "other/bin/run.sh"),
        ("python ../other/bin/sub/train.py", "other/bin/sub/train.py"),
        ("python ../other/main", "other/sub/helper.py"),
        ("python ../other/package", "other/package/__main__.py"),
        ("python ../other/main", "other/main"),
        ("python ../other/main", "other/helper.py"),
        ("python 'my prog'", "gpt/my prog"),
        ("python a=b,c", "gpt/a=b,c"),
        ("python my\\ prog", "gpt/my prog"),
        ("""bash -c "cd ../other && python3 'my prog'" """, "other/my prog"),
        ("""bash -c "cd ../other; cd deep; python3 main" """, "other/deep/main"),
        ("""bash -c 'python3 "m"ai\\n' """, "gpt/main"),
        ("bash -c 'python3 ma?n'", "gpt/main"),
        ("bash -c 'python3 $HOME/main'", "main"),
        ("env PYTHONPATH=.:../other python -m package", "other/package/__main__.py"),
        ("make -C../other", "other/Makefile"),
        ("make -fsteps", "gpt/steps"),
        ("python train.py --config='my run,1.yaml'", "gpt/my run,1.yaml"),
        ("python run.txt", "gpt/run.txt"),
        ("make -sC../other", "other/Makefile"),
        ("make -sCother", "gpt/other/Makefile"),
        ("python train.py --files=[../other/run+1]", "other/run+1"),
        ("node train.js", "gpt/lib.cjs"),
        ("perl train.pl", "gpt/Foo.pm"),
        ("sh run.sh", "gpt/sub/.git/setup.sh"),
        ("gcc @words", "gpt/words"),
        ("python train.py files=[one,two]", "gpt/two"),
        ("bash -c 'cat {one,two} | sh'", "gpt/one"),
        ("npm run train", "gpt/package.json"),
        ("python .git/train", "gpt/.git/train"),
        ("python .git/train", "gpt/.git/helper.py"),
        ("python {batch_size}/{seed}.data", "gpt/8/.1.data"),
        ("link", "gpt/link"),
        ("link", "other/helper.py"),
        ("../tools/bin/python train.py", "tools/bin/python"),
        ("../tools/bin/python train.py", "tools/lib/python3.12/site-packages/x.pth"),
        ("../venv/bin/run", "venv/bin/run"),
        ("../venv/bin/run", "venv/bin/helper.sh"),
    ],
)
def test_whatever_a_command_names_is_asked_for_again(command: str, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(Path.cwd()))
    for folder in ("tools/bin", "tools/lib/python3.12/site-packages", "venv/bin"):
        Path(folder).mkdir(parents=True)
    Path("venv", "pyvenv.cfg").write_text("")
    Path("tools", "bin", "python").write_bytes(b"\x7fELF")
    Path("other").mkdir()
    Path("other", "main").write_text("print(1)\n")
    Path("venv", "bin", "run").write_text("print(1)\n")
    Path("gpt", "link").symlink_to("../other/main")
    Path("gpt", ".git").mkdir()
    Path("gpt", ".git", "train").write_text("print(1)\n")
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    if not Path(file).exists():
        Path(file).write_text("print(1)\n")
    study = written(command=command)
    assert f" {Path(file).absolute()} (" in refusal(study)
    trusted(study)
    Path(file).write_text("print(2)\n")
    refusal(study)


@pytest.mark.parametrize("with_git", [True, False])
def test_names_that_are_no_text_are_asked_for_again(with_git: bool) -> None:
    """A name on Linux is bytes."""
    file = Path(os.fsdecode(b"gpt/\xff\n.py"))
    file.write_text("print(1)\n")
    if with_git:
        git("init", "-q")
        git("add", ".")
    study = written()
    before = code(study)
    trusted(study)
    file.write_text("print(2)\n")
    refusal(study)
    assert code(study) != before


def test_a_large_file_that_a_command_names_counts_or_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("gpt", "large").open("wb") as large:
        large.truncate((16 << 20) + 1)
    study = written(command="python large")
    assert f" {Path('gpt/large').resolve()} (" in refusal(study)
    monkeypatch.setattr(brought, "_MOST_BYTES", 16 << 20)
    assert f"16 MiB of code lie in their folders, {Path('gpt/large').resolve()} the largest: at most" in refusal(study)


@pytest.mark.parametrize(
    "command", ["/usr/bin/env python train.py", "/bin/sh -c 'python train.py > /dev/null'", "ls /"]
)
def test_what_is_the_systems_is_not_asked_about(command: str) -> None:
    said = refusal(written(command=command))
    assert f"which may run {Path('gpt/train.py').resolve()} (1 lines): read it" in said


def test_a_command_of_too_many_parts_is_refused() -> None:
    said = refusal(written(command=f"bash -c '{'a ' * 1000}'"))
    assert "mine.yaml: workloads: gpt: command: its words have 1,002,001 parts that could be names of files: at" in said


def test_what_git_tracks_in_the_folder_is_asked_for_again() -> None:
    Path("gpt", "config.yaml").write_text("a: 1\n")
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", "-C", "gpt", *words], check=True)
    file = written()
    trusted(file)
    Path("gpt", "config.yaml").write_text("a: 2\n")
    refusal(file)


def test_git_runs_no_program_that_a_folder_of_others_names() -> None:
    """`git status` and `git ls-files` would: https://git-scm.com/docs/githooks#_fsmonitor_watchman."""
    hook = Path("gpt", "hook.sh")
    hook.write_text(f"#!/bin/sh\ntouch {Path('ran').resolve()}\nprintf '/\\0'\n")
    hook.chmod(0o755)
    for words in (["init", "-q"], ["add", "."], ["config", "core.fsmonitor", "./hook.sh"], ["status"]):
        subprocess.run(["git", "-C", "gpt", *words], check=True, capture_output=True)
    assert Path("ran").exists()
    Path("ran").unlink()
    brought.tracked.cache_clear()
    code(written())
    assert not Path("ran").exists()


def test_what_a_terminal_obeys_is_no_part_of_what_is_shown() -> None:
    assert "\x1b" not in refusal(written(command="python train.py {batch_size} \x1b]52;c;eA==\x07"))


def test_a_study_is_plain_data_and_survives_json() -> None:
    """Rules hand it to other processes so."""
    _, config = definition.read(str(written({"of": "60000 images", "per_step": "{batch_size} images"})), {})
    assert json.loads(json.dumps(config)) == config


def test_an_output_that_a_command_names_is_not_asked_about() -> None:
    brought.tracked.cache_clear()
    Path("gpt", "log.txt").write_text("1")
    file = written(command="python train.py --log log.txt --out model.pt --batch_size={batch_size}")
    trusted(file)
    for name in ("log.txt", "model.pt"):
        Path("gpt", name).write_text("2")
    trust.check(file, {}, definition.read(str(file), {})[1]["commands"])


@pytest.mark.parametrize("words", ["ls */*/*/*/*", "ls /usr/*/*/*/*"])
def test_wildcards_in_many_folders_are_refused(words: str) -> None:
    for each in range(4):
        Path("gpt", f"l{each}").symlink_to(".")
    with pytest.raises(InputError, match=r"has wildcards in more than 2 of its folders"):
        code(written(command=f"sh -c '{words}'"))
