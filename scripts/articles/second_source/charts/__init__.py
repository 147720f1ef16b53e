"""Its chart."""
