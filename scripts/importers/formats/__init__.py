"""One file per published format, found by its name: what each must have is in `scripts.importers`."""
