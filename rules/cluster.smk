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
    for family in canary.runs:
        if canary.note(family) in to_try:
            found |= dict.fromkeys(canary.may_follow(family, found))
    return list(found)


def find_images():
    """The images that this call's trainings need, unless one is given for all."""
    if checks.setting(workflow.executor_settings, "container"):
        return set()
    jobs = internals.jobs_to_run(workflow)
    return {
        plan.get_image_name(job.wildcards) for job in jobs if job.rule.name == "train"
    }


def print_quote():
    """Print what the trainings of this call will take and cost; refuse those that could pass the budget."""
    runs = find_to_train()
    region = checks.setting(workflow.executor_settings, "region")
    if runs and (wrong := checks.elsewhere(plan, region)):
        if quoted.budget_usd is not None:
            raise errors.InputError(f"budget_usd: prices of another region: {wrong}")
        print(f"warning: {wrong}", file=sys.stderr)
    return quoted.ask(runs) if runs else {}


def print_quote_of_dry_run():
    if workflow.dryrun:
        try:
            print_quote()
        except errors.InputError as error:
            print(f"error: {error}", file=sys.stderr)
        images = find_images() if plan.profile.startswith("gce-") else set()
        for line in filter(None, [*UNSET, checks.unbuilt(images)]):
            print(f"still to be set: {line}", file=sys.stderr)
        if note := locks.note_for_dry_run(Path.cwd()):
            print(note, file=sys.stderr)


# Snakemake has no hook that a dry run reaches.
if workflow.is_main_process:
    atexit.register(print_quote_of_dry_run)


def start_meter(expected_usd):
    """Print every minute what the machines have cost, as Snakemake's log tells of them."""
    # Here, as it takes a second that only calls with a cluster have.
    from scripts.workflow import meter

    counted = meter.Meter(canary.machines, expected_usd, canary.is_given_up)
    internals.follow(meter.Follower(counted, name_run))
    meter.print_every_minute(counted)


# Slurm has no word for modules: the job loads them itself, and keeps the Python that the clone was set up with.
if MACHINE and (modules := plan.load_modules(MACHINE)):
    shell.prefix(modules)


def check_cluster():
    """Refuse what a cluster cannot do before anything is submitted."""
    if plan.profile == "slurm" and find_to_train():
        checks.check_slurm(plan, workflow.executor_settings)
    elif plan.profile.startswith("gce-"):
        checks.check_images(find_images())


checkpoint try_cheapest:
    input:
        runs=canary.get_firsts,
        lib=code_of("scripts.try_cheapest"),
    output:
        f"results/{{study}}/tried/{plan.profile}/{{workload}}/{{framework}}.json",
    log:
        "results/{study}/logs/tried/{workload}-{framework}.log",
    wildcard_constraints:
        study=either([plan.name] if canary.firsts else []),
    conda:
        "../envs/workflow.yaml"
    params:
        records=lambda wildcards, input: "\n".join(input.runs),
    message:
        "see what of {wildcards.workload} with {wildcards.framework} has failed on the cheapest machine"
    shell:
        "python -m scripts.try_cheapest --output {output:q} <<'RECORDS' |& tee {log}\n{params.records}\nRECORDS"
