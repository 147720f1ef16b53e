"""What the templates of reports/ are given."""
