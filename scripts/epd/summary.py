"""A study in ten lines of Markdown."""

from scripts.epd import _call

IS_SNAKEMAKE = True


def command(study: _call.Study = None, profile: _call.Profile = "local", config: _call.Config = None) -> int:
    """Print a study in ten lines of Markdown, for a pull request or a message. What it lacks is trained first.

    \b
    ./epd summary
    ./epd summary two-cores > summary.md
    """
    from scripts.studies import definition
    from scripts.workflow import asked, command_line

    study = _call.study_here(study)
    words = _call.words(["summary"], profile, {"study": study}, config)
    if command_line.is_dry_run(_call.MORE):
        return _call.become(words)
    if code := _call.run_quietly(words):
        return code
    name = definition.file(asked.config(profile, config, study)["study"]).stem
    print((_call.ROOT / "results" / name / "summary.md").read_text(encoding="utf-8"), end="")
    return 0
