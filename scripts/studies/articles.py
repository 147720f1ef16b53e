"""The wing of single articles, `scripts/articles/`: found by its folders, loaded for a study that has their keys."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from scripts.storage import modules

FOLDER = Path(__file__).resolve().parents[1] / "articles"


def named(study: Mapping[str, Any]) -> list[str]:
    """Return the articles whose key a study, or a machine of its own, has."""
    keys = {*study, *(key for machine in study.get("machines", {}).values() for key in machine)}
    return [name for name in modules.names(str(FOLDER)) if name in keys]


def files(study: Mapping[str, Any]) -> list[str]:
    """Return the files that a study's articles are worked out of beside its tables; `given` reads them."""
    models = [model(name) for name in study_keys() if name in study]
    return [file for each in models if hasattr(each, "files") for file in each.files(study)]


def given(study: Mapping[str, Any]) -> dict[str, Any]:
    """Return by article what those files hold. Raises InputError for one that is not there, or is damaged."""
    return {name: _part(name, "given").read(study) for name in _with("given") if name in named(study)}


def code(study: Mapping[str, Any]) -> list[str]:
    """Return the modules by which a study's articles are worked out."""
    parts = [(name, part) for part in ("given", "figures") for name in _with(part)]
    return [f"scripts.articles.{name}.{part}" for name, part in parts if name in named(study)]


def stand_alone(study: Mapping[str, Any]) -> bool:
    """Return whether a study may show one of its articles, and nothing else."""
    return any(getattr(model(name), "ALONE", False) for name in study_keys() if name in study)


def study_keys() -> list[str]:
    """Return the keys of a study that are an article's."""
    return _with("model")


def model(name: str) -> ModuleType:
    """Return what the key of an article may hold."""
    return _part(name, "model")


def figures(name: str) -> ModuleType:
    """Return what an article derives."""
    return _part(name, "figures")


def _with(part: str) -> list[str]:
    return [name for name in modules.names(str(FOLDER)) if (FOLDER / name / f"{part}.py").is_file()]


def _part(name: str, part: str) -> ModuleType:
    return importlib.import_module(f"scripts.articles.{name}.{part}")
