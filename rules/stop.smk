rule stop_all:
    # Without files, so that it runs beside a Snakemake that waits for the jobs.
    log:
        "results/logs/stop-all.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        study=plan.name,
        profile=plan.profile,
        google=get_google,
        others=["--others", *plan.other_profiles] if plan.other_profiles else [],
    message:
        "end the jobs of {params.study}"
    shell:
        "python -m scripts.stop_all {params.study:q} --profile {params.profile:q} {params.google:q} {params.others:q} |& tee {log}"
