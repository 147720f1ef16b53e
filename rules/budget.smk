try:
    # Nothing given is no budget; 0 is one.
    given = config["budget_usd"]
    BUDGET_USD = None if given in ("", None) else float(given)
except ValueError:
    sys.exit(f"error: budget_usd: {config['budget_usd']!r} is no number of dollars")


def find_cell(run):
    return CELLS[str(Path(run).parent.relative_to(f"results/{NAME}"))]


def ask_quote(runs, *arguments):
    """Ask scripts/quote.py what runs will cost, which of them the budget pays for, or the rates of their machines."""
    asked = {
        "name": NAME,
        "study": settings,
        "runs": [{"folder": run, "cell": asdict(find_cell(run))} for run in runs],
        "reach": config["reach"],
        "budget_usd": BUDGET_USD,
    }
    done = subprocess.run(
        [sys.executable, "-m", "scripts.quote", *arguments],
        input=json.dumps(asked),
        text=True,
        stdout=subprocess.PIPE,
    )
    if done.returncode:
        raise WorkflowError("nothing was submitted")
    return json.loads(done.stdout)


def find_missing(runs):
    return [run for run in runs if not Path(run, "run.json").is_file()]


def get_affordable(runs):
    """The runs that are there, and of the others those that the budget pays for at worst, the cheapest first."""
    missing = find_missing(runs)
    if BUDGET_USD is None or not missing or not workflow.is_main_process:
        return runs
    allowed = ask_quote(missing, "--allow")
    return [run for run in runs if run not in missing or run in allowed]


asked_for = len(RUNS)
RUNS = get_affordable(RUNS)
if asked_for and not RUNS and not KEPT:
    sys.exit(
        f"error: budget_usd: {BUDGET_USD:g}: no run is sure to cost less; max_run_minutes of the study limits each"
    )

# A single run has no spread, and needs no second look.
JUDGED = bool(RUNS) and settings["repeats"] > 1

# The rates of the machines that the profile reaches, the cheapest first.
MACHINES = {}
if config["reach"] != "local" and RUNS and workflow.is_main_process:
    MACHINES = ask_quote(RUNS, "--machines")
RANKS = {name: rank for rank, name in enumerate(MACHINES)}


def get_hardware(run):
    return find_cell(run).hardware


def get_configuration(run):
    """What of a run's cell is not its machine."""
    cell = find_cell(run)
    return cell.workload, cell.framework, Path(cell.path).name


# The runs of each configuration, and the first one on the cheapest of several machines: what fails there is not tried on
# dearer ones before it is reported.
CONFIGURATIONS = {}
for run in RUNS:
    CONFIGURATIONS.setdefault(get_configuration(run), []).append(run)
FIRST = {}
for configuration, runs in CONFIGURATIONS.items():
    priced = [run for run in runs if get_hardware(run) in RANKS]
    if len({get_hardware(run) for run in priced}) > 1:
        FIRST[configuration] = min(priced, key=lambda run: RANKS[get_hardware(run)])


def get_first(wildcards):
    configuration = wildcards.workload, wildcards.framework, wildcards.variant
    return f"{FIRST[configuration]}/run.json"


TRIED = [
    f"results/{NAME}/tried/{'/'.join(configuration)}.txt" for configuration in FIRST
]


def get_tried(configuration):
    """The runs of a configuration; those on dearer machines once the cheapest has trained it."""
    runs = CONFIGURATIONS[configuration]
    if configuration not in FIRST:
        return runs
    names = dict(zip(("workload", "framework", "variant"), configuration))
    with checkpoints.try_cheapest.get(study=NAME, **names).output[0].open() as file:
        failed = file.read()
    if not failed:
        return runs
    cheapest = get_hardware(FIRST[configuration])
    return [run for run in runs if get_hardware(run) == cheapest]


def get_grid(wildcards):
    """The runs of the study, without second measurements."""
    return [run for configuration in CONFIGURATIONS for run in get_tried(configuration)]


def get_records(configuration):
    """The input function that tells the records of a configuration: each waits for its own first run alone."""
    return lambda wildcards: [f"{run}/run.json" for run in get_tried(configuration)]


def get_priority(wildcards):
    """In rounds, A B C A B C: what changes on the machine in time meets all cells alike. On clusters the cheapest first."""
    return (10_000 - int(wildcards.repeat)) * 1000 - RANKS.get(wildcards.hardware, 0)


def name_run(wildcards):
    """The folder of the run that a job trains."""
    return (
        "results/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}".format(
            **wildcards
        )
    )


def find_to_train():
    """The runs that this call trains, with those on dearer machines that wait for the cheapest to try them."""
    found = {}
    for job in workflow.dag.needrun_jobs(exclude_finished=False):
        if job.rule.name == "train":
            found[name_run(job.wildcards_dict)] = None
        elif job.rule.name == "try_cheapest":
            _, *configuration = job.wildcards_dict.values()
            found |= dict.fromkeys(find_missing(CONFIGURATIONS[tuple(configuration)]))
    return list(found)


def tell_quote():
    """Print what the trainings of this call will take and cost; refuse those that could pass the budget."""
    runs = find_to_train()
    return ask_quote(runs) if runs else {}


def tell_quote_of_dry_run():
    if workflow.dryrun:
        tell_quote()


# Snakemake has no hook that a dry run reaches.
if workflow.is_main_process:
    atexit.register(tell_quote_of_dry_run)


def start_meter(expected_usd):
    """Say every minute what the machines have cost, as Snakemake's log tells of them."""
    # Here, as it takes a second that only calls with a cluster have.
    from scripts import meter
    from snakemake.logging import logger

    counted = meter.Meter(MACHINES, expected_usd)
    logger.addHandler(meter.Follower(counted, name_run))
    meter.tell(counted)
