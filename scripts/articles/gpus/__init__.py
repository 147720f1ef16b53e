"""Machines that say what cards they have: what more of them add, what 16 bits gain, what owning costs."""
