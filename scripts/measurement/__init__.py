"""How a training is timed, watched and recorded."""
