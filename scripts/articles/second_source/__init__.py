"""What somebody else printed of the same nets on the same cards, set beside a study's own rates."""
