"""Printed costs beside the derived ones."""
