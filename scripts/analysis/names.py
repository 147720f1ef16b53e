"""The display names of cells, machines and frameworks, on pages and in charts."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from scripts.records import about

#: Those of published runs only.
_HISTORICAL = {"tensorflow-compiled": "TensorFlow, compiled", "cntk": "CNTK"}

#: How frameworks are written in charts and tables.
FRAMEWORK_NAMES = {
    **_HISTORICAL,
    about.OWN: "own program",
    **{name: about.framework(name).label for name in about.frameworks()},
}

#: How workloads of others are written for people; those of the project say it in their files.
_WORKLOAD_NAMES = {
    "bert_base_squad": "BERT base · SQuAD",
    "bert_large_squad": "BERT large · SQuAD",
    "gnmt": "GNMT",
    "ncf": "NCF",
    "ssd": "SSD",
    "tacotron2": "Tacotron 2",
    "text_generator_keras": "Text generator",
    "transformer_xl_base": "Transformer-XL base",
    "transformer_xl_large": "Transformer-XL large",
    "waveglow": "WaveGlow",
}


#: The provider of the price that the command line gives.
GIVEN = "given"

#: How providers are written; others by their own name.
_PROVIDER_NAMES = {
    "akash": "Akash",
    "aws": "AWS",
    "azure": "Azure",
    "cloudrift": "CloudRift",
    "coreweave": "CoreWeave",
    "cudo": "Cudo",
    "digitalocean": "DigitalOcean",
    "gce": "Google",
    GIVEN: "the price that you gave",
    "hetzner": "Hetzner",
    "hyperstack": "Hyperstack",
    "jarvislabs": "JarvisLabs",
    "lambda": "Lambda",
    "leadergpu": "LeaderGPU",
    "nebius": "Nebius",
    "oci": "Oracle",
    "own": "owned",
    "paperspace": "Paperspace",
    "parkopedia": "Parkopedia",
    "runpod-community": "RunPod, community",
    "runpod-secure": "RunPod",
    "seeweb": "Seeweb",
    "softlayer": "SoftLayer",
    "vast": "Vast.ai",
    "verda": "Verda",
    "yotta": "Yotta",
}


#: What else people call providers.
_PROVIDER_ALIASES = {
    "Amazon": "aws",
    "Amazon Web Services": "aws",
    "Amazon AWS": "aws",
    "EC2": "aws",
    "AWS EC2": "aws",
    "Microsoft": "azure",
    "Microsoft Azure": "azure",
    "MS Azure": "azure",
    "Azure Cloud": "azure",
    "GCP": "gce",
    "Google Cloud": "gce",
    "Google Cloud Platform": "gce",
    "Google Compute Engine": "gce",
    "Google GCP": "gce",
    "Lambda Labs": "lambda",
    "Lambda Cloud": "lambda",
    "Lambda.ai": "lambda",
    "Nebius AI": "nebius",
    "NexGen Cloud": "hyperstack",
    "RunPod Secure Cloud": "runpod-secure",
    "RunPod Community Cloud": "runpod-community",
    "RunPod.io": "runpod-secure",
    "Akash Network": "akash",
}


def provider_names(providers: Iterable[str]) -> dict[str, str]:
    """Return all that these providers are called, each with its own name."""
    of = set(providers)
    found = {provider_name(one): one for one in sorted(of)} | {one: one for one in sorted(of)}
    return found | {alias: one for alias, one in _PROVIDER_ALIASES.items() if one in of}


def provider_name(provider: str) -> str:
    """Return the display name of a provider of the price books."""
    return _PROVIDER_NAMES.get(provider, provider)


def workload_name(workload: str) -> str:
    """Return the display name of a workload; of one that is not the project's its own name, with blanks."""
    if workload in about.workloads():
        return about.workload(workload).label
    return _WORKLOAD_NAMES.get(workload, workload.replace("_", " "))


def run_name(run: str, labels: Mapping[str, str]) -> str:
    """Return the display name of a run, of `<workload>/<hardware>/<framework>/<variant>/r<repeat>`; others stay."""
    parts = run.split("/")
    if len(parts) != 5:
        return run
    workload, hardware, framework, variant, repeat = parts
    size, *settings = [part.removesuffix("None") for part in variant.removeprefix("b").split("-")]
    names = [workload_name(workload), labels.get(hardware, hardware), FRAMEWORK_NAMES.get(framework, framework)]
    names += [f"batch {size}" if size.isdigit() else f"{size} batch"] if size else []
    names += [re.sub(r"^x(\d+)$", r"\1 devices", setting) for setting in settings if setting not in ("", "x")]
    return ", ".join([*names, f"run {repeat.removeprefix('r')}"])


def price_words(study: Mapping[str, Any], option: str, labels: Mapping[str, str]) -> str:
    """Return what a price option of a study is called, and which of its machines are priced as another provider's."""
    about = study["prices"][option]
    words = about.get("label", f"{option} price")
    swapped = []
    for hardware, rent in about.get("instead", {}).items():
        before = study.get("machines", {}).get(hardware, {}).get("rent", {}).get("provider")
        if before and rent["provider"] != before:
            items = " + ".join(f"{count} {item}" if count > 1 else item for item, count in rent["items"].items())
            name = labels.get(hardware, hardware)
            now, then = provider_name(rent["provider"]), provider_name(before)
            swapped.append(f"{name} as {items} of {now}, another provider than then ({then})")
    return f"{words} ({'; '.join(swapped)})" if swapped else words


def cell_name(
    cell: Mapping[str, Any], labels: Mapping[str, str], published_batch_size: int | None, one_framework: bool = False
) -> str:
    """Return a cell's name: framework, machine, and what is known and not published, stock, float32 or one device."""
    machine = labels.get(cell["hardware"], cell["hardware"])
    parts = [machine]
    if not one_framework:
        parts.insert(0, FRAMEWORK_NAMES.get(cell["framework"], cell["framework"]))
    batch_size = cell["batch_size"]
    if not (pd.isna(batch_size) or batch_size == published_batch_size):
        parts.append(f"batch {batch_size}")
    for axis, plain, words in (("mode", "stock", "{}"), ("precision", "float32", "{}"), ("devices", 1, "{} devices")):
        value = cell.get(axis)
        if not (pd.isna(value) or value == plain):
            parts.append(words.format(str(value).replace("_", " ")))
    return " · ".join(parts)
