"""fastText by plain torch: a sparse gradient from `EmbeddingBag`, and dense Adam in a pass that is compiled.

After PyTorch's own pages: `nn.EmbeddingBag(mode="mean", sparse=True)` of the tutorial on text classification, and the
recipe "Compiling the optimizer with torch.compile". Written on 2026-11-22 by the project, before it had read what
`tuned` made of this workload.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

FIRST, SECOND, EPSILON, RATE = 0.9, 0.999, 1e-7, 0.001


def build(samples: torch.Tensor, labels: torch.Tensor, classes: int) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return `step(indices)`, which trains on these samples and returns their loss."""
    words = nn.EmbeddingBag(classes, 50, mode="mean", sparse=True)
    nn.init.uniform_(words.weight, -0.05, 0.05)
    out = nn.Linear(50, 1)
    of_out = torch.optim.Adam(out.parameters(), lr=RATE, eps=EPSILON, fused=True)
    table = words.weight
    m, v = torch.zeros_like(table), torch.zeros_like(table)
    steps = 0

    @torch.compile(dynamic=False)
    def move(table, m, v, rate, correction):
        table.sub_(rate * m / (v.sqrt() / correction + EPSILON))
        # The decay of the next step, while they are at hand.
        m.mul_(FIRST)
        v.mul_(SECOND)

    def step(indices: torch.Tensor) -> torch.Tensor:
        nonlocal steps
        steps += 1
        of_out.zero_grad()
        loss = F.binary_cross_entropy_with_logits(out(words(samples[indices])).squeeze(1), labels[indices])
        loss.backward()
        of_out.step()
        gradient = table.grad.coalesce()  # the rows that come twice are summed
        rows, values = gradient.indices()[0], gradient.values()
        table.grad = None
        with torch.no_grad():
            m.index_add_(0, rows, values, alpha=1 - FIRST)
            v.index_add_(0, rows, values * values, alpha=1 - SECOND)
            move(table, m, v, torch.tensor(RATE / (1 - FIRST**steps)), torch.tensor((1 - SECOND**steps) ** 0.5))
        return loss.detach()

    return step
