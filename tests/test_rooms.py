"""Who may import whom: the rooms of the house from the ground up, as data."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "scripts"

#: A room may use every room before it; of the verbs each may use all but another verb, and the command calls them.
ROOMS = [
    "storage",
    "records",
    "datasets",
    "workloads",
    "frameworks",
    "measurement",
    "costs",
    "estimate",
    "studies",
    "importers",
    "analysis",
    "charts",
    "articles",
    "pages",
    "workflow",
    "kit",
    "document",
    "verbs",
    "epd",
]

#: The rooms that train. What prices, judges and shows runs knows of them what `records` says.
TRAINERS = {"datasets", "workloads", "frameworks", "measurement"}

#: Who starts trainings: they, the kit, and these. `status` looks where attempts of a training are kept, and `schedule`
#: which data there are.
STARTERS = {"train.py", "observe.py", "fetch_data.py", "run_kit.py", "epd/status.py", "epd/schedule.py"}

#: Packages of the workflow, which a machine that trains need not have.
NOT_TO_TRAIN = {"pandas", "scipy", "plotnine", "pyarrow", "jinja2", "snakemake", "pydantic"}


def room(file: Path) -> str:
    parts = file.relative_to(SCRIPTS).parts
    return parts[0] if len(parts) > 1 else "verbs"


@cache
def nodes(file: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(file.read_text())))


@cache
def imports(file: Path) -> list[str]:
    """Return the modules of this project that a file imports, inside functions too."""
    found = []
    for node in nodes(file):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
        found += [module for name in names if (module := module_of(name))]
    return sorted(set(found))


def module_of(name: str) -> str | None:
    """Return the module that a dotted name is, None for what is not one of this project or a name within one."""
    path = ROOT / Path(*name.split("."))
    is_module = path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()
    return name if name.startswith("scripts.") and is_module else None


def files() -> list[Path]:
    return sorted(file for file in SCRIPTS.rglob("*.py") if file != SCRIPTS / "__init__.py")


def reaching() -> dict[tuple[str, str], str]:
    """Return the imports that go upward, or from verb to verb: (file, module) -> what is wrong."""
    found = {}
    for file in files():
        here = room(file)
        for module in imports(file):
            parts = module.split(".")
            there = parts[1] if (SCRIPTS / parts[1]).is_dir() else "verbs"
            key = (str(file.relative_to(ROOT)), module)
            if here == there == "verbs":
                found[key] = "a verb imports another"
            elif ROOMS.index(there) > ROOMS.index(here):
                found[key] = f"{here} reaches up to {there}"
    return found


def test_every_room_is_in_the_order() -> None:
    there = {path.name for path in SCRIPTS.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert there == set(ROOMS) - {"verbs"}


def test_nobody_reaches_upward() -> None:
    assert reaching() == {}


def test_only_what_trains_imports_what_trains() -> None:
    found = {
        (str(file.relative_to(ROOT)), module)
        for file in files()
        if room(file) not in {*TRAINERS, "kit"} and str(file.relative_to(SCRIPTS)) not in STARTERS
        for module in imports(file)
        if module.split(".")[1] in TRAINERS
    }
    assert found == set()


def test_a_room_of_articles_is_imported_by_its_own_article_alone() -> None:
    """Others load it by the keys of a study (`scripts.studies.articles`): no study of a user does."""
    found = {
        (str(file.relative_to(ROOT)), module)
        for file in files()
        for module in imports(file)
        if module.startswith("scripts.articles.")
        and file.relative_to(SCRIPTS).parts[:2] != ("articles", module.split(".")[2])
    }
    assert found == set()


def test_an_article_is_a_key_of_a_study() -> None:
    from scripts.studies import describe, model

    schema = describe.schema(model.whole())
    keys = {*schema["properties"], *schema["$defs"]["Machine"]["properties"]}
    there = {path.name for path in (SCRIPTS / "articles").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert there
    assert there <= keys


def test_charts_of_everybody_show_no_table_that_an_article_derives() -> None:
    """`view.tables` holds these alone: a chart that shows one lies with its article."""
    names = {
        name: [node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)]
        for name, path in ((path.stem, path) for path in (SCRIPTS / "charts").glob("*.py"))
    }
    assert len(names) > 20
    assert {name for name, attributes in names.items() if "tables" in attributes} == set()


def test_no_two_charts_have_one_name() -> None:
    files = [
        path.stem for pattern in ("charts/[!_]*.py", "articles/*/charts/[!_]*.py") for path in SCRIPTS.glob(pattern)
    ]
    assert len(files) == len(set(files)) > 25


#: Prices, draws and reports the study of this argument from its tables, in a folder; prints what it loaded of the wing.
SHOWN = """
import importlib, json, sys
from scripts.studies import definition
name, folder = sys.argv[1:]
study = json.dumps(definition.read(name, {})[1])
tables = {table: f"{folder}/{table}.parquet" for table in ("runs", "epochs", "attempts", "costs", "prices")}
words = {table: [f"--{table}", path] for table, path in tables.items()}
about = ["--study", study, "--hardware", "config/hardware.yaml"]
labels = json.dumps(dict.fromkeys(["cpu1", "cpu2", "cpu2-again"], "a machine"))
for verb, given in (
    ("load_tables", [f"reports/published/tables/{name}", *words["runs"], *words["epochs"], *words["attempts"]]),
    ("price", [tables["runs"], *words["attempts"], *about, *words["costs"], *words["prices"]]),
    ("chart", ["relative_cost", *about[:2], "--names", labels, *words["runs"], *words["epochs"],
               "--money", tables["costs"], tables["prices"], "--output", f"{folder}/relative_cost"]),
    ("report", [f"{folder}/report.html", "--name", name, "--claims", f"{folder}/claims.json", *about,
                *sum(words.values(), []), "--charts", f"{folder}/relative_cost.json"]),
):
    sys.argv = [verb, *given]
    assert importlib.import_module(f"scripts.{verb}").main() == 0
print(sorted(name for name in sys.modules if name.startswith("scripts.articles")))
"""


@pytest.mark.slow
def test_a_study_of_a_user_loads_no_article(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SHOWN, "two-cores", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"
    assert (tmp_path / "relative_cost" / "mnist_mlp.svg").is_file()
    assert (tmp_path / "report.html").is_file()


@pytest.mark.parametrize(
    ("study", "loaded"), [("local", set()), ("scheduled-2018", {"schedule"}), ("gpus-2017", {"price_cuts"})]
)
def test_reading_a_study_loads_its_own_articles(study: str, loaded: set[str]) -> None:
    read = f"import sys\nfrom scripts.studies import definition\ndefinition.read({study!r}, {{}})\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{read}print(*(name for name in sys.modules if name.startswith('scripts.articles.')))"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert {name.split(".")[2] for name in done.stdout.split()} == loaded


def test_no_circle_of_files() -> None:
    edges = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): imports(file)
        for file in files()
    }
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        if module in path:
            pytest.fail(" -> ".join([*path[path.index(module) :], module]))
        if module in done:
            return
        for other in edges.get(module, []):
            # A module of a package imports the package's __init__, which does not import it back.
            if other != module and not module.startswith(f"{other}."):
                visit(other, (*path, module))
        done.add(module)

    for module in edges:
        visit(module, ())


@pytest.mark.parametrize("name", ["storage", "records", "datasets", "workloads", "frameworks", "measurement"])
def test_a_machine_that_trains_needs_no_package_of_the_workflow(name: str) -> None:
    for file in sorted((SCRIPTS / name).rglob("*.py")):
        if name == "storage" and file.name in ("tables.py", "numbers.py"):
            continue  # these are for what reads runs, and no training imports them
        for node in nodes(file):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            assert not {one.split(".")[0] for one in names} & NOT_TO_TRAIN, f"{file}: {names}"


def test_rules_are_read_without_pandas() -> None:
    """Every call and every job of a cluster reads them; pandas alone would be a fifth of that time."""
    rules = (ROOT / "rules" / "common.smk").read_text()
    imported = re.findall(r"^from scripts[^\n]*", rules, re.MULTILINE)
    assert imported
    heavy = "sorted({'pandas', 'scipy', 'plotnine', 'pyarrow'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", "\n".join([*imported, "import sys", f"print({heavy})"])],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "[]\n"


def test_progress_of_a_training_is_shown_without_pandas() -> None:
    """It starts beside the training: what it imports takes a core from the first seconds."""
    heavy = "{'pandas', 'scipy', 'plotnine', 'pyarrow'} & set(sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, scripts.workflow.progress\nprint(len({heavy}))"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "0\n"


def test_runs_are_quoted_without_pandas() -> None:
    """Most dry runs know of published runs alone; loading it would take longer than the quote."""
    quote = """
import sys
from functools import cache
from pathlib import Path
from scripts.storage import schemas
from scripts.studies import definition
from scripts.workflow import known
catalogue = schemas.read_yaml(Path("config/hardware.yaml"), "hardware")
name, study = definition.read("local", {})
assert known.priced("never-trained", study, catalogue, "local", []) == []
assert known.paid(study, catalogue, catalogue, "local")
"""
    heavy = "{'pandas', 'scipy', 'plotnine', 'pyarrow'} & set(sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", f"{quote}\nprint(len({heavy}))"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "0\n"


def test_rules_hold_no_private_attribute_of_snakemake() -> None:
    """They are in scripts/workflow/internals.py, each with what to do when it is gone."""
    private = (
        "resource_settings",
        "global_resources",
        "path_modifier",
        "job_rate_limiter",
        "needrun_jobs",
        "storage_settings",
    )
    for file in [ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")]:
        assert [name for name in private if f".{name}" in file.read_text()] == [], file.name


def test_environment_variables_are_named_in_one_place() -> None:
    """Text for people may name one; what reads or writes it asks `scripts.storage.environment`."""
    place = SCRIPTS / "storage" / "environment.py"
    rules = [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]
    naming = [file for file in [*files(), *rules] if file != place and re.search(r"[\"']EPOCHS_", file.read_text())]
    assert naming == []


#: Modules by which files are found, read or written: what analyses takes rows, and needs none of them.
DISK = {
    *("pathlib", "os", "io", "shutil", "tempfile", "glob", "csv", "pickle", "sqlite3", "subprocess", "yaml"),
    *("pyarrow", "duckdb", "scripts.storage.files", "scripts.storage.downloads", "scripts.storage.schemas"),
}

#: Calls that open a file, of whatever module: `open`, a path's, a reader's of pandas or of a room below, a writer's.
OPENS = re.compile(
    r"open|fdopen|(read|write|load|save|scan|fetch)(_\w+)?|files|safe_load|(gen)?fromtxt|loadtxt|savetxt?|savez|fromfile"
    r"|tofile|memmap|to_(csv|parquet|json|feather|excel|pickle|hdf|sql|html|orc|stata)|Path|PurePath"
    r"|exists|is_file|is_dir|r?glob|iterdir|listdir|scandir|walk|stat|touch|mkdir|makedirs|unlink|rmtree"
)


def touches_disk(text: str) -> list[str]:
    """Return what of a module's text finds, reads or writes files: modules that it imports, and calls."""
    found = []
    for node in ast.walk(ast.parse(text)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        found += [name for name in names if name in DISK or name.split(".")[0] in DISK]
        if isinstance(node, ast.Call) and OPENS.fullmatch(ast.unparse(node.func).rpartition(".")[2]):
            found.append(ast.unparse(node.func))
    return found


#: What of an article names or reads files, and hands on rows: as rules and importers do for the engine.
READ_FILES = {"model", "given", "results", "logs", "__main__"}


def test_analysis_gets_rows_and_no_paths() -> None:
    """What a page was made from is then what its rule names. Constants of the project alone come from rooms below."""
    found = {file.name: touches_disk(file.read_text()) for file in sorted((SCRIPTS / "analysis").glob("*.py"))}
    assert len(found) > 20
    found |= {f"estimate/{file.name}": touches_disk(file.read_text()) for file in (SCRIPTS / "estimate").glob("*.py")}
    wing = sorted((SCRIPTS / "articles").glob("*/*.py"))
    pure = [file for file in wing if file.stem not in READ_FILES]
    assert {file.stem for file in pure} > {"figures", "rounds", "box"}
    found |= {str(file.relative_to(SCRIPTS)): touches_disk(file.read_text()) for file in pure}
    assert {name: touched for name, touched in found.items() if touched} == {}


@pytest.mark.parametrize(
    "planted",
    [
        "open('a')",
        "from pathlib import Path",
        "Path('a')",
        "path.read_text()",
        "path.write_bytes(b'')",
        "path.open()",
        "path.exists()",
        "path.glob('*')",
        "pd.read_csv('a')",
        "pd.read_parquet('a')",
        "frame.to_parquet('a')",
        "frame.to_csv('a')",
        "np.load('a')",
        "def f():\n    import pyarrow.parquet as pq",
        "from pyarrow import parquet",
        "import duckdb",
        "import os",
        "from os import path",
        "import shutil",
        "import tempfile",
        "import yaml",
        "from scripts.storage.files import read_text",
        "from scripts.storage import files",
        "from scripts.storage.schemas import read_yaml",
        "tables.read(path)",
        "tables.read_csv('runs', path)",
        "tables.write(frame, 'runs', path)",
        "book.read(books.files('current'))",
        "read_terms()",
        "record.read_run(path)",
        "stored.read(path)",
    ],
)
def test_each_way_to_a_file_is_noticed(planted: str) -> None:
    assert touches_disk(f"import pandas as pd\n{planted}\n")


#: Files of the project's own that are read without the limits of `scripts.storage.schemas`, and words of a call.
_OWN_YAML = {
    "records/known_noise.py",
    "document/reference.py",
    "document/measured.py",
    "document/noise.py",
    "workflow/asked.py",
    "workflow/checks.py",
    "pages/heads.py",
}


def test_yaml_of_others_is_read_within_limits_alone() -> None:
    """Anchors and `<<` make billions of values of a few lines: `schemas.plain_yaml` counts them."""
    found = {
        str(file.relative_to(SCRIPTS))
        for file in files()
        for node in nodes(file)
        if isinstance(node, ast.Attribute | ast.alias)
        and re.search("load|compose", node.name if isinstance(node, ast.alias) else node.attr)
        and re.fullmatch(r"(yaml\.)?(\w*load(_all)?|compose(_all)?)", ast.unparse(node))
        and ("yaml" in ast.unparse(node) or "safe" in ast.unparse(node))
    }
    assert found == _OWN_YAML


#: What is written without `scripts.storage.files`: into folders that this process has made for itself and takes away
#: again, and the mark of a kit's unpacked package.
WRITTEN_ELSEWHERE = {
    ("scripts/kit/fetch_wheels.py", "requirements.write_text"),
    ("scripts/frameworks/torch/ranks.py", "(root / 'samples.pickle').open"),
    ("scripts/kit/wheels.py", "(site / f'.{wheel.path.name}').touch"),
    ("scripts/kit/take.py", "(Path(folder) / path / file).write_bytes"),
}


def writes(call: ast.Call) -> bool:
    """Return whether a call makes a file, or opens one to be written."""
    name = ast.unparse(call.func).rpartition(".")[2]
    if name in ("open", "fdopen"):
        modes = [*call.args, *(word.value for word in call.keywords if word.arg == "mode")]
        texts = [str(mode.value) for mode in modes if isinstance(mode, ast.Constant)]
        return any(re.fullmatch(r"[wax][bt+]*|r[bt]*\+", text) for text in texts)
    return isinstance(call.func, ast.Attribute) and name in ("write_text", "write_bytes", "touch")


def test_all_is_written_by_what_checks_where_and_keeps_permissions() -> None:
    """Within `replacing` by its temporary path, else by `write_text`, `write_bytes`, `opened` or `locked`."""
    found = {
        (str(file.relative_to(ROOT)), ast.unparse(node.func))
        for file in files()
        if file != SCRIPTS / "storage" / "files.py"
        for node in nodes(file)
        if isinstance(node, ast.Call) and writes(node)
    }
    ours = ("temporary.", "tarfile.")
    assert {(file, called) for file, called in found if not called.startswith(ours)} == WRITTEN_ELSEWHERE
