from snakemake.utils import min_version

min_version("9.27")


configfile: "config/config.yaml"


report: "reports/captions/workflow.rst"


include: "rules/common.smk"
include: "rules/cluster.smk"
include: "rules/train.smk"
include: "rules/report.smk"
include: "rules/published.smk"
include: "rules/kit.smk"
include: "rules/summary.smk"


localrules:
    all,
    fetch_data,
    try_cheapest,
    find_unstable,
    collect,
    load_tables,
    price,
    chart,
    report,
    import_logs,
    collect_facts,
    index,
    ledger,
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
        plan.get_report,
        [f"{run}/run.json" for run in canary.at_once],
        *map(get_records, canary.runs),


onstart:
    check_cluster()
    follow_failures()
    environment.STARTED.write(str(time.time()))
    if plan.profile == "local":
        # For scripts/workflow/progress.py; no parameter of a rule, so that a larger study trains nothing again.
        trainings = [
            job
            for job in internals.jobs_to_run(workflow)
            if job.rule.name == "train"
        ]
        environment.TRAININGS.write(str(len(trainings)))
    elif expected_usd := print_quote():
        start_meter(expected_usd)
    internals.limit_no_rate(workflow)
    internals.end_when_asked(workflow)


onsuccess:
    report = Path(f"results/{plan.name}/report.html")
    if report.is_file() and report.stat().st_mtime >= float(
        environment.STARTED.read()
    ):
        print(f"report: {report.resolve()}")
    if failed.found:
        # What got no machine has a record of that, and the report shows it: the call has not done what was asked.
        sys.exit(1)
    succeeded.append(True)
