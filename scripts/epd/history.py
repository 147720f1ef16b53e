"""How time and cost went of a study that repeats itself."""

from scripts.epd import _call


def command(study: _call.Study = None) -> int:
    """Write the history of a study that repeats itself: the trend of each cell, time and cost apart, and what changed.

    \b
    ./epd history
    ./epd history smoke
    """
    from scripts.workflow import asked, history

    page = history.write(asked.config("local", study=_call.study_here(study))["study"])
    print(f"history: {page}")
    return 0
