"""What is known of a run: its cell, its record, its samples, and what its workload and framework are called and sized.

Measurement writes it, everyone reads it, and nothing here trains.
"""
