# A kit: what a machine without network needs to measure a study, and the records that it brings back.


rule fetch_wheels:
    input:
        lock="envs/train.lock",
        lib=code_of("scripts.kit.fetch_wheels"),
    output:
        # As of charts: what lists them is written last and taken away first.
        names="results/kit/wheels-{python}.json",
        wheels=directory("results/kit/wheels-{python}"),
    log:
        "results/kit/wheels-{python}.log",
    wildcard_constraints:
        python=r"3\.\d+(-aarch64)?",
    conda:
        "../envs/workflow.yaml"
    message:
        "wheels for Python {wildcards.python}"
    shell:
        "python -m scripts.kit.fetch_wheels {input.lock:q} {wildcards.python} {output.wheels:q} |& tee {log}"


rule pack_data:
    input:
        data="data/real/{dataset}.npz",
        lib=code_of("scripts.kit.pack_data"),
    output:
        "results/kit/data/{dataset}.npz.xz",
    log:
        "results/kit/data/{dataset}.log",
    conda:
        "../envs/workflow.yaml"
    message:
        "compress {wildcards.dataset}"
    shell:
        "python -m scripts.kit.pack_data {input.data:q} {output:q} |& tee {log}"


rule pack_kit:
    input:
        lib=code_of("scripts.kit.pack", *contents.VERBS),
        shell="scripts/kit/run.sh",
        hardware="config/hardware.yaml",
        own_hardware=OWN_HARDWARE,
        workloads=lambda wildcards: plan.own_code,
        wheels=f"results/kit/wheels-{config['kit_python']}",
        names=f"results/kit/wheels-{config['kit_python']}.json",
        data=expand("data/real/{dataset}.npz", dataset=plan.kit_data),
        packed=expand("results/kit/data/{dataset}.npz.xz", dataset=plan.kit_data),
    output:
        "results/kit/{study}-kit.tar",
    log:
        "results/kit/{study}-kit.log",
    wildcard_constraints:
        study=either([plan.name] if plan.cells else []),
    conda:
        "../envs/workflow.yaml"
    params:
        study=analyses.get_study,
        kinds=plan.get_kinds,
        python=config["kit_python"],
    message:
        "pack the kit of {wildcards.study}"
    shell:
        "python -m scripts.kit.pack {output:q} --name {wildcards.study} --study {params.study:q} --kinds {params.kinds:q} "
        "--hardware {input.hardware:q} --wheels {input.wheels:q} --python {params.python:q} --data {input.data:q} "
        "--packed {input.packed:q} |& tee {log}"


rule kit:
    input:
        f"results/kit/{plan.name}-kit.tar",
