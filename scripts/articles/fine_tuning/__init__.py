"""A printed table of fine-tuning: minutes, memory and dollars, and which of its dollars fit its minutes."""
