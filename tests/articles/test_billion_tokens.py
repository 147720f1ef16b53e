"""What a billion tokens cost: literals are printed rates and offers as their tables have them, and plain arithmetic."""

import csv
import html
import re
from types import SimpleNamespace

import pandas as pd
import pytest

from scripts import importers
from scripts.analysis import figures
from scripts.articles.language_models.charts import billion_tokens, software_alone
from scripts.costs import prices, pricing
from scripts.importers import facts
from scripts.storage import tables
from scripts.studies import articles, definition
from tests.charts.test_charts import view
from tests.reading import LEAD

PUBLISHED = definition.ROOT / "reports" / "published"
NEMO = "NVIDIA-NeMo/Megatron-Bridge@067f987df0:docs/performance-summary-archive.md"


@pytest.fixture(scope="module")
def shown() -> SimpleNamespace:
    """The published study: what was refused, and its tables."""
    study = definition.read("language-models", {})[1]
    about = study["import"]
    read = importers.importer(about["format"]).read(definition.ROOT / about["folder"], importers.layout(about))
    runs = tables.conform(facts.runs_of(facts.in_order(read.runs, study)), "runs")
    rates = tables.conform(pricing.price_table(study, study["machines"], study["machines"]), "prices")
    costs = tables.conform(prices.price_runs(runs, rates), "costs")
    derived = figures.tables(study, runs, costs, rates, articles.given(study))
    return SimpleNamespace(study=study, problems=read.problems, runs=runs, prices=rates, costs=costs, derived=derived)


#: The line of a row in reports/published/sources/language-models.csv, the price option, USD an hour of a card as its
#: book has it, the printed tokens a second of a card, and the dollars of 10^9 tokens: 10^9 / (rate x 3600 s) x USD.
BY_HAND = [
    (78, "lowest", 10.5, 4224, 690.499),  # Llama 3 70B, FP8, 64 GB200; CoreWeave: 42 USD for four
    (81, "lowest", 3.2, 1664, 534.188),  # the same, 64 H100; Hyperstack
    (81, "coreweave", 6.155, 1664, 1027.477),  # 49.24 USD for eight
    (81, "median", 5.0725, 1664, 846.772),  # of 3.2, 3.85, 3.99, 3.99, 6.155, 6.88, 10.979 and 12.29
    (40, "lowest", 3.2, 326, 2726.653),  # Llama 3.1 405B, FP8, 1,024 H100
    (39, "lowest", 10.5, 1166, 2501.429),  # the same, NVFP4, 256 GB200
    (47, "lowest", 7.4, 18534, 110.907),  # GPT-OSS 120B, MXFP8, 64 B300; Hyperstack
    (290, "lowest", 3.2, 12472.87, 71.266),  # LoRA of Llama 3 8B, one H100
    (290, "median", 4.14, 12472.87, 92.200),  # of 3.2, 3.85, 3.99, 4.29, 6.88 and 10.979: eight are no offer of one
    (296, "lowest", 3.2, 1007, 882.710),  # MPT 70B, 512 H100
    (405, "lowest", 1.79, 17807, 27.923),  # MPT 1B, eight A100 80 GB; RunPod
    (550, "lowest", 2.7, 7138.89, 105.058),  # Llama 3.1 8B, eight TPU v6e; Google: 21.6 USD for eight
]


@pytest.mark.parametrize(("line", "option", "usd_per_hour", "rate", "usd"), BY_HAND)
def test_dollars_of_a_billion_tokens_by_hand(
    line: int, option: str, usd_per_hour: float, rate: float, usd: float, shown: SimpleNamespace
) -> None:
    costs = shown.costs[shown.costs["run"].eq(f"language-models#{line}") & shown.costs["price_option"].eq(option)]
    (row,) = costs.to_dict("records")
    cards = 1 if pd.isna(row["devices"]) else row["devices"]
    assert row["usd_per_hour"] / cards == pytest.approx(usd_per_hour, rel=1e-4)
    assert row["usd_per_million_samples"] * 1000 == pytest.approx(usd, abs=5e-4)
    printed = shown.derived["every_row"].set_index("run").loc[f"language-models#{line}"]
    assert printed["rate"] == rate
    assert printed[f"usd_{option}"] == pytest.approx(usd, abs=5e-4)


def test_marks_that_are_the_same_are_one_and_the_title_is_of_what_is_drawn(shown: SimpleNamespace) -> None:
    labels = {name: about["label"] for name, about in shown.study["prices"].items()}
    chart = billion_tokens.draw(view(tables=shown.derived, prices=labels))
    assert chart is not None
    marks = chart.data[["workload", "card", "usd"]]
    assert not marks.duplicated().any(), "two marks on one another"
    gb200 = chart.data[chart.data["card"] == "GB200"]
    assert set(gb200["at"]) == {"all of these: one provider"}, "CoreWeave alone rents it"
    assert "One provider alone offers GB200" in " ".join(chart.notes)
    table = shown.derived["billion"]
    drawn = table[table["workload"].isin(chart.data["workload"])]
    low = drawn.groupby("workload")["usd_lowest"].min()
    assert f"{low.min():.1f} to {low.max():,.0f} USD" in chart.finding
    assert set(chart.data["card"]) <= set(table["card"])


def test_every_printed_row_is_shown_or_left_out_with_its_reason(shown: SimpleNamespace) -> None:
    with (PUBLISHED / "sources" / "language-models.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    used = [row["source"] for row in rows if row["tokens_per_second_per_card"]]
    assert (len(rows), len(used)) == (557, 542)
    assert sorted(shown.derived["every_row"]["source"]) == sorted(used)
    refused = {row["source"]: row["left_out"] for row in rows if not row["tokens_per_second_per_card"]}
    assert len(shown.problems) == len(refused) == 15
    for problem, (source, reason) in zip(shown.problems, refused.items(), strict=True):
        assert source in problem.message
        assert reason in problem.message


def test_each_row_stands_on_the_published_page() -> None:
    page = html.unescape((PUBLISHED / "language-models.html").read_text(encoding="utf-8"))
    with (PUBLISHED / "sources" / "language-models.csv").open(newline="") as file:
        sources = [row["source"] for row in csv.DictReader(file)]
    cells = re.findall(r'<td class="wrap">([^<]*)</td>', page)
    there = [source for source in sources if any(cell == source or f", {source}:" in cell for cell in cells)]
    assert len(there) == 557
    assert "not stated" in cells or "not stated" in page


def test_what_a_table_does_not_say_is_not_stated(shown: SimpleNamespace) -> None:
    with (PUBLISHED / "sources" / "language-models.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["tokens_per_second_per_card"]]
    # two recipes say it by the name of their folder
    folders = [row for row in rows if re.search("/GPT3-175B-MaxText/(bf16|fp8)/", row["source"])]
    formats = shown.derived["every_row"].set_index("source")["format"]
    assert [formats[row["source"]] for row in folders] == ["BF16", "FP8"]
    unsaid = [row["source"] for row in rows if not row["precision"] and row not in folders]
    assert sorted(formats[formats == "not stated"].index) == sorted(unsaid)
    assert len(unsaid) > 20


def test_runs_of_one_cell_are_no_repeats_of_one_another(shown: SimpleNamespace) -> None:
    """A row is one printed figure: rows that differ in what no axis names must not be pooled."""
    assert shown.runs["repeat"].max() == 1


def test_cards_that_nobody_rents_have_card_hours_alone(shown: SimpleNamespace) -> None:
    printed = shown.derived["every_row"]
    unpriced = printed[printed["usd_lowest"].isna()]
    assert set(unpriced["card"]) == {"GB300", "TPU7x (Ironwood)", "TPU v5p", "TPU v6e"}
    assert unpriced.loc[unpriced["card"].str.startswith("TPU v"), "devices"].isna().all()
    assert unpriced["devices"].isna().sum() == 12
    assert unpriced["card_hours"].gt(0).all()


def test_cards_are_compared_between_rows_that_are_alike(shown: SimpleNamespace) -> None:
    alike = shown.derived["alike"]
    pair = alike[(alike["card"] == "GB200") & (alike["than"] == "H100")].set_index(["workload", "devices"])
    # NeMo 26.04.01, FP8, 64 cards, 256 sequences: 4224 and 1664 tokens a second
    row = pair.loc[("Llama_3_70B_pre-training_at_8192", 64)]
    assert row["faster"] == pytest.approx(4224 / 1664)
    assert row["usd_coreweave"] == pytest.approx(690.499 / 1027.477, rel=1e-4)
    assert row["usd_lowest"] == pytest.approx(690.499 / 534.188, rel=1e-4)
    # 256 GB200 and 1,024 H100 of the 405B are no pair
    assert "Llama_3.1_405B_pre-training_at_8192" not in pair.index.get_level_values("workload")
    word, words = figures.answer(shown.study, shown.derived)
    # 4224 / 1664 times the tokens, at 10.5 USD: the same at 10.5 x 1664 / 4224 = 4.136, 5 % less at 4.354.
    assert word == "Yes for Llama 3 70B, if your H100 costs over 4.35 USD a card-hour, as printed"
    assert "GB200 at 10.5 USD a card-hour costs the same with H100 at 4.14, over 5 % less above 4.35." in words
    # LoRA: 6,206 and 2,643 tokens a second, 10.5 x 2643 / 6206 / 0.95 = 4.707; fine-tuning 2.36, GPT-OSS 2.86 times.
    others = "3 others (Llama 3 70B fine-tuning; Llama 3 70B LoRA; GPT-OSS 120B): above 3.87 to 4.71."
    assert words.endswith(others)
    assert len(f"{word}. {words}") <= LEAD
    more = figures.further(shown.study, shown.derived)
    assert "Whether TPU7x (Ironwood), TPU v5p, TPU v6e pay is not known" in more
    assert "1.15 to 1.40× at the lowest offer of a cloud, 0.72 to 0.88× at the median offer of clouds" in more
    assert "it does 2.35 to 2.86× the tokens." in more
    said = figures.minute(shown.study, shown.derived)
    # Logged are 742 and 333 tokens a second: at 10.5 and 3.2 USD an hour 3,928 and 2,669.
    reverse = (
        "Llama 3.1 405B: in [MLPerf's results](#beside-mlperf) H100 2,669 and GB200 3,928 USD, the reverse of what"
    )
    assert f"{reverse} is printed (H100 2,710 and GB200 2,463)." in said["sure"]
    median = next(line for line in said["which"].splitlines() if line.startswith("At the median"))
    for each in ("70B 595 USD (GB200, NVFP4)", "70B fine-tuning 755 USD (GB200, FP8)", "LoRA 470 USD (GB200, FP8)"):
        assert each in median, "each of the table's trainings is asked"
    # Hyperstack's H100 is 3.2 USD: the same at 3.2 x 4224 / 1664 = 8.123, 5 % less at 7.717.
    assert "with H100 at 3.20, GB200 costs the same at 8.12 and over 5 % less below 7.72; now 10.5." in said["price"]
    assert "as the table and the form have them, the same at 9.42." in said["price"]
    assert "Llama 3 8B 61.5 USD (H100, FP8, Hyperstack 2026-08-26)" in said["which"]
    assert "GB300 and TPU7x (Ironwood) have no price. Llama 3 8B is printed for H100 alone." in said["which"]
    assert "2 × 10⁹ tokens of Llama 3 8B pre-training: 123 USD on H100 at Hyperstack 2026-08-26." in said["samples"]


def test_dollars_of_then_are_at_a_price_near_the_release(shown: SimpleNamespace) -> None:
    """512 H100 of MPT 70B, April 2024: Paperspace's eight at 5.95 a card (March), 275.847 card-hours: 1,641 USD."""
    printed = shown.derived["every_row"].set_index("run")
    row = printed.loc["language-models#296"]
    assert row["then_of"] == "Paperspace, 2024-03"
    assert row["usd_then"] == pytest.approx(275.847 * 5.95, rel=1e-4)
    assert printed["usd_then"].notna().sum() == 230
    assert printed.loc[printed["usd_then"].isna(), "then_of"].eq("").all()


def test_whole_trainings_are_as_their_makers_state_them(shown: SimpleNamespace) -> None:
    """Meta's 1.3 million hours of Llama 3 8B at 3.20 USD are 4.16 million; printed: 15e12 / 14,451 / 3600 = 288,331."""
    found = shown.derived["stated"].set_index(["model", "published"])
    row = found.loc[("Llama 3 8B", "2024-04")]
    assert row["usd_lowest"] == pytest.approx(4_160_000)
    assert row["printed_hours"] == pytest.approx(288_331, abs=1)
    assert row["times"] == pytest.approx(1_300_000 / 288_331, rel=1e-4)
    assert len(found) == 8


def test_mlperfs_results_stand_beside_the_printed_speeds(shown: SimpleNamespace) -> None:
    """One H100 result of 8B with a sequence a card: 10,807 tokens a second, 10^9 in 25.703 card-hours of 3.20 USD."""
    found = shown.derived["beside_mlperf"].set_index(["benchmark", "card"])
    row = found.loc[("llama31_8b", "H100")]
    assert (row["results"], row["logged"]) == (1, 10807)
    assert row["usd_logged"] == pytest.approx(82.2512, abs=1e-3)
    assert row["usd_printed"] == pytest.approx(82.2512 * row["share"], rel=1e-4)
    assert found.loc[("llama31_405b", "H100"), "share"] == pytest.approx(333 / 328)
    assert found.loc[("llama2_70b_lora", "H100"), "results"] == 25


def test_longer_sequences_cost_more_a_token(shown: SimpleNamespace) -> None:
    """MPT 7B on eight H100: 10,203 tokens a second at 1,024, 1,956 at 65,536; 25 series by a count of the rows."""
    found = shown.derived["lengths"]
    keys = ["training", "card", "framework", "format", "devices"]
    assert found.groupby(keys).ngroups == 25
    row = found[(found["training"] == "MPT_7b_pre-training") & (found["card"] == "H100") & (found["length"] == 65536)]
    assert row["shortest"].tolist() == [1024]
    assert row["dearer"].tolist() == pytest.approx([10203 / 1956], rel=1e-3)


def test_releases_are_compared_where_all_else_is_alike(shown: SimpleNamespace) -> None:
    """Speeds as the tables of NeMo 25.11 to 26.08 print them (FP8-MX is MXFP8); 48 series of 222 rows, counted."""
    found = shown.derived["releases"]
    last = found[found["is_last"]].set_index(["workload", "card", "devices", "format"])
    assert (len(last), len(found)) == (48, 222 - 48)
    by_hand = {
        ("Qwen_3_30B_A3B_pre-training_at_4096", "GB200", 8, "MXFP8"): 39936 / 23766,
        ("Llama_3_70B_pre-training_at_8192", "H100", 64, "FP8"): 1664 / 1621,
        ("DeepSeek_V3_pre-training_at_4096", "B200", 256, "MXFP8"): 3328 / 2689,
    }
    for key, faster in by_hand.items():
        assert last.loc[key, "faster"] == pytest.approx(faster)
        assert last.loc[key, "cost"] == pytest.approx(1 / faster)
    lost = last[last["faster"] < 1].index.get_level_values("workload")
    assert any(name.startswith("GPT") for name in lost), "GPT-OSS on H100s: 5,984 tokens a second became 5,824"


def test_what_a_release_lost_is_shown_and_not_made_a_gain(shown: SimpleNamespace) -> None:
    """GPT-OSS 120B in MXFP8 on 64 GB300: 33,166 tokens a second in 26.06, 20,288 in 26.06.01, 33,024 in 26.08."""
    found = shown.derived["releases"]
    of = found[found["workload"].eq("GPT-OSS_120B_pre-training_at_4096") & found["card"].eq("GB300")]
    of = of[of["format"] == "MXFP8"].set_index("framework")
    assert set(of["than"]) == {"NeMo-26.06"}
    assert of["step"].to_dict() == pytest.approx({"NeMo-26.06.01": 20288 / 33166, "NeMo-26.08": 33024 / 20288})
    assert of.loc["NeMo-26.08", "faster"] == pytest.approx(33024 / 33166)
    chart = software_alone.draw(view(tables=shown.derived))
    assert "GPT-OSS 120B in 26.06.01" in " ".join(chart.notes)


def test_rounds_of_mlperf_are_compared_where_submitter_cards_and_batch_are_the_same(shown: SimpleNamespace) -> None:
    """Medians of tokens a second and card, out of the logs: NVIDIA's 8 H100 in v4.0 and v4.1, Dell's 8 B200 in v5.1."""
    found = shown.derived["rounds"].set_index(["benchmark", "submitter", "card", "cards", "round"])
    nvidia = found.loc[("llama2_70b_lora", "NVIDIA", "H100", 8, "v4.1")]
    assert (nvidia["since"], nvidia["logged"], nvidia["results"]) == ("v4.0", 2273, 2)
    assert nvidia["faster"] == pytest.approx(2273 / 2236)
    dell = found.loc[("llama2_70b_lora", "Dell", "B200", 8, "v5.1")]
    assert (dell["logged"], dell["results"]) == (6411, 4)  # of 6,636, 6,411 and 6,327; 5,505 in v5.0
    assert dell["cost"] == pytest.approx(5505 / 6411)
    # 405B on 512 GB200: another batch in each round
    assert "GB200" not in found.loc["llama31_405b"].index.get_level_values("card")


def test_from_llm_foundry_to_nemo_on_one_card(shown: SimpleNamespace) -> None:
    """Model TFLOP/s of an H100 as the tables print them; the most of each software and format."""
    found = shown.derived["since"]
    large = found[found["size"] == "MPT 70b and Llama 3 70B"]
    assert set(large["card"]) == {"H100"}
    printed = [tuple(row) for row in large[["framework", "model", "format", "length", "tflops"]].to_numpy()]
    assert printed == [
        ("llm-foundry", "MPT 70b", "BF16", 2048, 428),
        ("NeMo-25.09", "Llama 3 70B", "not stated", 8192, 727),
        ("NeMo-26.02.01", "Llama 3 70B", "FP8", 8192, 736),
        ("NeMo-AutoModel", "Llama 3 70B", "BF16", 8192, 389),
    ]
    assert large["cost"].tolist() == pytest.approx([1, 428 / 727, 428 / 736, 428 / 389])
    assert found.loc[found["size"] == "MPT 7b and Llama 3 8B", "tflops"].tolist() == [459, 725, 744]


def test_of_two_releases_of_a_month_the_later_is_the_newest(shown: SimpleNamespace) -> None:
    """Qwen 3 235B, MXFP8, 256 cards: NeMo 26.04.01 prints 5,936 on B300 and 5,680 on GB200, 26.04 4,865 and 5,672."""
    alike = shown.derived["alike"]
    rows = alike[alike["workload"].eq("Qwen_3_235B_A22B_pre-training_at_4096") & alike["format"].eq("MXFP8")]
    rows = rows[rows["framework"].str.startswith("NeMo-26.04") & rows["devices"].eq(256)]
    faster = {(row["card"], row["than"]): row["faster"] for row in rows.to_dict("records")}
    assert faster["B300", "GB200"] == pytest.approx(5936 / 5680)


def test_offers_stand_by_provider_and_region(shown: SimpleNamespace) -> None:
    """CoreWeave's eight B200 as cards-2026-11 has them: 68.80 USD on demand, 34.11 as spot."""
    found = shown.derived["by_region"]
    (row,) = found[found["card"].eq("B200") & found["provider"].eq("CoreWeave")].to_dict("records")
    assert (row["cards"], row["region"], row["market"]) == (8, "north-america", "cloud")
    assert (row["on_demand"], row["spot"]) == (pytest.approx(8.6), pytest.approx(34.11 / 8))
    assert (row["as_of"], row["spot_as_of"]) == ("2026-09-20", "2026-09-20")
    assert set(found["card"]) >= {"GB200", "TPU v6e", "A100 SXM 80GB"}
    assert not found["card"].isin(["GB300", "TPU7x"]).any(), "nobody offers one"


def test_formats_of_one_card_are_compared_at_any_price(shown: SimpleNamespace) -> None:
    formats = shown.derived["formats"]
    row = formats[
        (formats["workload"] == "Llama_3.1_405B_pre-training_at_8192")
        & (formats["card"] == "GB200")
        & (formats["format"] == "NVFP4")
    ].iloc[-1]
    assert (row["than"], row["framework"]) == ("FP8", "NeMo-26.06")
    assert row["saved"] == pytest.approx(1 - 843 / 1166)  # tokens a second in FP8 and in NVFP4


def test_more_cards_with_the_same_share_of_the_batch(shown: SimpleNamespace) -> None:
    scale = shown.derived["tokens_scale"]
    line = scale[(scale["workload"] == "MPT_70b_pre-training_at_2048") & (scale["card"] == "H100")]
    line = line[line["batch_size"] == 8 * 2048].set_index("devices")
    assert line.loc[512, "dearer"] == pytest.approx(line.loc[128, "dearer"] * 1058 / 1007)


def test_a_whole_training_is_card_hours_by_its_tokens(shown: SimpleNamespace) -> None:
    whole = shown.derived["whole"].set_index(["training", "card"])
    lora = whole.loc[("llama-3-8b-lora", "H100")]
    assert lora["hours"] == pytest.approx(1e8 / 12472.87 / 3600)
    assert lora["usd_lowest"] == pytest.approx(7.1266, abs=5e-4)
    llama = whole.loc[("llama-3-8b", "H100")]
    assert llama["card_hours"] == pytest.approx(15e12 / 14451 / 3600)


def test_utilisation_is_of_the_peak_in_that_format(shown: SimpleNamespace) -> None:
    printed = shown.derived["every_row"].set_index("run")
    assert printed.loc["language-models#39", "mfu"] == pytest.approx(2944 / 10000)  # NVFP4 on a GB200
    assert printed.loc["language-models#290", "mfu"] == pytest.approx(402 / 989)  # BF16 on an H100


def test_dollars_of_a_parameter_are_those_of_what_a_token_uses(shown: SimpleNamespace) -> None:
    each = shown.derived["per_parameter"].set_index(["model", "card"])
    llama = each.loc[("Llama 3.1 405B", "GB200")]
    assert llama["usd_lowest"] == pytest.approx(10.5e9 / (1184 * 3600) / 405.85)  # NVFP4, NeMo 26.04.01
    qwen = each.loc[("Qwen 3 30B A3B", "H100")]
    assert (qwen["kind"], qwen["active_billion"]) == ("moe", 3.3)
    assert list(shown.derived["per_parameter"]["kind"].drop_duplicates()) == ["dense", "moe"]
