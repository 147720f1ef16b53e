"""One printed or asked-for training of a language model, and the table of facts as such points."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

KINDS = ("dense", "moe")
PRECISIONS = ("bf16", "fp8", "mxfp8", "nvfp4")

#: Software whose speed the tables hold, by how its name begins; another one is a class of its own.
SOFTWARE = {
    "NeMo AutoModel": "NeMo AutoModel",
    "NeMo ": "Megatron-Bridge",
    "llm-foundry": "llm-foundry",
    "MaxText": "MaxText",
}
OTHER = "other"

#: Arithmetic by the words of those who print it. FP8-CS is FP8 by tensor, FP8-MX is MXFP8.
_WRITTEN = {
    **{"BF16": "bf16", "bf16": "bf16", "amp_bf16": "bf16"},
    **{"FP8": "fp8", "FP8-CS": "fp8", "amp_fp8": "fp8", "fp8_full": "fp8"},
    **{"MXFP8": "mxfp8", "FP8-MX": "mxfp8", "NVFP4": "nvfp4"},
}

#: Times that 4-bit weights take (QLoRA against LoRA), as they are unpacked in each pass, and the standard deviation of
#: its logarithm: the median of ten pairs of LitGPT's on one A10G (reports/published/sources/litgpt-fine-tuning.csv).
QUANTISED, QUANTISED_DEVIATION = 1.38, 0.21

#: The work of a token, and what it takes beside it, as a share of that of pre-training. With adapters the gradients of
#: frozen weights, a third of the work, are not computed.
TASKS = {"pretrain": 1.0, "sft": 1.0, "lora": 2 / 3, "qlora": 2 / 3 * QUANTISED}


@dataclass(frozen=True)
class Point:
    """A training of one model on one card; `gflop` is the work of a token, `rate` tokens a second and card.

    `published` is when somebody printed the rate (YYYY-MM or YYYY-MM-DD). QLoRA is the task `lora`, `is_quantised`.
    `cards` is on how many together a person measured their own, None where that is not said.
    """

    model: str
    family: str
    kind: str
    active_billion: float
    total_billion: float
    card: str
    precision: str
    software: str
    task: str
    length: float | None
    gflop: float
    rate: float | None = None
    published: str = ""
    is_quantised: bool = False
    cards: int | None = 1

    @property
    def tflops(self) -> float:
        """Return the logarithm of the TFLOP a second that the rate comes to."""
        assert self.rate is not None
        return log(self.rate * self.gflop / 1000)

    @property
    def attention(self) -> float:
        """Return the share of the work that words' attention to each other is, and not what parameters are for."""
        of_parameters = 6 * self.active_billion * TASKS["qlora" if self.is_quantised else self.task]
        return max(0.0, 1 - of_parameters / self.gflop)


def gflop_per_token(active_billion: float, layers: int, width: int, length: float, task: str = "pretrain") -> float:
    """Return the work of a token forward and back, attention counted as causal: half of the square of the length."""
    return (6 * active_billion + 6 * layers * length * width / 1e9) * TASKS[task]


def software_class(name: str) -> str:
    """Return the class of software that a name belongs to."""
    return next((found for start, found in SOFTWARE.items() if name.startswith(start)), OTHER)


def software_on(points: Sequence[Point], card: str) -> set[str]:
    """Return the software that tables have on TPUs or on GPUs, whichever a card is."""
    is_tpu = card.startswith("TPU")
    return {point.software for point in points if point.card.startswith("TPU") == is_tpu} - {OTHER}


def of_facts(
    rows: Iterable[Mapping[str, Any]], models: Mapping[str, Any], cards: Mapping[str, Any], names: Mapping[str, str]
) -> list[Point]:
    """Return the points of the facts that say what they are: of a row that releases repeat, the newest."""
    newest: dict[tuple[Any, ...], Point] = {}
    for key, point in releases(rows, models, cards, names):
        if key not in newest or newest[key].published <= point.published:
            newest[key] = point
    return list(newest.values())


def releases(
    rows: Iterable[Mapping[str, Any]], models: Mapping[str, Any], cards: Mapping[str, Any], names: Mapping[str, str]
) -> Iterator[tuple[tuple[Any, ...], Point]]:
    """Yield the points of all releases, each with what it has in common with the same row of another release.

    Left out are rows without a rate, of unknown models or arithmetic, and int8 that calls itself nothing.
    """
    known = {name: model for model, about in models.items() for name in about["names"]}
    for row in rows:
        model = known.get(row["model"])
        precision = precision_of(row)
        card = names.get(row["card"], row["card"])
        if not (row["tokens_per_second_per_card"] and model and "active_billion" in models[model]):
            continue
        if card not in cards or precision is None or precision not in cards[card]["peak_tflops"]:
            continue
        about, rate = models[model], float(row["tokens_per_second_per_card"])
        length = float(row["sequence_length"]) if row["sequence_length"] else None
        if length:
            gflop = gflop_per_token(about["active_billion"], about["layers"], about["width"], length, row["task"])
        elif row["model_tflops_per_card"]:  # of a row without a length its publisher's own count is known
            gflop = float(row["model_tflops_per_card"]) / rate * 1000
        else:
            continue
        active = about["active_billion"]
        software = software_class(row["software"])
        point = Point(
            model, about["family"], about["kind"], active, about["total_billion"] if about["kind"] == "moe" else active,
            card, precision, software, row["task"], length, gflop, rate, row["published"],
        )  # fmt: skip
        yield (model, card, precision, software, row["task"], length, row["cards"]), point


def precision_of(row: Mapping[str, Any]) -> str | None:
    """Return the arithmetic of a row of the tables of speed, None of what is none or unsaid."""
    if row["precision"]:
        return _WRITTEN.get(row["precision"])
    if not row["software"].startswith("MaxText") or "/fp8/" in row["source"]:
        return None
    # MaxText trains in bfloat16 unless it says otherwise; this recipe reads 86 % of its peak, which is int8 unsaid.
    return None if row["model"] == "GPT3-175B" and row["card"] == "TPU v5p" else "bf16"
