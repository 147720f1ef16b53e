"""Colours of what is compared in one chart where that is not a framework."""

#: At least 3:1 on white and on the dark page; told apart by colour-blind readers with the shapes.
COLOURS = (
    "#d97706",
    "#3b82c4",
    "#c2497a",
    "#4d9a5b",
    "#8b6fc0",
    "#8a8f98",
    "#1f9a9a",
    "#a3801f",
    "#cf6a6a",
    "#6b8e23",
)
