"""Machines with all their GPUs, and with one of them."""
