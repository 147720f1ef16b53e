# What fails on the cheapest machine is not tried on dearer ones before it is reported.

# The rates of the machines that the profile reaches, the cheapest first.
MACHINES = {}
if config["reach"] != "local" and RUNS and workflow.is_main_process:
    MACHINES = ask_quote(RUNS, "--machines")
RANKS = {name: rank for rank, name in enumerate(MACHINES)}


def get_hardware(run):
    return find_cell(run).hardware


# The runs of each configuration, and the first one on the cheapest of several machines.
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


TRIED = [name_tried(configuration) for configuration in FIRST]


def is_current(run):
    """Whether a run is there, and was trained with the code as it is now."""
    record = Path(run, "run.json")
    cell = find_cell(run)
    code = [
        *TRAINER,
        get_workload(cell),
        *get_framework(cell),
        get_lock(cell),
    ]
    return record.is_file() and record.stat().st_mtime >= max(
        Path(file).stat().st_mtime for file in code
    )


def get_tried(configuration):
    """The runs of a configuration; when it fails on the cheapest machine, no further ones."""
    runs = CONFIGURATIONS[configuration]
    if configuration not in FIRST:
        return runs
    names = dict(zip(("workload", "framework", "variant"), configuration))
    with checkpoints.try_cheapest.get(study=NAME, **names).output[0].open() as file:
        failed = file.read()
    if not failed:
        return runs
    return [run for run in runs if run == FIRST[configuration] or is_current(run)]


def get_grid(wildcards):
    """The runs of the study, without second measurements."""
    tried = {
        run for configuration in CONFIGURATIONS for run in get_tried(configuration)
    }
    return [run for run in RUNS if run in tried]


def get_records(configuration):
    """The input function that tells the records of a configuration: each waits for its own first run alone."""
    return lambda wildcards: [f"{run}/run.json" for run in get_tried(configuration)]


def get_priority(wildcards):
    """Tier by tier, in rounds, A B C A B C: what changes on the machine in time meets all cells of a tier alike. On
    clusters the cheapest first."""
    tier = TIERS[get_cell(wildcards).path]
    later = tier * 10_000_000 + int(wildcards.repeat) * 1000
    return 1_000_000_000 - later - RANKS.get(wildcards.hardware, 0)


checkpoint try_cheapest:
    input:
        run=get_first,
        lib="scripts/try_cheapest.py",
    output:
        f"results/{{study}}/tried/{config['reach']}/{{workload}}/{{framework}}/{{variant}}.txt",
    log:
        "results/{study}/logs/tried/{workload}-{framework}-{variant}.log",
    wildcard_constraints:
        study=either([NAME] if FIRST else []),
    conda:
        "../envs/workflow.yaml"
    message:
        "see whether {wildcards.workload} with {wildcards.framework}, {wildcards.variant}, has failed on the cheapest machine"
    shell:
        "python -m scripts.try_cheapest {input.run} {output} |& tee {log}"
