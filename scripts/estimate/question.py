"""What is asked: the training of a language model, checked, and what had to be taken for granted of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, isfinite, log
from typing import Any

from scripts.estimate import ceiling, linear
from scripts.estimate.known import Known
from scripts.estimate.memory import STATE_BYTES
from scripts.estimate.points import (
    KINDS,
    OTHER,
    PRECISIONS,
    QUANTISED,
    SOFTWARE,
    TASKS,
    Point,
    gflop_per_token,
    software_on,
)
from scripts.estimate.reasons import text
from scripts.storage.errors import InputError
from scripts.storage.numbers import rounded, written
from scripts.storage.spelling import plain

#: What people call software whose speed the tables hold, in small letters.
_CALLED = {
    **{"automodel": "NeMo AutoModel", "nemo automodel": "NeMo AutoModel"},
    **{"nemo": "Megatron-Bridge", "megatron": "Megatron-Bridge", "megatron-bridge": "Megatron-Bridge"},
    **{"llm-foundry": "llm-foundry", "llmfoundry": "llm-foundry", "maxtext": "MaxText"},
}

MOST_TOKENS = 1e15

#: Tokens of a sequence, where nobody says how many and the model has as many positions.
_LENGTH = 4096

_KEEPS = {"lora": "frozen weights", "qlora": "4-bit weights and an adapter"}

#: Cards that one quote is of, and the most that the tables of speed have.
MOST_CARDS, MOST_PRINTED = 4096, 1024

#: Of the records of the NanoGPT speedrun none took fewer steps (reports/published/sources/speedrun-logs.csv).
FEWEST_STEPS = 1375

#: How large numbers are written for short; of a sequence's tokens a k is 1,024 (4k, 128k).
_TIMES = {
    **{"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6},
    **{"b": 1e9, "bn": 1e9, "billion": 1e9, "t": 1e12, "trillion": 1e12},
}
_K_OF_LENGTH = 1024

_NUMBER = re.compile(
    r"([+-]?(?:\d{1,3}(?:[,_]\d{3})+|\d+)?(?:\.\d*)?(?:e[+-]?\d+)?)\s*([a-z]*)", re.IGNORECASE | re.ASCII
)

#: A rate of less than this share of the peak is taken for a slip of the unit.
LEAST_OF_PEAK = 0.005

#: So many standard deviations off, a rate is denied by the others.
_DENIED = 4.0

#: Parameters are 12 x layers x width² in a plain transformer; of the dense models known .42 to 3.8 times as many if all
#: layers see the whole and there are over 50 million; of mixtures of experts .12 to 2 times as many active ones.
_SHAPES = {"dense": (0.25, 8.0), "moe": (0.0625, 8.0)}


@dataclass(frozen=True)
class Question:
    """A training: its model, its numbers (parameters in billions), and how it is trained.

    `is_named` says whether the person named the software; `assumed` is what nobody said, a line each.
    """

    model: str
    family: str
    kind: str
    active_billion: float
    total_billion: float
    layers: int
    width: int
    tokens: float
    length: float
    task: str
    precision: str
    software: str
    is_named: bool
    assumed: tuple[str, ...]
    state_bytes: float
    all_layers: int
    vocabulary: int | None = None

    @property
    def sequences(self) -> int:
        """How many whole sequences the training has."""
        return int(self.tokens // self.length)

    @property
    def state_gb(self) -> float:
        """What a training keeps of its parameters on all cards together, in GB; activations come on top."""
        return self.total_billion * self.state_bytes

    @property
    def sequence_gb(self) -> float:
        """What one sequence leaves on all cards together where layers are computed again: the BF16 input of each."""
        return 2 * self.all_layers * self.length * self.width / 1e9

    @property
    def kept_gb(self) -> float:
        """What all cards together must hold at least, in GB."""
        return self.state_gb + self.sequence_gb

    def on(self, card: str, precision: str = "", rate: float | None = None) -> Point:
        """Return the training on a card, with its rate (tokens a second and card) where that was measured."""
        gflop = gflop_per_token(self.active_billion, self.layers, self.width, self.length, self.task)
        is_quantised = self.task == "qlora"
        # What a dense model has beside (vectors of words that are looked up) takes memory and no time.
        total = self.total_billion if self.kind == "moe" else self.active_billion
        return Point(
            self.model, self.family, self.kind, self.active_billion, total,
            card, precision or self.precision, self.software, "lora" if is_quantised else self.task, self.length, gflop,
            rate, is_quantised=is_quantised, cards=None,
        )  # fmt: skip


def one_of(option: str, value: str, allowed: Mapping[str, Any] | tuple[str, ...]) -> str:
    """Return a value that is one of those allowed. Raises InputError."""
    if value not in allowed:
        raise InputError(f"{option}: {value!r} is unknown: it is one of {', '.join(allowed)}")
    return value


def positive(option: str, value: float, unit: str) -> float:
    """Return a finite number above 0. Raises InputError."""
    if not (isfinite(value) and value > 0):
        raise InputError(f"{option}: {value:g} must be {unit}, more than 0")
    return value


def ask(
    known: Known,
    *,
    tokens: float,
    model: str = "",
    billion: float | None = None,
    active: float | None = None,
    layers: float | None = None,
    width: float | None = None,
    kind: str = "dense",
    precision: str = "bf16",
    software: str = "",
    task: str = "pretrain",
    length: float | None = None,
    state_bytes: float | None = None,
) -> Question:
    """Return the question that a person asks, by the name of a model or its numbers. Raises InputError."""
    if bool(model) == (billion is not None):
        raise InputError("--model NAME or --billion PARAMETERS must be given, and not both")
    precision = one_of("--precision", precision.lower(), PRECISIONS)
    if (task := one_of("--task", task.lower(), TASKS)) == "qlora" and precision != "bf16":
        raise InputError(f"--precision: {precision}: qlora keeps weights in 4 bits and computes in bf16")
    if positive("--tokens", tokens, "tokens of the whole training") > MOST_TOKENS:
        raise InputError(f"--tokens: {tokens:g} must be at most {MOST_TOKENS:g}, more than anybody trained on")
    assumed: list[str] = []
    if length is not None:
        _check_length(known, tokens, length)
    if model:
        if (active, layers, width, kind) != (None, None, None, "dense"):
            raise InputError("--active, --layers, --width and --kind go with --billion: of --model they are known")
        name = known.model(model)
        about = {"name": name, **known.askable[name]}
        if "active_billion" not in about:
            raise InputError(f"--model: {name}: its active parameters are not known")
        about.setdefault("total_billion", about["active_billion"])
        _check_size(known, f"--model: {name}", about["kind"], about["active_billion"])
        if about["family"] not in {point.family for point in known.points}:
            about["family"] = ""
    else:
        about = _by_numbers(known, positive("--billion", billion or 0, "billions of parameters"), active, kind, assumed)
        given = {"layers": layers, "width": width}
        for key, value in given.items():
            if value is not None:
                about[key] = _part(known, key, value)
        names = [key for key, value in given.items() if value is None]
        if len(names) < len(given):
            _check_shape(about, names)
        if names:
            figures = " and ".join(str(about[key]) for key in names)
            assumed.append(f"{' and '.join(names)}: {figures}, as {about['like']} has")
    if length is None:
        length = float(min(_LENGTH, about.get("positions", _LENGTH)))
        if length < _LENGTH:
            assumed.append(f"length: {length:,.0f} tokens, all positions of {about['name']} (--length)")
        _check_length(known, tokens, length)
    elif length > (positions := about.get("positions", length)):
        beyond = text("positions", model=about["name"], positions=f"{positions:,}", length=f"{length:,.0f}")
        if about.get("are_learned"):
            raise InputError(f"--length: {beyond}{text('learned')}")
        assumed.append(f"length: {beyond}{text('stretched')}")
    called = {plain(one): known for one, known in _CALLED.items()}
    found = called.get(plain(software), OTHER) if software not in SOFTWARE.values() else software
    if not software:
        assumed.append(
            "software: none was named (--software): the interval is wide enough for any, and TPUs are answered for"
        )
    elif plain(found) != plain(software) and found != OTHER:
        assumed.append(f"software: {software!r} is read as {found}")
    elif found == OTHER:
        assumed.append(f"software: no table holds {software!r}: the interval allows for that")
    if found not in (OTHER, *software_on(known.points, "GPU")):
        assumed.append(f"software: {text('software on GPU', software=found)}")
    if state_bytes is None:
        state_bytes = STATE_BYTES[task]
        keeps = _KEEPS.get(task, "weights, gradients and Adam's state")
        assumed.append(
            f"memory: {rounded(about['total_billion'] * state_bytes)} GB of {keeps}, {state_bytes:g} bytes a parameter "
            "(--bytes-per-parameter), spread over all cards. A tenth of these stays free"
        )
    if task == "qlora":
        assumed.append(
            f"qlora: {QUANTISED:g} times as long as LoRA, by ten pairs that LitGPT timed on one A10G (1.08 to 2.05): "
            "no table prints its speed on other cards"
        )
    positive("--bytes-per-parameter", state_bytes, "bytes that the training keeps of each")
    return Question(
        about["name"], about["family"], about["kind"], about["active_billion"], about["total_billion"],
        about["layers"], about["width"], tokens, length, task, precision, found, bool(software), tuple(assumed),
        state_bytes, about.get("of_layers", about["layers"]), about.get("vocabulary"),
    )  # fmt: skip


def _check_length(known: Known, tokens: float, length: float) -> None:
    if tokens < positive("--length", length, "tokens of a sequence"):
        raise InputError(f"--tokens: {tokens:g} are less than one sequence of {length:g} (--length)")
    shortest, longest = known.lengths()
    if not shortest <= length <= longest:
        raise InputError(f"--length: {length:g}: sequences of {shortest:g} to {longest:g} tokens are answered for")
    if length != int(length):
        raise InputError(f"--length: {length:g} must be a whole number of tokens")


def _check_size(known: Known, what: str, kind: str, active: float) -> None:
    low, high = known.sizes(kind)
    if not low <= active <= high:
        raise InputError(f"{what}: {active:g} billion parameters a token: {known.span(kind)} are answered for")


def _part(known: Known, key: str, value: float) -> int:
    """Return a model's layers or width, within those of the tables. Raises InputError."""
    low, high = known.reach(key)
    if not (low <= value <= high and value == int(value)):
        raise InputError(f"--{key}: {value:,.15g} must be a whole number from {low:,} to {high:,}")
    return int(value)


def _check_shape(about: Mapping[str, Any], taken: Sequence[str]) -> None:
    """Raise InputError for layers and width that make no model of so many parameters; those of `taken` are of its
    like.
    """
    plain = 12 * about["layers"] * about["width"] ** 2 / 1e9
    low, high = (float(f"{share * plain:.3g}") for share in _SHAPES[about["kind"]])
    if low <= about["active_billion"] <= high:
        return
    options = ", ".join(f"--{key}" for key in ("layers", "width") if key not in taken)
    of_like = "".join(f" (--{key} is taken from {about['like']})" for key in taken)
    of = ("--billion", "") if about["kind"] == "dense" else ("--active", " active")
    raise InputError(
        f"{options}: {about['layers']:,} layers of width {about['width']:,}{of_like} are a transformer of {low:g} to "
        f"{high:g} billion{of[1]} parameters, and {of[0]} is {about['active_billion']:g}"
    )


def _by_numbers(known: Known, billion: float, active: float | None, kind: str, assumed: list[str]) -> dict[str, Any]:
    """Return what is known of a model by its numbers, the rest as of the nearest model of its kind."""
    one_of("--kind", kind, (*KINDS, "hybrid"))
    if kind == "hybrid":
        raise InputError("--kind: how fast a hybrid (Mamba) is follows from no table well enough: measure it, epd run")
    if kind == "dense" and active is not None and active != billion:
        kind = "moe"
        assumed.append("kind: a mixture of experts, as a token uses fewer parameters than there are")
    if kind == "moe" and active is None:
        raise InputError("--active: must be given of a mixture of experts: all parameters mislead by up to 6 times")
    active = positive("--active", billion if active is None else active, "billions of parameters that a token uses")
    if active > billion:
        raise InputError(f"--active: {active:g} is more than all of --billion {billion:g}")
    _check_size(known, "--billion" if kind == "dense" else "--active", kind, active)
    if billion > (most := known.most_in_all(kind)):
        raise InputError(f"--billion: {billion:,.15g} billion parameters in all: up to {most:g} are answered for")
    # Of a model of which only the size is said all layers are taken to see the whole sequence.
    models = {
        name: about
        for name, about in known.askable.items()
        if about["kind"] == kind and "active_billion" in about and "of_layers" not in about
    }
    near = min(models, key=lambda name: abs(log(models[name]["active_billion"] / active)))
    return {
        "name": f"{billion:g}B" + (f", {active:g}B active" if kind == "moe" else ""),
        "family": "",
        "kind": kind,
        "active_billion": active,
        "total_billion": billion,
        "layers": models[near]["layers"],
        "width": models[near]["width"],
        "like": near,
    }


def check_cards(cards: float, option: str = "--cards") -> int:
    """Return how many cards train together. Raises InputError."""
    if not (1 <= cards <= MOST_CARDS and cards == int(cards)):
        raise InputError(f"{option}: {cards:,.15g} must be a whole number from 1 to {MOST_CARDS:,}")
    return int(cards)


def number_of(option: str, text: str, unit: float = 1.0, hint: str = "as 2e9, or 2B (k, M, B, T)") -> float:
    """Return a number, in `unit`s where it is written for short: 2e9, 2,000,000,000, 2B or 2 billion.

    Raises InputError.
    """
    found = _NUMBER.fullmatch(text.strip())
    value = written(re.sub("[,_]", "", found[1])) if found else None
    times = _TIMES.get(found[2].lower()) if found and found[2] else unit
    if value is None or times is None:
        raise InputError(f"{option}: {text!r} is no number: {hint}")
    return value * times / unit


def length_of(option: str, text: str) -> float:
    """Return the tokens of a sequence, of which 4k are 4,096. Raises InputError."""
    short = re.fullmatch(r"(.*\d)\s*[kK]", text.strip())
    return number_of(option, short[1]) * _K_OF_LENGTH if short else number_of(option, text, hint="as 8192, or 8k")


def check_steps(question: Question, cards: int | None, sequences: float | None) -> None:
    """Raise InputError where one step takes more sequences than the whole training has."""
    of_step = sequences or cards or 1
    if of_step > question.sequences:
        option = "--cards" if sequences is None else "--sequences"
        raise InputError(
            f"{option}: {of_step:,.0f} with a sequence each take {of_step * question.length:,.0f} tokens a step, and "
            f"the whole training has {question.tokens:,.0f}: at most {question.sequences:,}"
        )


def check_sequences(sequences: float, cards: int | None) -> float:
    """Return the sequences of a step on all cards. Raises InputError for less than one a card."""
    positive("--sequences", sequences, "sequences of a step on all cards")
    if sequences != int(sequences):
        raise InputError(f"--sequences: {sequences:,.15g} must be a whole number from 1")
    if cards is not None and sequences < cards:
        raise InputError(
            f"--sequences: {sequences:g} on {cards} cards is less than one a card and step: such trainings run at a "
            "fifth to a half of what tables print, and no table says which"
        )
    return sequences


def check_preemptions(per_hour: float) -> float:
    """Return how often a spot machine is preempted. Raises InputError for less than never."""
    if not (isfinite(per_hour) and per_hour >= 0):
        raise InputError(f"--preemptions: {per_hour:g} must be preemptions an hour of one machine, 0 or more")
    return per_hour


def measured(known: Known, question: Question, option: str, given: str) -> Point:
    """Return a rate that a person knows, as a point. Raises InputError.

    It is `CARD=RATE` or `CARD:PRECISION=RATE`, and of several cards together `CARD=RATE/CARDS` or `8xCARD=RATE`.
    """
    counted, name, precision, text = _given(known, option, given)
    card, several = known.card(option, name), re.fullmatch(r"(.+)/\s*(\d+)\s*", text)
    cards = int(several[2]) if several else counted
    if cards is not None:
        check_cards(cards, option)
    if counted not in (None, cards):
        raise InputError(f"{option}: {given!r}: is it the rate of {counted} cards or of {cards}?")
    hint = "tokens a second and card, without a unit"
    rate = number_of(option, several[1] if several else text, hint=hint) / (cards or 1)
    return check_rate(known, question, option, card, precision.lower() or question.precision, rate, cards)


def taken(known: Known, option: str, given: str) -> list[str]:
    """Return, in a line, which card is taken where the name of such a rate means several; none where it means one."""
    return known.taken(option, _given(known, option, given)[1])


def _given(known: Known, option: str, given: str) -> tuple[int | None, str, str, str]:
    """Return of how many cards a rate is, where their name says it, what one is called, the precision and the rate."""
    name, equals, rate = given.rpartition("=")
    if not equals:
        raise InputError(f"{option}: {given!r}: must be CARD=RATE, tokens a second and card, as H100=10400")
    card, _, precision = name.partition(":")
    if precision.strip().isdigit():  # H100:8 are eight
        card, precision = name, ""
    return *known.several(card), precision, rate


def check_alike(known: Known, given: Sequence[Point]) -> None:
    """Raise InputError for rates of one's own that contradict each other: two of one card, or one that others deny."""
    for place, point in enumerate(given):
        others = [*given[:place], *given[place + 1 :]]
        if any((one.card, one.precision) == (point.card, point.precision) for one in others):
            raise InputError(f"--on: {point.card} in {point.precision} has two rates: give one")
    if len(given) < 2:
        return
    fitted = linear.fit([point for point in known.points if point.model != given[0].model], known.cards)
    for place, point in enumerate(given):
        (said,), (sigma,) = linear.predict(fitted, [point], [*given[:place], *given[place + 1 :]])
        assert point.rate is not None
        said = min(said, ceiling.of_rate(point, known.cards))
        if abs(log(point.rate) - said) > _DENIED * sigma:
            raise InputError(
                f"--on: {point.card}={point.rate:g}: by the other rates given it is about {exp(said):,.0f} tokens a "
                "second and card: are all of one card, of the same model and software?"
            )


def check_rate(
    known: Known, question: Question, option: str, card: str, precision: str, rate: float, cards: int | None = None
) -> Point:
    """Return the rate of a card, measured on so many together, as a point. Raises InputError for one that it cannot
    reach.
    """
    peaks = known.cards[card]["peak_tflops"]
    one_of(option, precision, PRECISIONS)
    if precision not in peaks:
        raise InputError(f"{option}: {card} has no {precision}: its data sheet has {', '.join(peaks)}")
    point = question.on(card, precision, positive(option, rate, "tokens a second and card"))
    tflops = exp(point.tflops)
    of_several = f" ({card}={rate:g}/8 is that of eight together)" if option == "--on" and cards in (None, 1) else ""
    if tflops < LEAST_OF_PEAK * peaks[precision]:
        raise InputError(
            f"{option}: {rate:g} tokens a second are {tflops:.2g} TFLOP/s of {question.model}, less than "
            f"{LEAST_OF_PEAK:.1%} of the {peaks[precision]:,} that {card} has in {precision}: is it in tokens a "
            "second, and not in samples or steps?"
        )
    if tflops > peaks[precision]:
        raise InputError(
            f"{option}: {rate:g} tokens a second are {tflops:,.0f} TFLOP/s of {question.model}, and {card} has "
            f"{peaks[precision]:,} in {precision}: is it the rate of one card{of_several}, and of this model?"
        )
    return replace(point, cards=cards)
