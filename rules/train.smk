rule fetch_data:
    output:
        "data/{kind}/{dataset}.npz",
    log:
        "data/logs/{kind}-{dataset}.log",
    wildcard_constraints:
        kind="real|synthetic",
    conda:
        "../envs/workflow.yaml"
    params:
        # What the module means: its text and its time fetch nothing again.
        code=lambda wildcards: meaning(
            Path(f"scripts/datasets/{wildcards.dataset}.py").resolve()
        ),
    message:
        "data set {wildcards.dataset} ({wildcards.kind})"
    shell:
        "python -m scripts.fetch_data {wildcards.dataset} {wildcards.kind} {output:q} |& tee {log}"


rule train:
    input:
        # Neither time nor text of a file trains again: `code` below says what would train otherwise. Other data do.
        data=lambda wildcards: (
            plan.get_data(wildcards)
            if plan.has_other_data(wildcards)
            else ancient(plan.get_data(wildcards))
        ),
        searched=lambda wildcards: ancient(plan.get_searched(wildcards)),
    output:
        run="<trained>/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/run.json",
        epochs="<trained>/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/epochs.csv",
        telemetry="<trained>/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/telemetry.csv",
    log:
        "<trained>/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/train.log",
    # What others have trained is taken as it is.
    wildcard_constraints:
        hardware=either(name for name in plan.catalogue if name not in plan.unreached),
    priority: canary.get_priority
    conda:
        "../envs/{framework}.yaml"
    # All cores: a timed run shares the machine with nothing.
    threads:
        lambda wildcards: (
            workflow.cores if plan.profile == "local" else plan.get_cores(wildcards)
        )
    resources:
        **plan.submission(),
        runtime=plan.get_runtime,
        container=lambda wildcards: checks.image(plan.get_image_name(wildcards)),
        labels=plan.get_labels,
    params:
        module=plan.get_module,
        arguments=plan.get_arguments,
        files=plan.get_files,
        claims=plan.get_claims,
        code=plan.get_code,
        folder=subpath(output.run, parent=True),
        cell="{workload}/{hardware}/{framework}/{variant}",
    message:
        "train {wildcards.workload} on {wildcards.hardware} with {wildcards.framework}, {wildcards.variant}, run {wildcards.repeat}"
    shell:
        # Exit code 3: the training failed and its record says how; that is a result too.
        # What warns the training that its machine is preempted must not end those who wait for it.
        "trap '' TERM; "
        "python -m {params.module} {params.arguments:q} {params.files:q} --code {params.code:q} --output {params.folder:q} |& tee {log} | "
        # Whatever becomes of what a person sees, the training goes on.
        "{{ python -m scripts.workflow.progress results/{wildcards.study} {params.cell:q} || cat > /dev/null; }} || [ $? -eq 3 ]"


if BUCKET:

    rule copy_from_bucket:
        input:
            run="runs/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/run.json",
            epochs="runs/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/epochs.csv",
            telemetry="runs/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/telemetry.csv",
        output:
            run="results/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/run.json",
            epochs="results/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/epochs.csv",
            telemetry="results/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/telemetry.csv",
        log:
            "results/{study}/logs/copy-from-bucket/{workload}-{hardware}-{framework}-{variant}-r{repeat}.log",
        wildcard_constraints:
            hardware=either(
                name for name in plan.catalogue if name not in plan.unreached
            ),
        localrule: True
        conda:
            "../envs/workflow.yaml"
        params:
            folder=subpath(output.run, parent=True),
        message:
            "copy {wildcards.workload} on {wildcards.hardware} with {wildcards.framework}, {wildcards.variant}, run {wildcards.repeat}"
        shell:
            # The record comes last: where it is, the others are whole.
            "cp {input.epochs:q} {input.telemetry:q} {params.folder:q} 2> {log} && "
            "cp {input.run:q} {output.run:q}.new 2>> {log} && mv {output.run:q}.new {output.run:q}"
