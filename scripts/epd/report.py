"""Train what is missing, and write the report."""

from scripts.epd import _call

IS_SNAKEMAKE = True


def command(study: _call.Study = None, profile: _call.Profile = "local", config: _call.Config = None) -> int:
    """Train what a study lacks, and write its report.

    \b
    ./epd report
    ./epd report /path/to/mine.yaml
    ./epd report gce --profile gce-gpu --config budget_usd=20
    ./epd report full -- -n
    """
    return _call.become(_call.words([], profile, {"study": _call.study_here(study)}, config))
