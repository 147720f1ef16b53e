from snakemake.utils import min_version

min_version("9.27")


configfile: "config/config.yaml"


include: "rules/common.smk"
include: "rules/budget.smk"
include: "rules/cheapest.smk"
include: "rules/gce.smk"
include: "rules/slurm.smk"
include: "rules/train.smk"
include: "rules/report.smk"
include: "rules/published.smk"
include: "rules/kit.smk"
include: "rules/status.smk"


localrules:
    all,
    fetch_data,
    try_cheapest,
    find_unstable,
    collect,
    take_trained,
    price,
    chart,
    report,
    import_logs,
    collect_facts,
    index,
    published,
    import_published,
    refresh_prices,
    fetch_wheels,
    pack_data,
    pack_kit,
    kit,


rule all:
    default_target: True
    input:
        get_report,
        *map(get_records, CONFIGURATIONS),


onstart:
    if config["reach"] == "slurm":
        check_slurm()
    elif config["reach"] in ("gce-cpu", "gce-gpu"):
        check_images()
    os.environ |= {"EPOCHS_STARTED": str(time.time())}
    if config["reach"] == "local":
        # For scripts/workflow/progress.py; no parameter of a rule, so that a larger study trains nothing again.
        to_run = [job.rule.name for job in workflow.dag.needrun_jobs()]
        os.environ |= {"EPOCHS_TRAININGS": str(to_run.count("train"))}
    elif expected_usd := tell_quote():
        start_meter(expected_usd)
    # With a limit of jobs a second, which is on by default, each job that ends starts one more timer that goes through
    # all ready jobs every second (Snakemake 9.27): after a hundred runs that took 40 % of a core from the timed ones.
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None


onsuccess:
    report = Path(f"results/{NAME}/report.html")
    if report.is_file() and report.stat().st_mtime >= float(
        os.environ.get("EPOCHS_STARTED", 0)
    ):
        print(f"report: {report.resolve()}")
