rule compare:
    # Without files of its own: it ends with 1 where something got worse, and what it wrote must stay.
    log:
        "results/logs/compare.log",
    localrule: True
    conda:
        "../envs/workflow.yaml"
    params:
        states=[config["old"], config["new"]],
    message:
        "compare {params.states[1]} with {params.states[0]}"
    shell:
        "python -m scripts.compare {params.states:q} --output results/compare.html 2>&1 | tee {log}"


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
