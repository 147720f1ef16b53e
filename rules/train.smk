rule fetch_data:
    input:
        "scripts/datasets/{dataset}.py",
    output:
        "data/{kind}/{dataset}.npz",
    log:
        "data/logs/{kind}-{dataset}.log",
    wildcard_constraints:
        kind="real|synthetic",
    conda:
        "../envs/workflow.yaml"
    message:
        "data set {wildcards.dataset} ({wildcards.kind})"
    shell:
        "python -m scripts.fetch {wildcards.dataset} {wildcards.kind} {output} |& tee {log}"


rule train:
    input:
        trainer=TRAINER,
        workload=get_workload,
        framework=get_framework,
        lock=get_lock,
        data=get_data,
        searched=get_searched,
    output:
        run="<trained>/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/run.json",
        epochs="<trained>/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/epochs.csv",
        telemetry="<trained>/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/telemetry.csv",
    log:
        "<trained>/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/train.log",
    # What others have trained is taken as it is.
    wildcard_constraints:
        hardware=either(name for name in CATALOGUE if name not in UNREACHED),
    priority: get_priority
    conda:
        "../envs/{framework}.yaml"
    threads: get_threads
    resources:
        **SUBMISSION,
        # The run ends itself; this is for one that cannot.
        runtime=ceil(settings["max_run_minutes"]) + 15,
        image=get_image,
        labels=get_labels,
    params:
        arguments=get_train_arguments,
        files=get_files,
        claims=get_claims,
        folder=subpath(output.run, parent=True),
        cell="{workload}/{hardware}/{framework}/{variant}",
    message:
        "train {wildcards.workload} on {wildcards.hardware} with {wildcards.framework}, {wildcards.variant}, run {wildcards.repeat}"
    shell:
        # Exit code 3: the training failed and its record says how; that is a result too.
        # What tells the training that its machine is taken away must not end those who wait for it.
        "trap '' TERM; "
        "python -m scripts.train {params.arguments} {params.files} --output {params.folder} |& tee {log} | "
        "python -m scripts.workflow.progress results/{wildcards.study} {params.cell} || [ $? -eq 3 ]"


if BUCKET:

    rule bring:
        input:
            run="runs/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/run.json",
            epochs="runs/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/epochs.csv",
            telemetry="runs/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/telemetry.csv",
        output:
            run="results/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/run.json",
            epochs="results/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/epochs.csv",
            telemetry="results/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/telemetry.csv",
        log:
            "results/{study}/logs/bring/{workload}-{hardware}-{framework}-{variant}-r{repeat}.log",
        wildcard_constraints:
            hardware=either(name for name in CATALOGUE if name not in UNREACHED),
        localrule: True
        conda:
            "../envs/workflow.yaml"
        params:
            folder=subpath(output.run, parent=True),
        message:
            "bring {wildcards.workload} on {wildcards.hardware} with {wildcards.framework}, {wildcards.variant}, run {wildcards.repeat}"
        shell:
            # The record comes last: where it is, the others are whole.
            "cp {input.epochs} {input.telemetry} {params.folder} 2> {log} && "
            "cp {input.run} {output.run}.new 2>> {log} && mv {output.run}.new {output.run}"
