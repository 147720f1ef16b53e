# What a call on a cluster does beside its trainings: cheapest machines first, a quote, a budget, refusals.


def name_run(wildcards):
    """The folder of the run that a job trains."""
    return (
        "results/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}".format(
            **wildcards
        )
    )


def find_to_train():
    """The runs that this call trains, with those on dearer machines that wait for the cheapest to try them."""
    jobs = internals.jobs_to_run(workflow)
    found = {
        name_run(job.wildcards_dict): None for job in jobs if job.rule.name == "train"
    }
    to_try = {str(job.output[0]) for job in jobs if job.rule.name == "try_cheapest"}
    for configuration, first in canary.firsts.items():
        if canary.note(configuration) in to_try:
            runs = canary.runs[configuration]
            # What is trained again there is trained again on the others too.
            again = first in found and Path(first, "run.json").is_file()
            found |= dict.fromkeys(runs if again else quotes.missing(runs))
    return list(found)


def print_quote():
    """Print what the trainings of this call will take and cost; refuse those that could pass the budget."""
    runs = find_to_train()
    return quoted.ask(runs) if runs else {}


def print_quote_of_dry_run():
    if workflow.dryrun:
        print_quote()


# Snakemake has no hook that a dry run reaches.
if workflow.is_main_process:
    atexit.register(print_quote_of_dry_run)


def start_meter(expected_usd):
    """Print every minute what the machines have cost, as Snakemake's log tells of them."""
    # Here, as it takes a second that only calls with a cluster have.
    from scripts.workflow import meter

    counted = meter.Meter(canary.machines, expected_usd, canary.is_given_up)
    internals.follow(meter.Follower(counted, name_run))
    meter.tell(counted)


def check_cluster():
    """Refuse what a cluster cannot do before anything is submitted."""
    if plan.profile == "slurm":
        checks.check_slurm(plan, workflow.executor_settings)
    elif (
        plan.profile in ("gce-cpu", "gce-gpu") and not workflow.executor_settings.image
    ):
        jobs = [
            job for job in internals.jobs_to_run(workflow) if job.rule.name == "train"
        ]
        checks.check_images({plan.get_image_name(job.wildcards) for job in jobs})


checkpoint try_cheapest:
    input:
        run=canary.get_first,
        lib=code_of("scripts.try_cheapest"),
    output:
        f"results/{{study}}/tried/{plan.profile}/{{workload}}/{{framework}}/{{variant}}.txt",
    log:
        "results/{study}/logs/tried/{workload}-{framework}-{variant}.log",
    wildcard_constraints:
        study=either([plan.name] if canary.firsts else []),
    conda:
        "../envs/workflow.yaml"
    message:
        "see whether {wildcards.workload} with {wildcards.framework}, {wildcards.variant}, has failed on the cheapest machine"
    shell:
        "python -m scripts.try_cheapest {input.run} {output} |& tee {log}"
