"""Models that people ask for: their parameters follow from their shapes, and they are found as people write them."""

from dataclasses import dataclass

import pytest

from scripts.analysis.names import provider_names
from scripts.estimate import question
from scripts.storage.errors import InputError
from scripts.workflow import estimates

KNOWN = estimates.known()


@dataclass(frozen=True)
class Shape:
    """A transformer: layers, width of what runs through them, of queries and of keys, and of the inner layer.

    `windowed` layers see a part of the sequence; of `experts` a token uses `used`. Gated: three matrices, else two.
    """

    layers: int
    hidden: int
    queries: int
    keys: int
    inner: int
    vocabulary: int
    is_tied: bool = False
    is_gated: bool = True
    windowed: int = 0
    positions: int = 0
    experts: int = 1
    used: int = 1

    def billion(self, experts: int, embeddings: int) -> float:
        attention = 2 * self.hidden * (self.queries + self.keys)
        inner = experts * (3 if self.is_gated else 2) * self.hidden * self.inner
        words = (embeddings * self.vocabulary + self.positions) * self.hidden
        return (self.layers * (attention + inner) + words) / 1e9

    @property
    def total(self) -> float:
        return self.billion(self.experts, 1 if self.is_tied else 2)


def gpt(layers: int, hidden: int, vocabulary: int = 50304) -> Shape:
    """A plain transformer, 12 x layers x width² and two embeddings."""
    return Shape(layers, hidden, hidden, hidden, 4 * hidden, vocabulary, is_gated=False)


def gpt2(layers: int, hidden: int) -> Shape:
    return Shape(layers, hidden, hidden, hidden, 4 * hidden, 50257, is_tied=True, is_gated=False, positions=1024)


#: As config.json of each on its hub has it (most of them read in Lightning-AI/litgpt litgpt/config.py @ 0006c97).
SHAPES = {
    "GPT-2 124M": gpt2(12, 768),
    "GPT-2 355M": gpt2(24, 1024),
    "GPT-2 774M": gpt2(36, 1280),
    "GPT-2 1.5B": gpt2(48, 1600),
    "Pythia 14m": gpt(6, 128),
    "Pythia 31m": gpt(6, 256),
    "Pythia 70m": gpt(6, 512),
    "Pythia 160m": gpt(12, 768),
    "Pythia 410m": gpt(24, 1024),
    "Pythia 1b": gpt(16, 2048),
    "Pythia 1.4b": gpt(24, 2048),
    "Pythia 2.8b": gpt(32, 2560),
    "Pythia 6.9b": gpt(32, 4096, 50432),
    "Pythia 12b": gpt(36, 5120, 50688),
    "GPT-J 6B": gpt(28, 4096, 50400),
    "GPT-NeoX 20B": gpt(44, 6144, 50432),
    "Falcon 7B": Shape(32, 4544, 4544, 64, 18176, 65024, is_gated=False),
    "Falcon 40B": Shape(60, 8192, 8192, 512, 32768, 65024, is_gated=False),
    "Falcon 180B": Shape(80, 14848, 14848, 512, 59392, 65024, is_gated=False),
    "Phi-1.5": gpt(24, 2048, 51200),
    "Phi-2": gpt(32, 2560, 51200),
    "StableLM base alpha 3B": gpt(16, 4096, 50688),
    "TinyLlama 1.1B": Shape(22, 2048, 2048, 256, 5632, 32000),
    "SmolLM2 135M": Shape(30, 576, 576, 192, 1536, 49152, is_tied=True),
    "SmolLM2 360M": Shape(32, 960, 960, 320, 2560, 49152, is_tied=True),
    "SmolLM2 1.7B": Shape(24, 2048, 2048, 2048, 8192, 49152, is_tied=True),
    "Llama 2 7B": Shape(32, 4096, 4096, 4096, 11008, 32000),
    "Llama 2 13B": Shape(40, 5120, 5120, 5120, 13824, 32000),
    "Llama 2 70B": Shape(80, 8192, 8192, 1024, 28672, 32000),
    "Code Llama 34B": Shape(48, 8192, 8192, 1024, 22016, 32000),
    "LLaMA 30B": Shape(60, 6656, 6656, 6656, 17920, 32000),
    "LLaMA 65B": Shape(80, 8192, 8192, 8192, 22016, 32000),
    "Llama 3 8B": Shape(32, 4096, 4096, 1024, 14336, 128256),
    "Llama 3 70B": Shape(80, 8192, 8192, 1024, 28672, 128256),
    "Llama 3.1 405B": Shape(126, 16384, 16384, 1024, 53248, 128256),
    "Llama 3.2 1B": Shape(16, 2048, 2048, 512, 8192, 128256, is_tied=True),
    "Llama 3.2 3B": Shape(28, 3072, 3072, 1024, 8192, 128256, is_tied=True),
    "Mistral 7B": Shape(32, 4096, 4096, 1024, 14336, 32768),
    "Mistral Nemo 12B": Shape(40, 5120, 4096, 1024, 14336, 131072),
    "Mistral Small 24B": Shape(40, 5120, 4096, 1024, 32768, 131072),
    "Mistral Large 123B": Shape(88, 12288, 12288, 1024, 28672, 32768),
    "Mixtral 8x7B": Shape(32, 4096, 4096, 1024, 14336, 32000, experts=8, used=2),
    "Mixtral 8x22B": Shape(56, 6144, 6144, 1024, 16384, 32768, experts=8, used=2),
    "Qwen 2.5 0.5B": Shape(24, 896, 896, 128, 4864, 151936, is_tied=True),
    "Qwen 2.5 1.5B": Shape(28, 1536, 1536, 256, 8960, 151936, is_tied=True),
    "Qwen 2.5 3B": Shape(36, 2048, 2048, 256, 11008, 151936, is_tied=True),
    "Qwen 2.5 7B": Shape(28, 3584, 3584, 512, 18944, 152064),
    "Qwen 2.5 14B": Shape(48, 5120, 5120, 1024, 13824, 152064),
    "Qwen 2.5 32B": Shape(64, 5120, 5120, 1024, 27648, 152064),
    "Qwen 2.5 72B": Shape(80, 8192, 8192, 1024, 29568, 152064),
    "Qwen 3 0.6B": Shape(28, 1024, 2048, 1024, 3072, 151936, is_tied=True),
    "Qwen 3 1.7B": Shape(28, 2048, 2048, 1024, 6144, 151936, is_tied=True),
    "Qwen 3 4B": Shape(36, 2560, 4096, 1024, 9728, 151936, is_tied=True),
    "Qwen 3 8B": Shape(36, 4096, 4096, 1024, 12288, 151936),
    "Qwen 3 14B": Shape(40, 5120, 5120, 1024, 17408, 151936),
    "Qwen 3 32B": Shape(64, 5120, 8192, 1024, 25600, 151936),
    "Qwen 3 30B A3B": Shape(48, 2048, 4096, 512, 768, 151936, experts=128, used=8),
    "Qwen 3 235B A22B": Shape(94, 4096, 8192, 512, 1536, 151936, experts=128, used=8),
    "Phi-3 mini": Shape(32, 3072, 3072, 3072, 8192, 32064),
    "Phi-3 medium": Shape(40, 5120, 5120, 1280, 17920, 32064),
    "Phi-4": Shape(40, 5120, 5120, 1280, 17920, 100352),
    "Phi-4 mini": Shape(32, 3072, 3072, 1024, 8192, 200064, is_tied=True),
    "Gemma 2B": Shape(18, 2048, 2048, 256, 16384, 256000, is_tied=True),
    "Gemma 7B": Shape(28, 3072, 4096, 4096, 24576, 256000, is_tied=True),
    "Gemma 2 2B": Shape(26, 2304, 2048, 1024, 9216, 256000, is_tied=True, windowed=13),
    "Gemma 2 9B": Shape(42, 3584, 4096, 2048, 14336, 256000, is_tied=True, windowed=21),
    "Gemma 2 27B": Shape(46, 4608, 4096, 2048, 36864, 256000, is_tied=True, windowed=23),
    "Gemma 3 1B": Shape(26, 1152, 1024, 256, 6912, 262144, is_tied=True, windowed=22),
    "Gemma 3 4B": Shape(34, 2560, 2048, 1024, 10240, 262144, is_tied=True, windowed=29),
    "Gemma 3 12B": Shape(48, 3840, 4096, 2048, 15360, 262144, is_tied=True, windowed=40),
    "Gemma 3 27B": Shape(62, 5376, 4096, 2048, 21504, 262144, is_tied=True, windowed=52),
    "OLMo 2 7B": Shape(32, 4096, 4096, 4096, 11008, 100352),
    "OLMo 2 13B": Shape(40, 5120, 5120, 5120, 13824, 100352),
    "GPT-OSS 20B": Shape(24, 2880, 4096, 512, 2880, 201088, experts=32, used=4, windowed=12),
    "GPT-OSS 120B": Shape(36, 2880, 4096, 512, 2880, 201088, experts=128, used=4, windowed=18),
}


@pytest.mark.parametrize("name", SHAPES)
def test_parameters_follow_from_the_shape(name: str) -> None:
    """Those of a token lie between what is without both embeddings and with them, which makers count differently."""
    about, shape = KNOWN.askable[name], SHAPES[name]
    assert about.get("total_billion", about["active_billion"]) == pytest.approx(shape.total, rel=0.005)
    if about["kind"] == "moe":
        assert shape.billion(shape.used, 0) < about["active_billion"] < shape.billion(shape.used, 2) * 1.005
    assert (about["layers"], about["width"]) == (shape.layers - shape.windowed, shape.queries)
    assert about.get("of_layers") == (shape.layers if shape.windowed else None)
    assert about["vocabulary"] == shape.vocabulary


def test_parameters_of_latent_attention_follow_too() -> None:
    """DeepSeek V2 Lite: 27 layers of 2,048, 16 heads of 128 + 64, latents of 512 + 64; 64 experts and 2 shared."""
    attention = 2048 * 16 * 192 + 2048 * (512 + 64) + 512 * 16 * 256 + 16 * 128 * 2048
    expert, words = 3 * 2048 * 1408, 102400 * 2048
    total = 27 * attention + 3 * 2048 * 10944 + 26 * 66 * expert + 2 * words
    used = 27 * attention + 3 * 2048 * 10944 + 26 * 8 * expert + words
    about = KNOWN.askable["DeepSeek V2 Lite"]
    assert about["total_billion"] == pytest.approx(total / 1e9, rel=0.005)
    assert about["active_billion"] == pytest.approx(used / 1e9, rel=0.03)
    assert about["width"] == 16 * (192 + 128) / 2


@pytest.mark.parametrize(("name", "layers", "hidden"), [("Gemma 4 E2B", 35, 1536), ("Gemma 4 E4B", 42, 2560)])
def test_memory_holds_what_effective_parameters_leave_out(name: str, layers: int, hidden: int) -> None:
    """Of each of 262,144 words a vector for the model and one of 256 numbers for every layer; speed knows none."""
    asked = question.ask(KNOWN, tokens=2e9, model=name)
    embeddings = 262144 * (hidden + 256 * layers) / 1e9
    assert asked.state_gb == pytest.approx(16 * (asked.active_billion + embeddings), rel=0.02)
    assert asked.on("H100").total_billion == asked.active_billion


def test_every_other_model_has_a_shape_here() -> None:
    assert {*KNOWN.others} == {*SHAPES, "DeepSeek V2 Lite"} & {*KNOWN.others}


def test_no_two_models_are_called_the_same() -> None:
    called: dict[str, str] = {}
    for model, about in KNOWN.askable.items():
        for name in (model, *about["names"]):
            assert called.setdefault(name.lower(), model) == model
            assert KNOWN.model(name) == model


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("gpt2", "GPT-2 124M"),
        ("GPT-2", "GPT-2 124M"),
        ("gpt2-xl", "GPT-2 1.5B"),
        ("GPT2 1.5B", "GPT-2 1.5B"),
        ("gpt-2 124 million", "GPT-2 124M"),
        ("meta-llama/Llama-2-7b-hf", "Llama 2 7B"),
        ("llama2 13b", "Llama 2 13B"),
        ("Llama-2-70b-chat-hf", "Llama 2 70B"),
        ("meta-llama/Llama-3.2-1B-Instruct", "Llama 3.2 1B"),
        ("llama 3.2 3b", "Llama 3.2 3B"),
        ("Meta-Llama-3.1-8B", "Llama 3 8B"),
        ("Llama 3.1 8B Instruct", "Llama 3 8B"),
        ("8B Llama 3.1", "Llama 3 8B"),
        ("llama3.1:70b", "Llama 3 70B"),
        ("Llama-3.3-70B-Instruct", "Llama 3 70B"),
        ("Llama 3 405B", "Llama 3.1 405B"),
        ("unsloth/Meta-Llama-3.1-8B-bnb-4bit", "Llama 3 8B"),
        ("mistralai/Mistral-7B-v0.1", "Mistral 7B"),
        ("Mistral-7B-Instruct-v0.3", "Mistral 7B"),
        ("Qwen/Qwen2.5-0.5B", "Qwen 2.5 0.5B"),
        ("qwen2.5-coder-7b-instruct", "Qwen 2.5 7B"),
        ("Qwen2.5 72B", "Qwen 2.5 72B"),
        ("Qwen/Qwen3-8B", "Qwen 3 8B"),
        ("qwen3 0.6b", "Qwen 3 0.6B"),
        ("Qwen3-32B", "Qwen 3 32B"),
        ("Qwen/Qwen3-30B-A3B-Instruct-2507", "Qwen 3 30B A3B"),
        ("openai/gpt-oss-20b", "GPT-OSS 20B"),
        ("gpt-oss-120b", "GPT-OSS 120B"),
        ("deepseek-ai/DeepSeek-R1", "DeepSeek V3"),
        ("DeepSeek-V3-0324", "DeepSeek V3"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "Llama 3 8B"),
        ("microsoft/Phi-3-mini-4k-instruct", "Phi-3 mini"),
        ("phi3 medium", "Phi-3 medium"),
        ("Phi-3-medium-128k-instruct", "Phi-3 medium"),
        ("google/gemma-2-9b-it", "Gemma 2 9B"),
        ("gemma2 27b", "Gemma 2 27B"),
        ("google/gemma-3-27b-pt", "Gemma 3 27B"),
        ("EleutherAI/pythia-1.4b-deduped", "Pythia 1.4b"),
        ("TinyLlama/TinyLlama-1.1B-Chat-v1.0", "TinyLlama 1.1B"),
        ("8x7B Mixtral", "Mixtral 8x7B"),
    ],
)
def test_a_model_is_found_as_people_and_hubs_write_it(name: str, means: str) -> None:
    assert KNOWN.model(name) == means


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Pythia 14m", "--model: Pythia 14m: 0.01407 billion parameters a token: 0.0625 to 811.7 billion parameters"),
        ("ai21labs/Jamba-1.5-Mini", "is a hybrid (Mamba), and how fast that is follows from no table"),
        ("state-spaces/mamba-2.8b", "dense models of 0.0625 to 811.7 billion parameters"),
        ("nvidia/Nemotron-H-8B-Base-8K", "mixtures of experts of 1.65 to 78 billion active parameters"),
        ("Qwen3-Next-80B-A3B", "a model of linear attention"),
        ("bert-base-uncased", "no model that writes text from left to right"),
        ("Llama 3 9B", "did you mean Llama 3 8B"),
        ("DeepSeek-V3.2", "did you mean DeepSeek V3"),
    ],
)
def test_what_is_no_such_model_is_refused_with_what_is_possible(name: str, says: str) -> None:
    with pytest.raises(InputError) as error:
        question.ask(KNOWN, model=name, tokens=2e9)
    assert says in str(error.value)


def test_a_family_that_no_table_has_is_said_to_have_none() -> None:
    """No Pythia is in a table; Qwen 3 8B has sisters there (Qwen 2.5 7B)."""
    assert question.ask(KNOWN, model="pythia-1b", tokens=1e9).family == ""
    assert question.ask(KNOWN, model="Qwen3 8B", tokens=1e9).family == "Qwen"


def test_layers_with_a_window_keep_their_inputs_too() -> None:
    """46 layers of 4,096 tokens x 4,096 x 2 bytes, of which 23 see the whole."""
    asked = question.ask(KNOWN, model="Gemma 2 27B", tokens=1e9)
    assert asked.sequence_gb == pytest.approx(46 * 4096 * 4096 * 2 / 1e9)
    assert asked.layers == 23


def test_of_a_size_alone_no_model_with_windows_lends_its_layers() -> None:
    """Of 27 billion the two nearest have windows (Gemma 2 and 3); the next is MPT 30b, of 29.97."""
    asked = question.ask(KNOWN, billion=27, tokens=1e9)
    assert "layers and width: 48 and 7168, as MPT 30b has" in asked.assumed


@pytest.mark.parametrize(
    ("model", "length", "taken", "says"),
    [
        ("gpt2", None, 1024, "length: 1,024 tokens, all positions of GPT-2 124M (--length)"),
        ("pythia-12b", None, 2048, "length: 2,048 tokens, all positions of Pythia 12b (--length)"),
        ("GPT-3", None, 2048, "length: 2,048 tokens, all positions of GPT-3 175B (--length)"),
        ("Llama 3 8B", None, 4096, ""),
        (
            "Falcon 7B",
            4096,
            4096,
            "Falcon 7B has 2,048 positions, and a sequence 4,096 tokens: they are stretched (RoPE)",
        ),
        (
            "gpt2",
            2048,
            0,
            "--length: GPT-2 124M has 1,024 positions, and a sequence 2,048 tokens: each position is learned",
        ),
    ],
)
def test_no_more_tokens_are_taken_for_granted_than_a_model_has_positions(
    model: str, length: float | None, taken: int, says: str
) -> None:
    if not taken:
        with pytest.raises(InputError, match=says.replace("(", "[(]")):
            question.ask(KNOWN, model=model, tokens=1e9, length=length)
        return
    asked = question.ask(KNOWN, model=model, tokens=1e9, length=length)
    assert asked.length == taken
    lines = [line for line in asked.assumed if line.startswith("length")]
    assert says in lines[0] if says else lines == []


def test_names_of_providers_are_found_however_people_write_them() -> None:
    names = provider_names(["aws", "gce", "azure", "runpod-secure", "runpod-community"])
    for name, means in [
        ("GCP", ["gce"]), ("google cloud", ["gce"]), ("Amazon", ["aws"]), ("amazon web services", ["aws"]),
        ("Microsoft Azure", ["azure"]), ("microsoft", ["azure"]), ("google", ["gce"]), ("EC2", ["aws"]),
        ("runpod", ["runpod-secure", "runpod-community"]),
    ]:  # fmt: skip
        assert KNOWN.left_out("--without", name, names) == means
