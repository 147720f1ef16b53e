"""What the same result costs in speedruns, by the date of each record: printed times, priced by the machine's hour."""
