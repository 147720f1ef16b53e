"""How a training is timed, watched and recorded: raw facts, nothing that can be worked out of them later."""
