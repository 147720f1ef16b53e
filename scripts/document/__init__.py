"""The parts of docs/ and config/ that are made from other files; `__main__` lists them."""
