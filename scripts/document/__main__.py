"""Write the pages of docs/ that are made from other files.

`studies.md` and `config/schemas/study.schema.json`, the keys of a study, from its model, and in
`hardware.schema.json` how machines are rented and owned, likewise; `tables.md`, the columns of every table, from
`config/schemas/tables.yaml`; `accuracy.md`, what the workloads reach at full size, from the run records of
`reports/accuracy/`; `speed.md`, what the trainer reaches of native loops, from the points of `reports/speed/`;
`faults.md`, what comes of faults and of guards taken out, from `reports/faults.json` and `guards.json`; in
`measuring.md` what the rule of verdicts does, from `reports/verdicts.json`, and `compare` between days, from
`reports/states.json`; in `schedule.md` what the chart of a history does, from `reports/trends.json`. And
`config/noise.yaml`, the noise of the project's own repeated runs, from their tables; `offers.csv` of the recorder of
any command, what can be rented today, from the price books and `config/machines.csv`; in `run.md` what its sessions
promised, from `reports/ledger.csv`; in `estimating.md` how good quotes are, from `reports/estimates.json`,
and the fitted model beside it, `estimate-model.json`.
"""

from pathlib import Path

from scripts.document import estimates, faults, measured, noise, reference, simulated
from scripts.storage import errors
from scripts.storage.files import write_text

ROOT = Path(__file__).resolve().parents[2]


def pages() -> dict[Path, str]:
    """Return every page that is made, with its text."""
    docs, config = ROOT / "docs", ROOT / "config"
    measuring, schedule, run, estimating = (
        (docs / f"{name}.md").read_text(encoding="utf-8") for name in ("measuring", "schedule", "run", "estimating")
    )
    return {
        config / "schemas" / "study.schema.json": reference.study_schema(),
        config / "config.yaml": reference.config_file(),
        config / "schemas" / "hardware.schema.json": reference.hardware_schema(),
        docs / "studies.md": reference.studies_page(),
        docs / "tables.md": reference.tables_page(),
        docs / "accuracy.md": measured.accuracy_page(measured.accuracy_rows(ROOT / "reports" / "accuracy")),
        docs / "speed.md": measured.speed_page(ROOT / "reports" / "speed"),
        docs / "measuring.md": simulated.scale_ups_table(simulated.states_table(simulated.verdicts_table(measuring))),
        docs / "schedule.md": simulated.trends_table(schedule),
        docs / "faults.md": faults.faults_page(),
        docs / "run.md": simulated.recorder_table(run),
        docs / "estimating.md": estimates.estimating_page(estimating),
        estimates.MODEL: estimates.model_file(),
        config / "noise.yaml": noise.noise_file(),
        ROOT / "plugins" / "epochs-per-dollar" / "epochs_per_dollar" / "offers.csv": reference.offers_file(),
    }


def main() -> int:
    for path, text in pages().items():
        write_text(path, text)
    return 0


if __name__ == "__main__":
    errors.run(main)
