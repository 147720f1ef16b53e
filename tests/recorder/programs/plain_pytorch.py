"""After PyTorch's MNIST example: a line each ten batches, an evaluation after each epoch."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=14)
args = parser.parse_args()

torch.manual_seed(1)
images, labels = torch.randn(20_000, 1, 28, 28), torch.randint(0, 10, (20_000,))
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 13 * 13, 10))
optimizer = torch.optim.Adadelta(model.parameters())
for epoch in range(1, args.epochs + 1):
    for batch in range(0, 20_000, 64):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images[batch : batch + 64]), labels[batch : batch + 64])
        loss.backward()
        optimizer.step()
        if batch // 64 % 10 == 0:
            print(f"Train Epoch: {epoch} [{batch}/20000 ({batch / 200:.0f}%)]\tLoss: {loss.item():.6f}")
    with torch.no_grad():
        right = sum(
            (model(images[i : i + 1000]).argmax(1) == labels[i : i + 1000]).sum().item() for i in range(0, 5000, 1000)
        )
    print(f"\nTest set: Accuracy: {right}/5000 ({right / 50:.0f}%)\n")
