"""The Trainer of Transformers, on a small GPT-2 of random weights."""

import sys
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Tokens(torch.utils.data.Dataset):
    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, place: int) -> dict:
        tokens = torch.randint(0, 500, (64,))
        return {"input_ids": tokens, "labels": tokens}


arguments = TrainingArguments(
    output_dir=tempfile.mkdtemp(), per_device_train_batch_size=8, max_steps=int(sys.argv[1]), logging_steps=20,
    save_steps=200, eval_strategy="steps", eval_steps=100, report_to=[], use_cpu=True,
)  # fmt: skip
model = GPT2LMHeadModel(GPT2Config(vocab_size=500, n_positions=64, n_embd=64, n_layer=2, n_head=2))
Trainer(model=model, args=arguments, train_dataset=Tokens(2000), eval_dataset=Tokens(200)).train()
