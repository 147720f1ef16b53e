rule status:
    # Without files, so that it runs beside a Snakemake that trains.
    log:
        "results/logs/status.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        name=plan.name,
        study=json.dumps(plan.settings),
    message:
        "what is done, running, failed, missing"
    shell:
        "python -m scripts.status {params.name:q} --study {params.study:q} --hardware config/hardware.yaml 2> {log}"
