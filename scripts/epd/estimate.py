"""What a language model's training takes and costs on cards that nobody measured it on."""

from typing import Annotated

import typer

from scripts.epd import _call


def command(
    record: Annotated[
        str | None,
        typer.Argument(
            metavar="[RECORD]", help="Of epd run, or of a study's command: its card and rate.", show_default=False
        ),
    ] = None,
    model: Annotated[str, typer.Option(metavar="NAME", help="A model of config/language_models.yaml.")] = "",
    billion: Annotated[
        str | None, typer.Option(metavar="N", help="Or its parameters, in billions: 8 or 8B.", show_default=False)
    ] = None,
    active: Annotated[
        str | None,
        typer.Option(metavar="N", help="Of a mixture of experts: billions that a token uses.", show_default=False),
    ] = None,
    layers: Annotated[
        str | None, typer.Option(metavar="N", help="Layers whose attention sees the whole.", show_default=False)
    ] = None,
    width: Annotated[str | None, typer.Option(metavar="N", help="Its heads x their width.", show_default=False)] = None,
    kind: Annotated[str, typer.Option(help="dense, moe or hybrid.")] = "dense",
    tokens: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="Of the whole training: 2e9 or 2B; else as the record says.", show_default=False
        ),
    ] = None,
    length: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="Tokens of a sequence, 8192 or 8k; else 4096, or all positions.", show_default=False
        ),
    ] = None,
    precision: Annotated[str, typer.Option(help="bf16, fp8, mxfp8 or nvfp4.")] = "bf16",
    software: Annotated[
        str, typer.Option(metavar="NAME", help="megatron-bridge, automodel, llm-foundry, maxtext, or another.")
    ] = "",
    task: Annotated[str, typer.Option(help="pretrain, sft, lora or qlora.")] = "pretrain",
    on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CARD=RATE",
            help="A rate of yours, tokens a second and card: H100=10400, H100:fp8=15000; of eight together "
            "8xH100=83200 or H100=83200/8. May stand several times.",
            show_default=False,
        ),
    ] = None,
    per_step: Annotated[
        str, typer.Option(metavar="TEXT", help="Of a record: what a step goes through on all cards, '12x1024 tokens'.")
    ] = "",
    cards: Annotated[
        str | None,
        typer.Option(metavar="N", help="Cards that are rented; else those of each machine.", show_default=False),
    ] = None,
    sequences: Annotated[
        str | None,
        typer.Option(metavar="N", help="Of a step on all cards; less than one a card is refused.", show_default=False),
    ] = None,
    bytes_per_parameter: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="That the training keeps on all cards: else 16 (Adam in mixed precision), of LoRA 2, of QLoRA .55.",
            show_default=False,
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A provider or card that does not count. May stand several times.", show_default=False
        ),
    ] = None,
    preemptions: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="Of a spot machine, an hour: else 0.042, one a day, an assumption.", show_default=False
        ),
    ] = None,
    owned: Annotated[
        str, typer.Option(metavar="FILE", help="What your own cards cost, as config/owned.yaml.", show_default=False)
    ] = "",
    owned_decides: Annotated[
        bool, typer.Option("--owned-decides", help="Let the cards of --owned decide beside those on offer.")
    ] = False,
    json: _call.Json = False,
) -> int:
    """Say how fast a language model trains on each card, how long it takes and what it costs, each with its interval.

    From printed speeds of other models, data sheets and dated offers (docs/estimating.md says how good that is), and
    from what a minute of yours measured. Ends with 1 where no card can be answered, and with 2 for bad input. With
    --json: config/schemas/estimate.schema.json.

    \b
    ./epd estimate --model "Llama 3 8B" --tokens 2e9
    ./epd estimate --model "Llama 3 8B" --tokens 2e9 --on H100=10400 --cards 8
    ./epd estimate 2026-11-25T02-03-09 --model "Llama 3 8B" --per-step "8x12x1024 tokens"
    ./epd estimate --billion 13 --layers 40 --width 5120 --tokens 1e10 --precision fp8 --json
    """
    from dataclasses import replace
    from datetime import date
    from pathlib import Path

    from scripts.analysis.names import provider_names
    from scripts.epd import _estimate, _record
    from scripts.estimate import answer, dollars, question
    from scripts.storage.errors import InputError
    from scripts.workflow import estimates
    from scripts.workflow import recorded as recorded_minute

    def number(option: str, text: str | None, unit: float = 1.0) -> float | None:
        return None if text is None else question.number_of(option, text, unit)

    given_cards, of_step = number("--cards", cards), number("--sequences", sequences)
    rented = None if given_cards is None else question.check_cards(given_cards)
    if of_step is not None:
        question.check_sequences(of_step, rented)
    if owned_decides and not owned:
        raise InputError("--owned-decides: --owned FILE must name your own cards: config/owned.yaml has examples")
    recorded = None
    if record is None and per_step:
        raise InputError("--per-step: is of a record, and none is named")
    if record is not None:
        recorded = _record.find(record, per_step)
        if not model and billion is None:
            raise InputError(f"{record}: which model it trained is in no record: --model NAME or --billion PARAMETERS")
    whole = number("--tokens", tokens)
    if whole is None and recorded is not None:
        whole = recorded.whole_tokens
    if whole is None:
        raise InputError("--tokens: must be given: those of the whole training, as 2e9")
    known = estimates.known()
    asked = question.ask(
        known, tokens=whole, model=model, kind=kind, precision=precision, software=software, task=task,
        billion=number("--billion", billion, 1e9), active=number("--active", active, 1e9),
        layers=number("--layers", layers), width=number("--width", width),
        length=None if length is None else question.length_of("--length", length),
        state_bytes=number("--bytes-per-parameter", bytes_per_parameter),
    )  # fmt: skip
    question.check_steps(asked, rented, of_step)
    measured = [question.measured(known, asked, "--on", one) for one in on or ()]
    taken = [line for one in on or () for line in question.taken(known, "--on", one)]
    peak = None
    if recorded is not None:
        card = known.card(recorded.place, recorded.card)
        rate = recorded.tokens_per_second_per_card
        measured.append(question.check_rate(known, asked, recorded.place, card, asked.precision, rate, recorded.cards))
        asked = recorded_minute.assumed(asked, recorded, tokens is None)
        peak = recorded.peak(card)
    question.check_alike(known, measured)
    offered = estimates.offered()
    providers = provider_names(row["provider"] for rows in offered.values() for row in rows)
    left_out = [name for one in without or () for name in known.left_out("--without", one, providers)]
    per_hour = number("--preemptions", preemptions)
    per_hour = dollars.PREEMPTIONS_PER_HOUR if per_hour is None else question.check_preemptions(per_hour)
    today, own = date.today(), estimates.owned(known, Path(_call.from_here(owned)) if owned else None)
    mine = {card for card, one in own.items() if one.cards is not None}
    if both := mine & {*left_out}:
        raise InputError(
            f"--without: {min(both)} is a card of --owned {owned}: leave out the providers that rent it, or the card "
            "in the file"
        )
    asked = replace(asked, assumed=(*taken, *asked.assumed))
    found = answer.answer(
        known, offered, asked, measured, rented, today, peak, of_step, left_out, per_hour, own, owned_decides
    )
    if json:
        _call.print_json(found)
    else:
        _estimate.show(found, today)
    return 0 if found["answers"] else 1
