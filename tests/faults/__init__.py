"""Faults that are tried on this project: `make faults` tries them all, `make test` some of each kind.

A fault is survived if what it meets ends with a result, or with one line (`InputError`) and nothing half-written; a
traceback, a hang, a stray file or other bytes than without the fault are not.
"""
