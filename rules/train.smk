# What decides what is trained and how it is timed: an edit there trains again.
TRAINER = [
    "scripts/train.py",
    "scripts/datasets/__init__.py",
    "scripts/workloads/__init__.py",
    "scripts/frameworks/__init__.py",
    "scripts/measurement/record.py",
    "scripts/measurement/stopwatch.py",
    "scripts/measurement/worker.py",
    "scripts/measurement/watch.py",
    "scripts/measurement/telemetry.py",
]


rule fetch_data:
    input:
        "scripts/datasets/{dataset}.py",
    output:
        ensure("data/{kind}/{dataset}.npz", non_empty=True),
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
        workload="scripts/workloads/{workload}.py",
        framework="scripts/frameworks/{framework}.py",
        lock="envs/{framework}.lock",
        data=get_data,
    output:
        run="results/{study}/{workload}/{hardware}/{framework}/b{batch}/r{repeat}/run.json",
        epochs="results/{study}/{workload}/{hardware}/{framework}/b{batch}/r{repeat}/epochs.csv",
        telemetry="results/{study}/{workload}/{hardware}/{framework}/b{batch}/r{repeat}/telemetry.csv",
    log:
        "results/{study}/{workload}/{hardware}/{framework}/b{batch}/r{repeat}/train.log",
    conda:
        "../envs/{framework}.yaml"
    # All cores: a timed run shares the machine with nothing.
    threads: workflow.cores
    params:
        arguments=get_train_arguments,
        claims=get_claims,
        folder=subpath(output.run, parent=True),
        cell="{workload}/{hardware}/{framework}/b{batch}",
    message:
        "train {wildcards.workload} on {wildcards.hardware} with {wildcards.framework}, batch {wildcards.batch}, run {wildcards.repeat}"
    shell:
        # Exit code 3: the training failed and its record says how; that is a result too.
        "python -m scripts.train {params.arguments} --output {params.folder} |& tee {log} | "
        "python -m scripts.progress results/{wildcards.study} {params.cell} || [ $? -eq 3 ]"
