"""What a setting of a what-if may be, in the words of a JSON schema.

The schemas of a study and of a machine say the same (a test compares them); the page's form and its script
(reports/scripts/engine.js) are given these.
"""

#: By the name of a field of the form: those of prices are all called `price`.
FIELDS: dict[str, dict[str, float]] = {
    "samples": {"exclusiveMinimum": 0},
    "takes": {"exclusiveMinimum": 0},
    "accuracy": {"minimum": 0, "maximum": 1},
    "discount": {"minimum": 0, "maximum": 100},  # %, a share in a study
    "preemptions": {"minimum": 0},
    "checkpoint": {"exclusiveMinimum": 0},
    "restart": {"minimum": 0},
    "hours": {"exclusiveMinimum": 0, "maximum": 744},
    "deadline": {"exclusiveMinimum": 0},
    "budget": {"minimum": 0},
    "price": {"minimum": 0},
}

#: The words of those that are asked for one after the other, in the order of the form.
IN_A_ROW = {
    "discount": "discount, %",
    "preemptions": "preemptions an hour",
    "checkpoint": "checkpoint every, s",
    "restart": "restart takes, s",
    "hours": "hours an owned machine is used, a month",
    "deadline": "deadline, hours",
    "budget": "budget, USD",
}
