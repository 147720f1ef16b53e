"""From seconds and prices to dollars: pure functions on numbers and tables."""
