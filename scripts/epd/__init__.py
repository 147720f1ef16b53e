"""One command for all that is done with a study: a file for each sub-command, found by its name.

A module has a function `command`, or the `app` of several; its imports wait until it is called, so that help and
completion come at once. One whose `IS_SNAKEMAKE` is true takes more words for Snakemake after `--`; one with a
function `run` gets its words as they are, where the person is.
"""
