def ask_scontrol(*what):
    told = subprocess.run(["scontrol", "show", *what], capture_output=True, text=True)
    if told.returncode:
        raise WorkflowError(
            f"profile slurm: scontrol show {' '.join(what)}: {told.stderr.strip()}"
        )
    return told.stdout


def check_arrays():
    """Refuse arrays of jobs that are not alike: all would get the first one's resources, or wait for one another."""
    asked = re.split(r"[,;\s]+", workflow.executor_settings.array_jobs or "")
    if not {"all", "train"} & set(asked):
        return
    machines = sorted({get_hardware(run) for run in RUNS})
    if len(machines) > 1:
        raise WorkflowError(
            "profile slurm: --slurm-array-jobs: an array is of one machine, and this call has several "
            f"({', '.join(machines)}): choose one by --config 'hardware=[{machines[0]}]'"
        )
    if settings["repeats"] > 1 and "largest" in settings["batch_sizes"]:
        raise WorkflowError(
            "profile slurm: --slurm-array-jobs: with the batch size `largest` later runs wait for the first one, and an "
            "array would wait for all"
        )


def check_slurm():
    """Refuse the settings under which Snakemake waits for ever for a job that has ended (plugin 2.8.0)."""
    check_arrays()
    if workflow.executor_settings.status_command != "squeue":
        raise WorkflowError(
            "profile slurm: slurm-status-command: squeue is needed: sacct says `CANCELLED by <uid>` of a job that was "
            "cancelled, and that is waited for in vain"
        )
    modes = {"this Slurm": ask_scontrol("config")}
    for machine in {get_hardware(run) for run in RUNS}:
        partition = CATALOGUE[machine]["clusters"]["slurm"].get("slurm_partition")
        if partition:
            modes[f"partition {partition}"] = ask_scontrol("partition", partition)
    for name, told in modes.items():
        mode = re.search(r"\bPreemptMode\s*=\s*(\S+)", told)
        if mode and "CANCEL" in mode[1]:
            raise WorkflowError(
                f"profile slurm: {name} has PreemptMode={mode[1]}, and a job that is preempted so is waited for in vain: "
                "ask for REQUEUE, or for partitions that are not preempted"
            )
