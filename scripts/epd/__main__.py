"""What does it cost to train this model, and on what should I train it?"""

import importlib
import os
import sys
from pathlib import Path

if __package__ in (None, ""):  # `./epd`: Python puts scripts/epd/ on the path, not the clone
    sys.path[0] = str(Path(__file__).resolve().parents[2])

try:
    import typer
except ModuleNotFoundError:
    sys.exit(f"error: {sys.executable} has no typer: `make report` sets up .venv with all that is needed")

from scripts.epd import _call
from scripts.storage import errors, modules
from scripts.storage.errors import InputError

_FOLDER = Path(__file__).parent


def commands() -> dict[str, str]:
    """Return the sub-commands, and the module of each: `import_` is called `import`."""
    return {name.rstrip("_"): f"scripts.epd.{name}" for name in modules.names(str(_FOLDER))}


def application() -> typer.Typer:
    """Return the command with all its sub-commands."""
    app = typer.Typer(
        help=f"{__doc__}\n\nExit codes: 0 well, 1 something was found or failed, 2 bad input.",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name, path in commands().items():
        module = importlib.import_module(path)
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name, help=module.__doc__)
        else:
            app.command(name, short_help=module.__doc__)(module.command)
    return app


def main() -> int:
    """Run the words of this process, and return their exit code."""
    words = sys.argv[1:]
    called = commands().get(words[0] if words else "")
    module = importlib.import_module(called) if called else None
    if module and hasattr(module, "run"):
        return int(module.run(words[1:]))
    if "--" in words:
        place = words.index("--")
        words, _call.MORE[:] = words[:place], words[place + 1 :]
        if module and not getattr(module, "IS_SNAKEMAKE", False):
            raise InputError(f"--: what follows is for Snakemake, and epd {words[0]} does not call it")
    os.chdir(_call.ROOT)
    try:
        return application()(words or ["--help"], prog_name="epd", standalone_mode=False) or 0
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        asked = context.command_path if context else "epd"
        raise InputError(f"{error.format_message()} ({asked} --help)") from error


if __name__ == "__main__":
    errors.run(main)
