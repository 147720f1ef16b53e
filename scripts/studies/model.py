"""A study's file as one model: keys, types, defaults and meanings, of which schema, documents and errors are made."""

from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, create_model, model_validator

from scripts.storage import schemas
from scripts.storage.files import read_text
from scripts.studies import articles
from scripts.studies.kinds import (
    Count,
    Either,
    Filled,
    Names,
    Once,
    Part,
    Pattern,
    Positive,
    Some,
    Text,
    check,
    key,
    need,
    wrong,
)
from scripts.studies.parts import (
    Base,
    Claim,
    Command,
    Import,
    LeftOut,
    Machine,
    Mode,
    Override,
    Precision,
    PriceOption,
    Published,
    Question,
    Samples,
    Where,
)


class Scale(Some):
    """A part of the published size."""

    samples: Samples = key()
    epochs: Count = key()


class Study(Part):
    """A study: a grid of configurations, how it is priced, and the words of its report."""

    title: Text = need("Heading of the report")
    summary: str = key("One paragraph below the heading", default="")
    question: Question = key(
        "What the page answers first: whether one machine (framework, batch size, mode, precision, number"
        " of devices) costs less than another, all else alike; of MLPerf, whether newer cards do",
    )
    caution: Text = key("What makes figures of the page doubtful: said beside its answer")
    data: Literal["real", "synthetic", "real-or-synthetic"] = key(
        "real fails where the data cannot be had; real-or-synthetic then trains on synthetic data and says so",
        default="real",
    )
    workloads: Annotated[
        list[
            Annotated[Text | Command, Either("A name, the path of a .py file, or a command: {name: ..., command: ...}")]
        ],
        Filled,
    ] = key("Modules of scripts/workloads/, paths of .py files that are such modules, or programs of your own")
    hardware: Annotated[
        Literal["local"] | Names,
        Either(
            "A list of entries of config/hardware.yaml, or the word local: every local entry that this machine has the "
            "cores for"
        ),
    ] = key()
    frameworks: Names = key("Modules of scripts/frameworks/; commands that name no {framework} have none")
    batch_sizes: Annotated[
        list[
            Annotated[Literal["published", "largest"] | Count, Either("published, largest, or a whole number from 1")]
        ],
        Filled,
        Once,
    ] = key(
        "Samples per step and device; published is the workload's own, largest the largest power of two "
        "times it that fits",
        default=["published"],
    )
    modes: Annotated[list[Mode], Filled, Once] = key(
        "How it is trained: stock, a Keras program as anybody writes it; tuned, the best that is known "
        "for the framework with the same mathematics; sparse, tuned with embeddings updated in the "
        "batch's rows only, another update rule; plain_lstm, stock without cuDNN's LSTM",
        default=["stock"],
    )
    precisions: Annotated[list[Precision], Filled, Once] = key(
        "float32 forbids tf32; bfloat16 and float16 are Keras's mixed policies", default=["float32"]
    )
    devices: Annotated[list[Count], Filled, Once] = key(
        "How many GPUs of the machine train data-parallel; without GPUs its CPU is split into as many", default=[1]
    )
    repeats: Annotated[int, Field(ge=1, le=10_000)] = key("Runs of each configuration", default=1)
    repeat_disturbed: bool = key(
        "Measure once more, and leave out of comparisons, each run beside which another process used more"
        " than a tenth of a core: not on shared nodes, where that is every run",
        default=False,
    )
    unstable_above: Positive = key(
        "A configuration whose times to train differ by more than this share of their median is unstable, and "
        "measured once more",
        default=0.1,
    )
    max_run_minutes: Positive = key(
        "A run that takes longer, all its attempts together, is ended: timed out", default=480
    )
    beside: Annotated[list[Text], Once] = key(
        "Studies whose machines the report sets beside this one's: names of config/studies/, or paths of .yaml files",
        default=[],
    )
    stop_at_target: bool = key(
        "A run ends when it reaches its workload's target; the epochs are then its most", default=False
    )
    tables: str = key(
        "A folder with the runs.csv, epochs.csv and attempts.csv of this study, trained before: they are "
        "shown, nothing is trained, unless the command line says --config tables=",
        default="",
    )
    scale: Annotated[
        Literal["full"] | Scale,
        Either(
            "full (the published size), or samples: a fraction above 0 and up to 1, and epochs: a whole number from 1"
        ),
    ] = key(default="full")
    exclude: list[Where] = key(
        "Configurations that do not run, for example a model that a framework cannot", default=[]
    )
    tiers: list[Annotated[list[Where], Filled]] = key(
        "Which configurations are trained first: lists of them; all runs of what the first list matches, in "
        "rounds, then of the second; what none matches comes last",
        default=[],
    )
    overrides: list[Override] = key("Other settings for some configurations; a later one wins", default=[])
    base: Base = key(
        "The configuration that counts as 1.00x in each workload; without mode, precision or devices the first of the "
        "study",
    )
    price: str = key("The price option that the charts of cost show: one of `prices`", default="on-demand")
    per_samples: Count = key(
        "How many samples the page's dollars are of where rates alone are known: 1000000000 for a billion tokens",
        default=1_000_000,
    )
    front: Annotated[Names, Once] = key(
        "Workloads that the index of the published studies shows; without, all of them",
    )
    targets: dict[str, float] = key(
        "Workload: validation accuracy (training loss, where there is none) whose time and cost are reported",
        default={},
    )
    charts: list[Text] = key(
        "Modules of scripts/charts/, or of an article's charts/, in the order of the report; [] for none",
        default=["relative_time", "relative_cost", "dollars", "pareto", "learning"],
    )
    book: Annotated[
        str | Names,
        Either(
            "A price book of config/prices/ or the path of a .csv file, or a list of them: the first that prices a "
            "machine counts"
        ),
    ] = key(default=["current", "listed"])
    prices: Annotated[dict[Annotated[str, Pattern("[a-z0-9][a-z0-9-]*")], PriceOption], Filled] = key(
        "Price options: name -> how the machines are bought",
        default={"on-demand": {"purchase": "on-demand"}, "spot": {"purchase": "spot"}, "owned": {"purchase": "owned"}},
    )
    import_: Import = key("Runs from logs instead of a grid", alias="import")
    published: Published = key("The article whose figures these are, or who measured them")
    machines: dict[Annotated[str, Pattern("[A-Za-z0-9][A-Za-z0-9_.-]*")], Machine] = key(
        "Machines of this study that config/hardware.yaml does not have", default={}
    )
    claims: list[Claim] = key("What somebody says of these figures, checked against the tables", default=[])
    left_out: list[LeftOut] = key("What an article shows that is not here, and why")

    @model_validator(mode="after")
    def _check_base(self) -> "Study":
        named = self.model_dump(include={"workloads", "frameworks"}, exclude_none=True)
        if self.base is not None and self.base.framework is None and not is_of_commands_alone(named):
            raise wrong("'framework' is a required property", ["base"])
        return self


def is_of_commands_alone(study: Mapping[str, Any]) -> bool:
    """Return whether a study (its file's content) has programs as workloads, and no framework is named."""
    workloads = study.get("workloads", [])
    return bool(workloads) and "frameworks" not in study and not any(isinstance(one, str) for one in workloads)


def whole() -> type[Study]:
    """Return the model of a study with the keys of all articles."""
    return _with(*articles.study_keys())


def of(config: Any) -> type[Study]:
    """Return the model that a study is checked by: with its own articles, or with all for a key that is unknown."""
    known = {field.alias or name for name, field in Study.model_fields.items()}
    more = set(config) - known if isinstance(config, dict) else set()
    return _with(*sorted(more)) if more <= set(articles.study_keys()) else whole()


@cache
def _with(*keys: str) -> type[Study]:
    models = {name: articles.model(name) for name in keys}
    fields: dict[str, Any] = {name: (each.VALUE, key(each.MEANING)) for name, each in models.items()}
    return create_model("Study", __base__=Study, __doc__=Study.__doc__, **fields) if fields else Study


#: Keys of a study that the command line may replace: snakemake --config 'frameworks=[jax]'
AXES = (
    *(
        "workloads",
        "hardware",
        "frameworks",
        "batch_sizes",
        "modes",
        "precisions",
        "devices",
        "repeats",
        "data",
        "scale",
    ),
    *("base", "price", "book", "tables"),
)


def read(path: Path) -> dict[str, Any]:
    """Return what a study's file says, without defaults. Raises InputError for what is none, or holds a mistake."""
    return deepcopy(_read(path, read_text(path)))


@cache
def _read(path: Path, text: str) -> dict[str, Any]:
    """Return what a text says, once: a call reads a study to publish, to show and to quote it."""
    found: dict[str, Any] = schemas.plain_yaml(text, path)
    check(found, of(found), path)
    return found


def defaults() -> dict[str, Any]:
    """Return the value of each key that a study may leave out and that then counts as if it stood there."""
    fields = Study.model_fields.items()
    return {
        name: field.get_default() for name, field in fields if not field.is_required() and field.default is not None
    }
