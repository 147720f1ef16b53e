"""Lightning's Trainer, whose bar is drawn on terminals only."""

import sys
import tempfile

import lightning
import torch


class Model(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))

    def training_step(self, batch: tuple, number: int) -> torch.Tensor:
        loss = torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch: tuple, number: int) -> None:
        self.log("val_loss", torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1]))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters())


data = torch.utils.data.TensorDataset(torch.randn(20_000, 256), torch.randint(0, 10, (20_000,)))
batches = torch.utils.data.DataLoader(data, batch_size=32)
validation = torch.utils.data.DataLoader(torch.utils.data.Subset(data, range(4000)), batch_size=32)
lightning.Trainer(
    max_epochs=int(sys.argv[1]), accelerator="cpu", logger=False, enable_checkpointing=False,
    default_root_dir=tempfile.mkdtemp(),
).fit(Model(), batches, validation)  # fmt: skip
