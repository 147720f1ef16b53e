"""A machine that is started on a schedule."""
