"""The parts of a study: which cells, how they are priced, what is claimed of them, where logs are from."""

from typing import Annotated, Literal

from pydantic import Field

from scripts.studies.kinds import (
    Count,
    Either,
    Filled,
    Names,
    NotNegative,
    Once,
    OneOrMore,
    Part,
    Pattern,
    Positive,
    Some,
    Text,
    key,
    need,
)

#: What a batch size may be.
BATCH_SIZE_WORDS = "A whole number, published or largest"

BatchSize = Annotated[Literal["published", "largest"] | int, Either(BATCH_SIZE_WORDS)]
Mode = Literal["stock", "tuned", "sparse", "plain_lstm"]
Precision = Literal["float32", "tf32", "bfloat16", "float16"]
Samples = Annotated[float, Field(gt=0, le=1, description="Fraction of the samples")]


class Where(Some):
    """Configurations: those that have the named values on each axis."""

    workload: OneOrMore = key()
    hardware: OneOrMore = key()
    framework: OneOrMore = key()
    mode: OneOrMore = key()
    precision: OneOrMore = key()
    batch_size: Annotated[
        BatchSize | Annotated[list[BatchSize], Filled], Either("A whole number, published, largest, or a list of them")
    ] = key()
    devices: Annotated[int | Annotated[list[int], Filled], Either("A whole number, or a list of them")] = key()


class Question(Part):
    """What the page answers first."""

    asks: Text = need("The question, which yes or no can answer")
    hardware: Text = key("The machine that is asked about")
    framework: Text = key("The framework that is asked about")
    batch_size: Count = key("The batch size that is asked about")
    mode: Text = key("The mode that is asked about")
    precision: Text = key("The precision that is asked about")
    devices: Count = key("The number of devices that is asked about")
    than: Annotated[str | int, Either("What it is compared with, if not the base's: a name or a whole number")] = key()


class Base(Part):
    """The configuration that counts as 1.00x."""

    hardware: str
    framework: str = key("Needed, but where all workloads are commands that name none")
    mode: Mode = key()
    precision: Precision = key()
    devices: Count = key()


class Settings(Some):
    """Other settings of a configuration."""

    batch_size: Annotated[Literal["largest"] | Count, Either("largest, or a whole number from 1")] = key()
    samples: Samples = key()
    epochs: Count = key()


class Override(Part):
    """Other settings for some configurations."""

    where: Where
    set: Settings


class LanguageModel(Part):
    """A language model that a program trains, as `./epd estimate` asks for it (docs/estimating.md)."""

    model: Text = key("A model of config/language_models.yaml, or its name on a hub")
    billion: Positive = key("Or its parameters, in billions")
    active: Positive = key("Of a mixture of experts: billions of parameters that a token uses")
    layers: Count = key("Layers whose attention sees the whole sequence; without, as of the nearest model")
    width: Count = key("Heads x their width, likewise")
    length: Positive = key("Tokens of a sequence; without, 4096, or all positions of the model")
    precision: Literal["bf16", "fp8", "mxfp8", "nvfp4"] = key("In which it is trained", default="bf16")
    software: Text = key("By which it is trained; without, one that no table holds", default="own program")
    task: Literal["pretrain", "sft", "lora", "qlora"] = key("What is trained of it", default="pretrain")


class Command(Part):
    """A training that is a program of your own, measured from outside as `epd run` does (docs/run.md)."""

    name: Annotated[str, Pattern(r"[A-Za-z][A-Za-z0-9_]*")] = need("What it is called: a folder of the results")
    command: Text = need(
        "An argument list, for no shell: `python train.py --batch_size={batch_size}`. In braces: batch_size, "
        "framework, mode, precision, devices, seed, and what `axes` names; {{x}} is {x} as it stands",
    )
    folder: Text = key("Where it runs; without, the working folder", default=".")
    python: Text = key("The Python that stands for the word `python` in it: the program's own environment")
    axes: dict[Annotated[str, Pattern(r"[A-Za-z_]\w*")], Annotated[list[str | int | float | bool], Filled, Once]] = key(
        "Placeholder of your own -> its values: each is a workload for itself, `gpt-dropout0.1`", default={}
    )
    minutes: Positive = key("How long is measured, from the first step on; it is then ended as by Ctrl-C", default=1.0)
    of: Annotated[
        Count | Text, Either("A whole number from 1, of what the program counts, or an amount as '60000 images'")
    ] = key(
        "How long the whole is, where neither its bar nor an argument says it: of what it counts, or an amount in the "
        "unit of `per_step`",
    )
    epochs: Count = key("Likewise, in epochs")
    per_step: Text = key("What a step goes through, as '{batch_size}x1024 tokens'; without, a sample is a step")
    pattern: Text = key("How its lines count, where they are of another form: a regular expression, (?P<count>\\d+)")
    language_model: LanguageModel = key(
        "The language model that it trains: the page then estimates what it would cost on cards that were not measured"
    )
    image: Annotated[str, Pattern(r"[\w.:/@-]*/[\w.:/@-]+")] = key(
        "The container image that it runs in on Google Batch, with its registry: made from one of this project's"
    )


class Rent(Part):
    """What is rented, in the words of the price book."""

    provider: Text
    region: Text = key("Needed where the book has several")
    items: Annotated[dict[str, Count], Filled] = need("Name in the book: pieces; a host and what is added to it")
    premium: Text = key("A row of purchase `premium`: a share of the host's price, on top")
    fee: Text = key("A row of purchase `fee`, due once a month")
    purchase: Text = key("How it is rented under a price option that does not say; without, on demand")


class Own(Part):
    """What a machine cost that is owned."""

    acquisition_usd: NotNegative
    residual_usd: NotNegative = key("What it sells for at the end of its life; without, nothing")
    life_months: Positive
    maintenance_usd_per_month: NotNegative = key("Without, nothing")
    power_watts: NotNegative = need("Drawn while it trains")
    usd_per_kwh: NotNegative
    hours_per_month: Annotated[float, Field(gt=0, le=744)] = need("Hours of use")
    as_of: Annotated[str, Pattern(r"[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?")] = need("YYYY-MM-DD, YYYY-MM or YYYY")
    source: Text
    inferred: str = key("Which of these figures no source gives, and where they come from")


class Gpus(Part):
    """What cards a machine has."""

    model: Text
    count: Count


class Machine(Part):
    """A machine that config/hardware.yaml does not have."""

    label: Text
    cores: Count = key(
        "vCPUs of a machine without a GPU: a quote takes its speed for that of others with as many or more",
    )
    gpus: Gpus = key("What cards it has: machines with several of a model are compared with those that have one")
    rent: Rent = key()
    own: Own = key()


class Discount(Part):
    """Committed use."""

    share: Annotated[float, Field(ge=0, le=1)]
    source: Text


class Preemption(Part):
    """What spot machines are expected to lose."""

    preemptions_per_hour: NotNegative
    checkpoint_seconds: Positive = key(
        "Training between two checkpoints; without, the best for save_seconds, or none if saving takes no time",
    )
    restart_seconds: NotNegative
    save_seconds: NotNegative = key("Without, 0")
    source: Text


class PriceOption(Part):
    """How the machines are bought."""

    label: Text = key("Its words in the report")
    book: Annotated[str | Names, Either("A name or a list of names: instead of the study's book")] = key()
    purchase: Literal["on-demand", "spot", "month", "owned"] = key(
        "Without: as each machine's `rent` says; owned, if it has none"
    )
    instead: dict[str, Rent] = key("Machine -> what is rented in its place under this option")
    offer: Literal["lowest", "median"] = key(
        "Instead of each machine's `rent`: its cards (`gpus`) by the hour, at the lowest of what clouds ask for so "
        "many, or the median; one offer a provider: a machine that has them all, or several whole ones",
    )
    only: Annotated[Names, Once] = key("offer: of these providers alone, which may be market places")
    without: Annotated[Names, Once] = key("offer: of all clouds but these")
    discount: Discount = key("Committed use: the share taken off")
    sustained_use: bool = key("Google's discount for hours_per_month, on what config/prices/sustained-use.csv lists")
    hours_per_month: Annotated[float, Field(gt=0, le=744)] = key(
        "Hours of use a month, for monthly rents and sustained use; without, 730: all of them"
    )
    months: Positive = key("Months that a set-up fee is spread over; without, one")
    in_a_row: bool = key(
        "Trainings follow one another on one machine, as most articles reckon: a training costs its time "
        "x the price, without the provider's minimum and rounding",
    )
    preemption: Preemption = key("What spot machines are expected to lose; without, no loss is reckoned")


class Unlike(Part):
    """Unlike things that are compared."""

    where: Where
    says: Text


class Import(Part):
    """Runs from logs instead of a grid."""

    format: str = need("Module of scripts/importers/formats/")
    folder: Text = key("Where the logs lie")
    repository: Annotated[str, Pattern(r"(?!\.\.?/)[\w.-]+/(?!\.\.?$)[\w.-]+")] = key(
        "owner/name on GitHub, for logs that are fetched"
    )
    commit: Annotated[str, Pattern("[0-9a-f]{40}")] = key()
    below: str = key("Folder of the logs in the repository")
    others: Names = key("Tables of facts (.csv) of other studies, whose logs may be the same")
    facts: Text = key("A table of facts (.csv) that was made from the logs and is used in their place")
    hardware: Annotated[dict[str, str], Filled] = key("Folder of logs -> machine")
    columns: Annotated[dict[str, Text], Filled] = key(
        "Column of a table -> workload, for formats whose tables have a column for each; of tables of language models "
        "a model as it is printed -> its name here"
    )
    units: dict[str, Text] = key(
        "Workload, or * for all others -> what its samples are: images, tokens; without, samples",
    )
    software: dict[str, Text] = key(
        "Runs, with * for any text -> which software they are of, the first that fits: said beside the "
        "answer where there are several",
    )
    also: dict[str, Annotated[str, Pattern("[0-9a-f]{64}")]] = key(
        "Files in `below` of the repository that the logs are read with, and no logs themselves: path -> SHA-256",
    )
    framework: dict[str, str] = key("Folder of logs -> framework, where the folder decides")
    workloads: Names = key("Workloads in the order of the report; others follow")
    workload: Text = key("For logs that do not name it")
    seconds: dict[str, Positive] = key("Folder of logs -> how long the training took (s), for logs without times")
    seconds_per_epoch: dict[str, Positive] = key("Likewise, of an epoch (s)")
    times: Literal["files"] = key(
        "files: where nothing else says how long it took, from the oldest to the newest file of the log's folder",
    )
    unlike: list[Unlike] = key("Unlike things that are compared, which no log shows")


class Published(Part):
    """The article whose figures these are, or who measured them."""

    title: Text
    by: Text
    date: Text
    url: Annotated[str, Pattern(r"https?://[^\s]+")] = key("An address of the web: it becomes a link")
    licence: Text = key()


class Claim(Part):
    """What somebody says of these figures."""

    says: Text = need("The words, as published")
    check: Literal["best", "never_best", "front", "less", "more", "same", "alike", "ratio", "figure", "unchecked"]
    word: Literal["same", "similar", "slightly", "significantly", "much", "much, much"] = key(
        "less, more, ratio: by how much, as scripts/analysis/readings.py reads it for all studies"
    )
    times: Annotated[float, Field(gt=1)] = key("less, more, ratio: about so many times")
    often: bool = key("It is enough in half of the pairs")
    than_study: str = key("Study in which the other side is measured")
    by: str = key(
        "Column that is compared: train_seconds, cost_usd, billed_usd, val_acc, ..., seconds_usd: time x "
        "cost, or relative_time, relative_cost: over the base configuration",
    )
    price: str = key("Price option of a cost; else the study's")
    than_price: str = key("Price option of the other side; else the same")
    cell: Where = key("What is claimed about")
    than: Where = key(
        "What it is compared with, in the same workload unless both name one; without, the same configurations (at "
        "than_price)",
    )
    median: bool = key("ratio: of the median of all pairs")
    factor: Positive = key("less: cell x factor < than; without, 1")
    between: Annotated[list[float], Field(min_length=2, max_length=2)] = key(
        "ratio, figure: cell over than, or the figure, lies within"
    )
    figure: Annotated[str | Names, Either("A figure that this study computes, or a list of several")] = key()
    over: str = key("Another one, which they are divided by")
    printed: float = key()
    within: NotNegative = key(
        "Rounding of the printed figure: half of its last digit; or more, if the article says about"
    )
    note: str = key("How the words were read, or why they fail")
    among: Where = key("Only these configurations take part")
    pairs: Annotated[list[Annotated[list[str], Field(min_length=2, max_length=2)]], Filled] = key(
        "Instead of cell and than: pairs of machines"
    )


class LeftOut(Part):
    """What an article shows that is not here, and why."""

    what: Text
    why: Text
