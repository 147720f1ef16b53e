"""The made parts of the project's documents."""


def command() -> int:
    """Write the parts of docs/ that are made from other files, and config/noise.yaml.

    \b
    ./epd document
    """
    from scripts.document.__main__ import main

    return main()
