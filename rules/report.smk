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
    message:
        "collect the runs"
    shell:
        "python -m scripts.collect {input.runs} --folder results/{wildcards.study} "
        "--runs {output.runs} --epochs {output.epochs} 2> {log}"


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
    message:
        "price the runs"
    shell:
        "python -m scripts.price {input.runs} {input.hardware} {output.costs} 2> {log}"


rule chart:
    input:
        runs="results/{study}/runs.parquet",
        epochs="results/{study}/epochs.parquet",
        costs="results/{study}/costs.parquet",
        hardware="config/hardware.yaml",
        lib=[
            "scripts/chart.py",
            "scripts/charts/{chart}.py",
            "scripts/charts/_relative.py",
            "scripts/charts/_theme.py",
        ],
    output:
        directory("results/{study}/charts/{chart}"),
    log:
        "results/{study}/logs/chart-{chart}.log",
    message:
        "draw {wildcards.chart}"
    params:
        study=STUDY_JSON,
    shell:
        "python -m scripts.chart {wildcards.chart} --study {params.study:q} --hardware {input.hardware} "
        "--runs {input.runs} --epochs {input.epochs} --costs {input.costs} --output {output} 2> {log}"


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
        lib=["scripts/report.py", "reports/report.html.j2", "reports/style.css"],
    output:
        "results/{study}/report.html",
    log:
        "results/{study}/logs/report.log",
    message:
        "write the report"
    params:
        study=STUDY_JSON,
    shell:
        "python -m scripts.report {output} --study {params.study:q} --hardware {input.hardware} "
        "--runs {input.runs} --costs {input.costs} --charts {input.charts} 2> {log}"
