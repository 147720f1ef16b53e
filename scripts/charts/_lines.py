"""Colours and shapes of what is compared in one chart where that is not a framework."""

#: As often as a list may repeat itself: nothing that is to be drawn lacks its colour.
_TIMES = 20

#: At least 3:1 on white and on the dark page; distinguished by colour-blind readers with the shapes.
COLOURS = _TIMES * (
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

#: Nine for ten colours: where both come again, it is not the same pair.
SHAPES = _TIMES * ("o", "s", "^", "D", "v", "P", "X", "*", "h")
