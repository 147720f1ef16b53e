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
        if plan.note(family) in to_try:
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
    if not runs:
        quoted.say_nothing()
        return {}
    return quoted.ask(runs)


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


# What of this call is refused or fails, for its last screen.
failed = failures.Failures(name_run)
# Whether the call has done what it was to do.
succeeded = []


def go_on():
    """Make the call again where a budget left out runs for which there may be enough after all."""
    since = float(environment.STARTED.read() or 0)
    records = [Path(run, "run.json") for run in plan.runs]
    ended = sum(file.is_file() and file.stat().st_mtime >= since for file in records)
    if succeeded and quoted.may_go_on(ended, sys.argv):
        print(
            f"budget_usd: {len(quoted.left_out)} runs were left out: looking what is left of it",
            file=sys.stderr,
            flush=True,
        )
        # As a module, however it was called: as a script its folder would come first on the path.
        os.execv(sys.executable, [sys.executable, "-m", "snakemake", *sys.argv[1:]])


# Before the others, as they are called in reverse: it does not return.
if workflow.is_main_process and not workflow.dryrun:
    atexit.register(go_on)


def follow_failures():
    """Print at the end of the call what failed, why and what to do; try only again what lost its machine."""
    internals.follow(workflow, failed)
    internals.retry_only(workflow, failed.may_be_tried_again)
    atexit.register(failed.print)


def start_meter(expected_usd):
    """Print every minute what the machines have cost, as Snakemake's log reports them."""
    # Here, as it takes a second that only calls with a cluster have.
    from scripts.costs import budget
    from scripts.workflow import meter

    is_slurm = plan.profile == "slurm"
    counted = meter.Meter(
        canary.machines,
        expected_usd,
        plan.is_given_up,
        0.0 if is_slurm else budget.BOOT_SECONDS,
    )
    follower = meter.Follower(counted, name_run, lambda job: job in failed.reasons)
    internals.follow(workflow, follower)
    if is_slurm:
        queue = slurm.Queue(failed.reasons, counted.wait)
        submit_once(queue)
        meter.print_every_minute(counted, queue.look)
        return
    if checks.is_kubernetes(workflow.executor_settings):
        from scripts.workflow import pods

        pods.steer(
            workflow,
            lambda executor: pods.Watch(
                executor,
                lambda job: name_run(job.wildcards_dict),
                failed.reasons,
                counted.wait,
            ),
        )
    meter.print_every_minute(counted)


def submit_once(queue):
    """Wait for the jobs that a killed call has left on Slurm, and take what they have made, instead of submitting."""
    left = slurm.Left.of(Path.cwd(), plan.name)

    def is_training(job):
        return not job.is_group() and job.rule.name == "train"

    def find(job, name):
        if not is_training(job):
            return None
        run = name_run(job.wildcards_dict)
        if there := left.take(run, slurm.mark(job.params), name):
            return internals.Taken(*there)
        is_made = internals.is_left_incomplete(workflow, job) and plan.is_current(run)
        return internals.Taken() if is_made else None

    def sent(job, name):
        if is_training(job):
            queue.runs[name] = name_run(job.wildcards_dict)

    def command(job, written):
        return (
            running.with_mark(written, slurm.mark(job.params))
            if is_training(job)
            else written
        )

    internals.submit_once(workflow, find, sent, command)


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
