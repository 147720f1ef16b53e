"""Two ranks on gloo; one of them prints."""

import sys

import torch
import torch.distributed

torch.distributed.init_process_group("gloo")
torch.set_num_threads(1)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(512, 512))
optimizer, steps = torch.optim.SGD(model.parameters(), 0.01), int(sys.argv[1])
for step in range(1, steps + 1):
    loss = model(torch.randn(64, 512)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0 and torch.distributed.get_rank() == 0:
        print(f"step {step}/{steps} loss {loss.item():.3f}", flush=True)
torch.distributed.destroy_process_group()
