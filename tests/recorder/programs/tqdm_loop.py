"""A loop with a bar for each epoch, and one for its validation."""

import sys

import torch
from torch import nn
from tqdm import tqdm

epochs = int(sys.argv[sys.argv.index("--epochs") + 1])
images, labels = torch.randn(8192, 1, 28, 28), torch.randint(0, 10, (8192,))
model = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 26 * 26, 10))
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(epochs):
    bar = tqdm(range(0, 8192, 32), desc=f"epoch {epoch}")
    for batch in bar:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images[batch : batch + 32]), labels[batch : batch + 32])
        loss.backward()
        optimizer.step()
        bar.set_postfix(loss=loss.item())
    with torch.no_grad():
        for batch in tqdm(range(0, 2048, 32), desc="valid"):
            model(images[batch : batch + 32])
