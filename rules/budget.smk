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


def get_configuration(run):
    """What of a run's cell is not its machine."""
    cell = find_cell(run)
    return cell.workload, cell.framework, Path(cell.path).name


def name_tried(configuration):
    """Where it is noted why a configuration failed on the cheapest machine of this profile; empty if it did not."""
    return f"results/{NAME}/tried/{config['reach']}/{'/'.join(configuration)}.txt"


def is_given_up(run):
    """Whether a run waits until what failed on a cheaper machine is mended."""
    tried = Path(name_tried(get_configuration(run)))
    return (
        tried.is_file()
        and tried.stat().st_size > 0
        and not Path(run, "run.json").is_file()
    )


def get_affordable(runs):
    """The runs that are there, and of the others those that the budget pays for at worst, the cheapest first."""
    missing = [run for run in find_missing(runs) if not is_given_up(run)]
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


def name_run(wildcards):
    """The folder of the run that a job trains."""
    return (
        "results/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}".format(
            **wildcards
        )
    )


def find_to_train():
    """The runs that this call trains, with those on dearer machines that wait for the cheapest to try them."""
    jobs = list(workflow.dag.needrun_jobs(exclude_finished=False))
    found = {
        name_run(job.wildcards_dict): None for job in jobs if job.rule.name == "train"
    }
    to_try = {str(job.output[0]) for job in jobs if job.rule.name == "try_cheapest"}
    for configuration, first in FIRST.items():
        if name_tried(configuration) in to_try:
            runs = CONFIGURATIONS[configuration]
            # What is trained again there is trained again on the others too.
            again = first in found and Path(first, "run.json").is_file()
            found |= dict.fromkeys(runs if again else find_missing(runs))
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
    from scripts.workflow import meter
    from snakemake.logging import logger

    counted = meter.Meter(MACHINES, expected_usd, is_given_up)
    logger.addHandler(meter.Follower(counted, name_run))
    meter.tell(counted)
