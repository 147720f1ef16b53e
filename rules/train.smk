# What decides what is trained and how it is timed: an edit there trains again.
TRAINER = [
    "scripts/train.py",
    "scripts/datasets/__init__.py",
    "scripts/workloads/__init__.py",
    "scripts/frameworks/__init__.py",
    "scripts/measurement/flops.py",
    "scripts/measurement/largest.py",
    "scripts/measurement/loop.py",
    "scripts/measurement/protocol.py",
    "scripts/measurement/record.py",
    "scripts/measurement/stopwatch.py",
    "scripts/measurement/worker.py",
    "scripts/measurement/watch.py",
    "scripts/measurement/telemetry.py",
    "scripts/measurement/validators.py",
    "scripts/measurement/convergence.py",
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
        workload=get_workload,
        framework="scripts/frameworks/{framework}.py",
        lock="envs/{framework}.lock",
        data=get_data,
        searched=get_searched,
    output:
        run="results/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/run.json",
        epochs="results/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/epochs.csv",
        telemetry="results/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/telemetry.csv",
    log:
        "results/{study}/{workload}/{hardware}/{framework}/{variant}/r{repeat}/train.log",
    # In rounds, A B C A B C: what changes on the machine in time meets all cells alike.
    priority: lambda wildcards: 10_000 - int(wildcards.repeat)
    conda:
        "../envs/{framework}.yaml"
    # All cores: a timed run shares the machine with nothing.
    threads: workflow.cores
    params:
        arguments=get_train_arguments,
        claims=get_claims,
        folder=subpath(output.run, parent=True),
        cell="{workload}/{hardware}/{framework}/{variant}",
    message:
        "train {wildcards.workload} on {wildcards.hardware} with {wildcards.framework}, {wildcards.variant}, run {wildcards.repeat}"
    shell:
        # Exit code 3: the training failed and its record says how; that is a result too.
        "python -m scripts.train {params.arguments} --output {params.folder} |& tee {log} | "
        "python -m scripts.progress results/{wildcards.study} {params.cell} || [ $? -eq 3 ]"
