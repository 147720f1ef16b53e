"""What the rules need of Python."""
