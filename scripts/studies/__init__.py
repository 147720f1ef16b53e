"""A study: its file, its settings with every default, its cells."""
