rule summary:
    input:
        claims=f"results/{plan.name}/claims.json",
        lib=code_of("scripts.summarise"),
    output:
        f"results/{plan.name}/summary.md",
    log:
        f"results/{plan.name}/logs/summary.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    message:
        "the study in ten lines of Markdown"
    shell:
        "python -m scripts.summarise {input.claims:q} {output:q} 2>&1 | tee {log}"
