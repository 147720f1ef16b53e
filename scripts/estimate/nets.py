"""Classic nets: of which family and kind each is, and what NVIDIA prints of them beside Lambda."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

#: By kind the families, by family the nets, as Lambda and NVIDIA call them. Nets of one family are one witness. Other
#: families (GNMT, Tacotron 2, TFT ...) are of no kind: recurrent nets differ from one another as much as from the rest.
KINDS: dict[str, dict[str, tuple[str, ...]]] = {
    "convolutional": {
        "resnet": ("resnet50", "resnet50v1.5", "RN50v1.5", "resnext101-32x4d", "se-resnext101-32x4d"),
        "ssd": ("ssd", "SSD300", "SSD320"),
        "mask r-cnn": ("MaskRCNN",),
        "unet": ("UNet_Medical", "UNet_Industrial", "UNet_3D_Medical", "nnUNet"),
        "jasper": ("Jasper",),
        "waveglow": ("waveglow", "WaveGlow"),
        "hifi-gan": ("HiFiGAN",),
    },
    "depthwise": {
        "efficientnet": (
            *("efficientnet-b0", "efficientnet-b4", "efficientnet-widese-b0", "efficientnet-widese-b4"),
            *("efficientnet_v1", "Efficientdet", "GPUNet-2"),
        ),
        "quartznet": ("QuartzNet",),
    },
    "transformer": {
        "bert": ("bert_base_squad", "bert_large_squad", "BERT", "ELECTRA"),
        "transformer-xl": ("transformer_xl_base", "transformer_xl_large", "Transformer-XL"),
        "transformer (2017)": ("Transformer",),
        "fastpitch": ("FastPitch",),
    },
    "recommender": {
        "ncf": ("ncf", "NCF"),
        "dlrm": ("DLRM",),
        "wide and deep": ("WideAndDeep",),
        "sim": ("SIM",),
        "vae-cf": ("VAE-CF",),
    },
}

_FAMILIES = {net: name for of in KINDS.values() for name, nets in of.items() for net in nets}
_FAMILIES |= {"GNMT": "gnmt", "Tacotron2": "tacotron2"}

_KIND_OF = {name: kind for kind, of in KINDS.items() for name in of}

#: NVIDIA's cards as Lambda's tables call the machine. Of either memory the card is the same, and counts so.
CARDS = {
    "V100 16 GB": "v100-16gb",
    "V100 32 GB": "v100-16gb",
    "A100 40 GB": "a100-80gb-sxm4",
    "A100 80 GB": "a100-80gb-sxm4",
}

_PRECISIONS = {"mixed": "float16", "fp32": "float32", "tf32": "float32"}

#: Why rows of NVIDIA's are left out that are rates all the same: a ratio needs no unit.
_NO_UNIT = "no unit in its table or headings"

#: Lambda's tables have no machine of more.
MOST_CARDS = 8


def family(net: str) -> str:
    """Return the family of a net: itself, where none other is of it."""
    name = net.partition(",")[0]
    return _FAMILIES.get(name, name)


def kind(net: str) -> str:
    """Return the kind of a net or of a family: what none other is, where the tables have none of its kind."""
    return _KIND_OF.get(family(net), family(net))


def printed(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, str, int], float]:
    """Return NVIDIA's rates by net, precision, card and number of cards: each the highest of all batch sizes.

    A net is named with its task, its framework and XLA, where that is said. Left out are nets that are not timed on a
    V100 and on an A100.
    """
    found: dict[tuple[str, str, str, int], float] = {}
    for row in rows:
        if row["left_out"] in ("", _NO_UNIT) and row["kind"] == "throughput" and row["precision"] in _PRECISIONS:
            xla = row["note"] if row["note"].startswith("XLA") else ""
            net = ", ".join(filter(None, (row["net"], row["task"], row["framework"], xla)))
            key = net, _PRECISIONS[row["precision"]], row["card"], int(row["cards"])
            found[key] = max(found.get(key, 0.0), float(row["rate"]))
    on: dict[str, set[str]] = {}
    for net, _, card, _ in found:
        on.setdefault(net, set()).add(CARDS[card])
    return {key: rate for key, rate in found.items() if len(on[key[0]]) > 1}


def of_nvidia(rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield NVIDIA's rates as rows of Lambda's tables (`classic.rates`)."""
    for (net, precision, card, cards), rate in printed(rows).items():
        if cards <= MOST_CARDS:
            machine = CARDS[card] + (f"-x{cards}" if cards > 1 else "")
            yield {
                "workload": net,
                "precision": precision,
                "hardware": machine,
                "devices": cards,
                "samples_per_second": rate,
            }
