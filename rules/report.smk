STUDY_JSON = json.dumps(STUDY.config, sort_keys=True)


rule collect:
    input:
        runs=[f"{run}/run.json" for run in RUNS],
        epochs=[f"{run}/epochs.csv" for run in RUNS],
        lib=["scripts/collect.py", "scripts/tables.py", "config/schemas/tables.yaml"],
    output:
        runs="results/{study}/runs.parquet",
        runs_csv="results/{study}/runs.csv",
        epochs="results/{study}/epochs.parquet",
        epochs_csv="results/{study}/epochs.csv",
    log:
        "results/{study}/logs/collect.log",
    conda:
        "../envs/workflow.yaml"
    message:
        "collect the runs"
    shell:
        "python -m scripts.collect {input.runs} --folder results/{wildcards.study} "
        "--runs {output.runs} --epochs {output.epochs} |& tee {log}"


rule price:
    input:
        runs="results/{study}/runs.parquet",
        hardware="config/hardware.yaml",
        lib=["scripts/price.py", "scripts/costs/prices.py", "scripts/tables.py"],
    output:
        costs="results/{study}/costs.parquet",
        costs_csv="results/{study}/costs.csv",
    log:
        "results/{study}/logs/price.log",
    conda:
        "../envs/workflow.yaml"
    message:
        "price the runs"
    shell:
        "python -m scripts.price {input.runs} {input.hardware} {output.costs} |& tee {log}"


rule chart:
    input:
        runs="results/{study}/runs.parquet",
        epochs="results/{study}/epochs.parquet",
        costs="results/{study}/costs.parquet",
        hardware="config/hardware.yaml",
        lib=[
            "scripts/chart.py",
            "scripts/charts/__init__.py",
            "scripts/charts/{chart}.py",
            "scripts/charts/_relative.py",
            "scripts/charts/_theme.py",
            "scripts/numbers.py",
        ],
    output:
        directory("results/{study}/charts/{chart}"),
    log:
        "results/{study}/logs/chart-{chart}.log",
    conda:
        "../envs/workflow.yaml"
    params:
        study=STUDY_JSON,
    message:
        "draw {wildcards.chart}"
    shell:
        "python -m scripts.chart {wildcards.chart} --study {params.study:q} --hardware {input.hardware} "
        "--runs {input.runs} --epochs {input.epochs} --costs {input.costs} --output {output} |& tee {log}"


rule report:
    input:
        runs="results/{study}/runs.parquet",
        costs="results/{study}/costs.parquet",
        hardware="config/hardware.yaml",
        charts=expand(
            "results/{study}/charts/{chart}",
            chart=STUDY.config["charts"],
            allow_missing=True,
        ),
        lib=[
            "scripts/report.py",
            "scripts/summary.py",
            "reports/report.html.j2",
            "reports/style.css",
        ],
    output:
        "results/{study}/report.html",
    log:
        "results/{study}/logs/report.log",
    conda:
        "../envs/workflow.yaml"
    params:
        study=STUDY_JSON,
    message:
        "write the report"
    shell:
        "python -m scripts.report {output} --study {params.study:q} --hardware {input.hardware} "
        "--runs {input.runs} --costs {input.costs} --charts {input.charts} |& tee {log}"
