def check_slurm():
    """Refuse the two settings under which Snakemake waits for ever for a job that has ended (plugin 2.8.0)."""
    if workflow.executor_settings.status_command != "squeue":
        raise WorkflowError(
            "profile slurm: slurm-status-command: squeue is needed: sacct says `CANCELLED by <uid>` of a job that was "
            "cancelled, and that is waited for in vain"
        )
    told = subprocess.run(
        ["scontrol", "show", "config"], capture_output=True, text=True
    )
    if told.returncode:
        raise WorkflowError(
            f"profile slurm: scontrol show config: {told.stderr.strip()}"
        )
    mode = re.search(r"^PreemptMode\s*=\s*(\S+)", told.stdout, re.MULTILINE)
    if mode and "CANCEL" in mode[1]:
        raise WorkflowError(
            f"profile slurm: this Slurm has PreemptMode={mode[1]}, and a job that is preempted so is waited for in vain: "
            "ask for REQUEUE, or for partitions that are not preempted"
        )
