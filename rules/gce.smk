def name_image(wildcards):
    return f"{wildcards.framework}-{'gpu' if has_gpus(wildcards) else 'cpu'}"


def get_image(wildcards):
    """The image of a cell's framework, by its digest, as envs/images.sh has noted it."""
    images = Path("envs/images.yaml")
    known = yaml.safe_load(images.read_text()) if images.is_file() else {}
    return known.get(name_image(wildcards), "")


def get_labels(wildcards):
    """What a bill can be split by."""
    return ",".join(
        f"{name}={value}" for name, value in [("study", NAME), *wildcards.items()]
    )


def check_images():
    """Refuse to submit jobs whose image nobody has built."""
    if workflow.executor_settings.image:
        return
    jobs = [job for job in workflow.dag.needrun_jobs() if job.rule.name == "train"]
    missing = {
        name_image(job.wildcards) for job in jobs if not get_image(job.wildcards)
    }
    if missing:
        names = " ".join(sorted(missing))
        raise WorkflowError(
            f"envs/images.yaml: there is no {names}: run envs/images.sh {names}"
        )
