try:
    # Nothing given is no budget; 0 is one.
    given = config["budget_usd"]
    BUDGET_USD = None if given in ("", None) else float(given)
except ValueError:
    sys.exit(f"error: budget_usd: {config['budget_usd']!r} is no number of dollars")


def ask_quote(runs, *arguments):
    """Ask scripts/quote.py what runs will cost, or which of them the budget pays for."""
    asked = {
        "name": NAME,
        "study": settings,
        "runs": [{"folder": run, "cell": asdict(cell)} for run, cell in runs],
        "reach": config["reach"],
        "budget_usd": BUDGET_USD,
    }
    done = subprocess.run(
        [sys.executable, "-m", "scripts.quote", *arguments],
        input=json.dumps(asked),
        text=True,
        stdout=subprocess.PIPE if arguments else None,
    )
    if done.returncode:
        raise WorkflowError("nothing was submitted")
    return done.stdout


def tell_quote():
    """Print what the trainings of this call will take and cost; refuse those that could pass the budget."""
    jobs = [
        job
        for job in workflow.dag.needrun_jobs(exclude_finished=False)
        if job.rule.name == "train"
    ]
    if jobs:
        ask_quote([(str(job.output.run), get_cell(job.wildcards)) for job in jobs])


def get_affordable(runs):
    """The runs that are there, and of the others those that the budget pays for at worst, the cheapest first."""
    missing = [run for run in runs if not Path(run, "run.json").is_file()]
    if BUDGET_USD is None or not missing or not workflow.is_main_process:
        return runs
    allowed = json.loads(
        ask_quote(
            [
                (run, CELLS[str(Path(run).parent.relative_to(f"results/{NAME}"))])
                for run in missing
            ],
            "--allow",
        )
    )
    return [run for run in runs if run not in missing or run in allowed]


def tell_quote_of_dry_run():
    if workflow.dryrun:
        tell_quote()


# Snakemake has no hook that a dry run reaches.
if workflow.is_main_process:
    atexit.register(tell_quote_of_dry_run)

asked_for = len(RUNS)
RUNS = get_affordable(RUNS)
if asked_for and not RUNS and not KEPT:
    sys.exit(
        f"error: budget_usd: {BUDGET_USD:g}: no run is sure to cost less; max_run_minutes of the study limits each"
    )

# A single run has no spread, and needs no second look.
JUDGED = bool(RUNS) and settings["repeats"] > 1

# The machines that the profile reaches, the cheapest first; whoever trains a run is told.
if config["reach"] != "local" and CELLS and workflow.is_main_process:
    reached = [(cell.path, cell) for cell in CELLS.values() if is_reached(cell)]
    os.environ |= {"EPOCHS_MACHINES": ask_quote(reached, "--machines")}
MACHINES = json.loads(os.environ.get("EPOCHS_MACHINES", "[]"))


def get_priority(wildcards):
    """In rounds, A B C A B C: what changes on the machine in time meets all cells alike. On clusters the cheapest first."""
    rank = MACHINES.index(wildcards.hardware) if wildcards.hardware in MACHINES else 0
    return (10_000 - int(wildcards.repeat)) * 1000 - rank
