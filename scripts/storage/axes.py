"""What names a cell: apart from the tables, as a study is read without pandas, which takes .4 s to import."""

#: The axes of a study, in every table of runs.
CELL = ["workload", "hardware", "framework", "batch_size", "mode", "precision", "devices"]
