"""What names a cell: apart from the tables, as a study is read without pandas, which takes .4 s to import."""

#: The axes of a study, in every table of runs.
CELL = ["workload", "hardware", "framework", "batch_size", "mode", "precision", "devices"]

#: Those that a log names: no framework's own log has a mode.
IN_LOGS = [axis for axis in CELL if axis != "mode"]

#: What a workload, a machine or a framework may be called: it is part of paths, commands, and ids of pages.
NAME = r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}"

#: That in words.
NAME_WORDS = "a name: up to 100 letters, digits and _ . + -, the first a letter or a digit"
