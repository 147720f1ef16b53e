# A study that repeats itself: who calls it, and how it went. None has files of its own.
HISTORY = "_prices" if config["what"] == "prices" else plan.name


rule schedule:
    log:
        "results/logs/schedule.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        every=config["every"],
        by=config["by"],
        what=config["what"],
        asked=lambda wildcards: json.dumps(
            quoted.asked(plan.runs) | {"asked": config["study"]}
        ),
        # What the command line said of the call is said at every trigger.
        config=[
            f"{key}={config[key]}"
            for key in ("budget_usd", "catalogue", "catalogue_as_of")
            if config[key] not in ("", None)
        ],
    message:
        "schedule {params.what} every {params.every} by {params.by}"
    shell:
        "python -m scripts.schedule --every={params.every:q} --by={params.by:q} --what={params.what:q} --config {params.config:q} "
        "<<'ASKED' 2>&1 | tee {log}\n{params.asked}\nASKED"


rule unschedule:
    log:
        "results/logs/unschedule.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        label=HISTORY,
    message:
        "remove the schedules of {params.label}"
    shell:
        "python -m scripts.unschedule {params.label:q} 2>&1 | tee {log}"


rule schedules:
    log:
        "results/logs/schedules.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    message:
        "list what is scheduled here"
    shell:
        "python -m scripts.schedules 2>&1 | tee {log}"


rule history:
    log:
        "results/logs/history.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        study=config["study"],
    message:
        "write the history of {params.study}"
    shell:
        "python -m scripts.history {params.study:q} 2>&1 | tee {log}"
