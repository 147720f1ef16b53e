"""By how much items became cheaper."""
