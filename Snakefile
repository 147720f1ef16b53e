from snakemake.utils import min_version

min_version("9.27")


configfile: "config/config.yaml"


include: "rules/common.smk"
include: "rules/train.smk"
include: "rules/report.smk"


localrules:
    all,
    fetch_data,
    collect,
    price,
    chart,
    report,


rule all:
    default_target: True
    input:
        f"results/{STUDY.name}/report.html",
        [f"{run}/run.json" for run in RUNS],


onstart:
    # For scripts/progress.py; no parameter of a rule, so that a larger study trains nothing again.
    trainings = [
        job for job in workflow.dag.needrun_jobs() if job.rule.name == "train"
    ]
    os.environ |= {
        "EPOCHS_TRAININGS": str(len(trainings)),
        "EPOCHS_STARTED": str(time.time()),
    }


onsuccess:
    report = Path(f"results/{STUDY.name}/report.html")
    if report.is_file():
        print(f"report: {report.resolve()}")
