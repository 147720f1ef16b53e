from scripts.analysis.names import price_words

K80 = {"rent": {"provider": "gce", "items": {"nvidia-tesla-k80": 1}}}
CPU8 = {"rent": {"provider": "gce", "items": {"n1-highcpu-8": 1}}}


def words(**instead: dict) -> str:
    study = {
        "machines": {"k80": K80, "cpu8": CPU8},
        "prices": {"today": {"label": "today's prices", "instead": instead}, "spot": {}},
    }
    return price_words(study, "today", {"k80": "K80", "cpu8": "8 vCPUs"})


def test_machine_of_another_provider_is_named() -> None:
    found = words(k80={"provider": "aws", "items": {"p2.xlarge": 1}})
    assert found == "today's prices (K80 as p2.xlarge of AWS, another provider than then (Google))"


def test_other_machine_of_the_same_provider_is_not() -> None:
    assert words(cpu8={"provider": "gce", "items": {"n1-highcpu-8": 1}, "purchase": "spot"}) == "today's prices"


def test_option_without_a_label_is_called_by_its_name() -> None:
    assert price_words({"prices": {"spot": {}}}, "spot", {}) == "spot price"
