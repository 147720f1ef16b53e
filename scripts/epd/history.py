"""How time and cost of a scheduled study went."""

from scripts.epd import _call


def command(study: _call.Study = None) -> int:
    """Write the history of a scheduled study: the trend of each configuration, time and cost apart, and what changed.

    \b
    ./epd history
    ./epd history smoke
    """
    from scripts.workflow import asked, history

    page = history.write(asked.config("local", study=_call.study_here(study))["study"])
    print(f"history: {page}")
    return 0
