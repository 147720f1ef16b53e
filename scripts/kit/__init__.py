"""A kit: what a machine without network needs to measure a study, and what comes back from it.

Only the standard library is there when a kit starts: `wheels` and what it imports use nothing else.
"""

#: What a kit and the file of its records may weigh: what such machines let in and out.
KIT_BYTES = 50 * 2**20
RECORDS_BYTES = 16 * 2**20
