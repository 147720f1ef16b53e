"""What the tables of runs and costs say: tables in, tables and verdicts out; no file, no HTML."""
