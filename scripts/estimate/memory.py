"""Memory that trainings take: printed runs, those that ran out of it, and what others of their kind take by them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from scripts.estimate.points import precision_of
from scripts.storage.errors import InputError

#: Bytes a parameter that a training keeps, spread over all its cards: BF16 weights and gradients, FP32 weights and the
#: two moments of Adam (Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models",
#: SC 2020, section 3.1); with adapters the frozen weights alone. QLoRA keeps them in 4 bits with constants of .13 bits
#: (Dettmers et al., "QLoRA: Efficient Finetuning of Quantized LLMs", NeurIPS 2023, section 3), and an adapter of .2 %
#: of the parameters at 16 bytes. Activations come on top.
STATE_BYTES = {"pretrain": 16.0, "sft": 16.0, "lora": 2.0, "qlora": 0.55}

#: Of its memory a card has so much for what is kept; activations, some of which stay even if they are computed again,
#: and buffers have the rest. Of 440 printed trainings all but one keep to it (tests/estimate/test_committed.py).
ROOM = 0.9

#: What a card holds of a fine-tuning beside its weights: what goes through the layers, where none is computed again,
#: the words' vectors, which are not kept in 4 bits, and the scores of all words.
FORM = {"lora": ("activations", "logits"), "qlora": ("activations", "embedding", "logits")}

#: Peaks speak of models of up to so many times more parameters than the largest of them.
BEYOND = 2.0

#: Tasks by how LitGPT's configurations are called.
_CONFIGS = {"full.yaml": "sft", "lora.yaml": "lora", "qlora.yaml": "qlora"}

#: Two of its configurations of Gemma 2 stand under the name of Gemma.
_MISNAMED = {"gemma2-2b": "Gemma 2 2B", "gemma2b": "Gemma 2 2B"}


class Asked(Protocol):
    """What memory has to know of a question."""

    @property
    def model(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def task(self) -> str: ...
    @property
    def precision(self) -> str: ...
    @property
    def total_billion(self) -> float: ...
    @property
    def width(self) -> int: ...
    @property
    def vocabulary(self) -> int | None: ...
    @property
    def length(self) -> float: ...
    @property
    def state_bytes(self) -> float: ...
    @property
    def state_gb(self) -> float: ...


@dataclass(frozen=True)
class Run:
    """A printed training on so many cards, each with so many tokens at once at least; its peak (GB a card), if printed.

    `is_out` says that it ran out of memory.
    """

    model: str
    task: str
    precision: str
    card: str
    cards: int
    tokens: float
    peak_gb: float | None = None
    is_out: bool = False
    source: str = ""


@dataclass(frozen=True)
class Memory:
    """Printed runs, and by task what their peaks teach: GB of a card for each part of `FORM`.

    `over` is by how much a model that was left out took more than that at most; `tokens` at once and `billion`
    parameters are the most that it was learnt from.
    """

    runs: Sequence[Run] = ()
    weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    over: Mapping[str, float] = field(default_factory=dict)
    tokens: float = 0.0
    billion: float = 0.0

    def peak_gb(self, question: Asked, cards: int = 1) -> float | None:
        """Return what a card takes of a sequence where no layer is computed again and the state is spread over `cards`.

        None of what no peak says anything. Without a vocabulary it is too little.
        """
        if question.task not in self.weights or question.kind != "dense" or not is_usual(question):
            return None
        parts = _parts(question.total_billion, question.width, question.vocabulary or 0, question.length)
        return question.state_gb / cards + sum(
            weight * parts[name] for name, weight in self.weights[question.task].items()
        )

    def is_learnt(self, question: Asked) -> bool:
        """Return whether a question is like those that peaks are printed of."""
        return bool(question.vocabulary) and (
            question.length <= self.tokens and question.total_billion <= BEYOND * self.billion
        )

    def ran(self, question: Asked, memory_gb: Mapping[str, float], card: str, cards: int) -> Run | None:
        """Return a printed run of this training, on no more cards of no more memory."""
        return next((run for run in self._ran(question, memory_gb, card) if run.cards <= cards), None)

    def fewest(self, question: Asked, memory_gb: Mapping[str, float], card: str) -> int | None:
        """Return the fewest cards that a printed run of this training took; None without one."""
        return min((run.cards for run in self._ran(question, memory_gb, card)), default=None)

    def _ran(self, question: Asked, memory_gb: Mapping[str, float], card: str) -> list[Run]:
        return [
            run
            for run in self.runs
            if not run.is_out and is_usual(question) and run.model == question.model
            if _is_like(run, question) and run.tokens >= question.length and memory_gb[run.card] <= memory_gb[card]
        ]

    def ran_out(
        self,
        question: Asked,
        models: Mapping[str, Mapping[str, Any]],
        memory_gb: Mapping[str, float],
        card: str,
        cards: int,
    ) -> Run | None:
        """Return a printed run that ran out of memory, of no more parameters, words and tokens, on no fewer cards."""

        def is_as_much(run: Run) -> bool:
            about = models.get(run.model, {})
            is_less = (
                question.kind == "dense"
                and about.get("active_billion", 0) <= question.total_billion
                and about.get("vocabulary", 0) <= (question.vocabulary or 0)
            )
            is_held = run.cards >= cards and memory_gb[run.card] >= memory_gb[card]
            return (is_less or run.model == question.model) and run.tokens <= question.length and is_held

        found = [run for run in self.runs if run.is_out and is_usual(question) and _is_like(run, question)]
        return next(filter(is_as_much, sorted(found, key=lambda run: run.model != question.model)), None)


def is_usual(question: Asked) -> bool:
    """Return whether a training keeps what its task usually does of a parameter."""
    return question.state_bytes == STATE_BYTES[question.task]


def _is_like(run: Run, question: Asked) -> bool:
    return (run.task, run.precision) == (question.task, question.precision)


def _parts(billion: float, width: int, vocabulary: int, tokens: float) -> dict[str, float]:
    """Return the sizes (GB, were each number a byte) of what a card holds beside its weights."""
    return {
        "activations": billion * tokens / width,
        "embedding": vocabulary * width / 1e9,
        "logits": vocabulary * tokens / 1e9,
    }


def fit(runs: Sequence[Run], models: Mapping[str, Mapping[str, Any]]) -> Memory:
    """Return what the peaks of runs on one card teach, by least squares of relative errors."""
    peaks = {
        task: [run for run in runs if run.task == task and run.peak_gb and run.cards == 1 and run.model in models]
        for task in FORM
    }
    peaks = {task: of for task, of in peaks.items() if len({run.model for run in of}) > len(FORM[task])}
    weights = {task: _fit(task, of, models) for task, of in peaks.items()}
    over = {task: max(run.peak_gb / said for run, said in left_out(task, of, models)) for task, of in peaks.items()}  # type: ignore[operator]
    learnt = [run for of in peaks.values() for run in of]
    return Memory(
        runs, weights, over, max((run.tokens for run in learnt), default=0.0),
        max((models[run.model]["active_billion"] for run in learnt), default=0.0),
    )  # fmt: skip


def left_out(task: str, runs: Sequence[Run], models: Mapping[str, Mapping[str, Any]]) -> list[tuple[Run, float]]:
    """Return each run with what the others say of it, those of its model left out."""
    found = []
    for model in dict.fromkeys(run.model for run in runs):
        weights = _fit(task, [run for run in runs if run.model != model], models)
        for run in runs:
            if run.model == model:
                parts = _of_run(run, models)
                said = sum(weight * parts[name] for name, weight in weights.items())
                found.append((run, said + STATE_BYTES[task] * models[model]["active_billion"]))
    return found


def _of_run(run: Run, models: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    about = models[run.model]
    return _parts(about["active_billion"], about["width"], about["vocabulary"], run.tokens)


def _fit(task: str, runs: Sequence[Run], models: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    peaks = np.array([run.peak_gb for run in runs], float)
    state = np.array([STATE_BYTES[task] * models[run.model]["active_billion"] for run in runs])
    parts = np.array([[_of_run(run, models)[name] for name in FORM[task]] for run in runs])
    found = np.linalg.lstsq(parts / peaks[:, None], (peaks - state) / peaks, rcond=None)[0]
    return dict(zip(FORM[task], map(float, found), strict=True))


def of_fine_tunings(rows: Iterable[Mapping[str, str]], model: Callable[[str], str]) -> list[Run]:
    """Return LitGPT's printed fine-tunings; `model` says which model a name is of, and raises InputError."""
    found = []
    for row in rows:
        config, _, task = row["config"].partition("/")
        cards, _, card = row["machine"].partition("x")
        tokens = float(row["max_seq_length"]) * float(row["micro_batch_size"])
        name = _MISNAMED.get(config) or model(row["model"])
        is_out = row["outcome"] == "out of memory"
        peak = float(row["peak_memory_gb"]) if row["peak_memory_gb"] else None
        found.append(Run(name, _CONFIGS[task], "bf16", card, int(cards), tokens, peak, is_out, row["source"]))
    return found


def of_speeds(
    rows: Iterable[Mapping[str, str]], model: Callable[[str], str], cards: Mapping[str, Any], names: Mapping[str, str]
) -> list[Run]:
    """Return the trainings of the tables of speed that ran, on as many cards as they say."""
    found: dict[Run, None] = {}
    for row in rows:
        card, precision = names.get(row["card"], row["card"]), precision_of(row)
        if not (row["cards"] and row["sequence_length"] and row["tokens_per_second_per_card"] and precision):
            continue
        try:
            name = model(row["model"])
        except InputError:
            continue
        if card in cards:
            count, tokens = int(float(row["cards"])), float(row["sequence_length"])
            found[Run(name, row["task"], precision, card, count, tokens)] = None
    # What ran on fewer cards, with longer sequences, says as much.
    alike: dict[tuple[str, ...], list[Run]] = {}
    for run in found:
        alike.setdefault((run.model, run.task, run.precision, run.card), []).append(run)
    return [run for runs in alike.values() for run in runs if not any(_is_more(other, run) for other in runs)]


def _is_more(one: Run, other: Run) -> bool:
    return one != other and one.cards <= other.cards and one.tokens >= other.tokens
