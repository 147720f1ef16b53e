"""What raw records and tables of runs and costs say: tables and verdicts out; no HTML, no file but those of `runs`."""
