def ask_scontrol(*what):
    told = subprocess.run(["scontrol", "show", *what], capture_output=True, text=True)
    if told.returncode:
        raise WorkflowError(
            f"profile slurm: scontrol show {' '.join(what)}: {told.stderr.strip()}"
        )
    return told.stdout


def check_slurm():
    """Refuse the two settings under which Snakemake waits for ever for a job that has ended (plugin 2.8.0)."""
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
