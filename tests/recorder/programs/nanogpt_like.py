"""After nanoGPT's train.py: `iter` lines, an evaluation and a checkpoint every 100 iterations."""

import os
import sys
import tempfile
import time

import torch
from torch import nn

max_iters = int(sys.argv[1].split("=")[1])
torch.manual_seed(1337)
model = nn.Sequential(
    nn.Embedding(100, 128), nn.TransformerEncoderLayer(128, 4, 256, batch_first=True), nn.Linear(128, 100)
)
optimizer = torch.optim.AdamW(model.parameters())
folder = tempfile.mkdtemp()


def evaluated() -> float:
    model.eval()
    with torch.no_grad():
        losses = [loss_of(torch.randint(0, 100, (16, 64))).item() for _ in range(20)]
    model.train()
    return sum(losses) / len(losses)


def loss_of(tokens: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())


since = time.time()
for iteration in range(max_iters + 1):
    if iteration % 100 == 0:
        print(f"step {iteration}: train loss {evaluated():.4f}, val loss {evaluated():.4f}")
        torch.save(model.state_dict(), os.path.join(folder, "ckpt.pt"))
        print(f"saving checkpoint to {folder}")
    loss = loss_of(torch.randint(0, 100, (16, 64)))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if iteration % 10 == 0:
        now = time.time()
        print(f"iter {iteration}: loss {loss.item():.4f}, time {(now - since) * 1000:.2f}ms, mfu 1.00%")
        since = now
