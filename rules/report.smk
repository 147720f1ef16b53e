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
        attempts="results/{study}/attempts.parquet",
        attempts_csv="results/{study}/attempts.csv",
    log:
        "results/{study}/logs/collect.log",
    wildcard_constraints:
        study=either([NAME] if RUNS else []),
    conda:
        "../envs/workflow.yaml"
    message:
        "collect the runs"
    shell:
        "python -m scripts.collect {input.runs} --folder results/{wildcards.study} "
        "--runs {output.runs} --epochs {output.epochs} --attempts {output.attempts} |& tee {log}"


rule price:
    input:
        runs="results/{study}/runs.parquet",
        attempts="results/{study}/attempts.parquet",
        hardware="config/hardware.yaml",
        books=get_books,
        terms=["config/prices/billing.csv", "config/prices/currencies.csv"],
        lib=[
            "scripts/price.py",
            "scripts/costs/prices.py",
            "scripts/costs/book.py",
            "scripts/costs/billing.py",
            "scripts/costs/outcomes.py",
            "scripts/costs/ownership.py",
            "scripts/costs/spot.py",
            "scripts/tables.py",
        ],
    output:
        costs="results/{study}/costs.parquet",
        costs_csv="results/{study}/costs.csv",
        prices="results/{study}/prices.parquet",
        prices_csv="results/{study}/prices.csv",
    log:
        "results/{study}/logs/price.log",
    conda:
        "../envs/workflow.yaml"
    params:
        study=get_pricing,
    message:
        "price the runs of {wildcards.study}"
    shell:
        "python -m scripts.price {input.runs} --attempts {input.attempts} --study {params.study:q} --hardware {input.hardware} "
        "--costs {output.costs} --prices {output.prices} |& tee {log}"


rule chart:
    input:
        runs="results/{study}/runs.parquet",
        epochs="results/{study}/epochs.parquet",
        costs="results/{study}/costs.parquet",
        prices="results/{study}/prices.parquet",
        hardware="config/hardware.yaml",
        lib=[
            "scripts/chart.py",
            "scripts/charts/__init__.py",
            "scripts/charts/_absolute.py",
            "scripts/charts/_lines.py",
            "scripts/charts/_relative.py",
            "scripts/charts/_theme.py",
            "scripts/figures.py",
            "scripts/costs/office.py",
            "scripts/costs/schedule.py",
            "scripts/numbers.py",
        ],
        module=lambda wildcards: f"scripts/charts/{wildcards.chart.partition('.')[0]}.py",
    output:
        directory("results/{study}/charts/{chart}"),
    log:
        "results/{study}/logs/chart-{chart}.log",
    conda:
        "../envs/workflow.yaml"
    params:
        study=get_study,
    message:
        "draw {wildcards.chart}"
    shell:
        "python -m scripts.chart {wildcards.chart} --study {params.study:q} --hardware {input.hardware} "
        "--runs {input.runs} --epochs {input.epochs} --costs {input.costs} --prices {input.prices} "
        "--output {output} |& tee {log}"


rule report:
    input:
        runs="results/{study}/runs.parquet",
        epochs="results/{study}/epochs.parquet",
        costs="results/{study}/costs.parquet",
        prices="results/{study}/prices.parquet",
        hardware="config/hardware.yaml",
        charts=get_charts,
        lib=[
            "scripts/report.py",
            "scripts/page.py",
            "scripts/summary.py",
            "scripts/costs/outcomes.py",
            "scripts/costs/ownership.py",
            "scripts/costs/uncertainty.py",
            "reports/layout.html.j2",
            "reports/figure.html.j2",
            "reports/report.html.j2",
            "reports/style.css",
        ],
    output:
        "results/{study}/report.html",
    log:
        "results/{study}/logs/report.log",
    wildcard_constraints:
        study=either([NAME] if RUNS else []),
    conda:
        "../envs/workflow.yaml"
    params:
        study=get_study,
    message:
        "write the report"
    shell:
        "python -m scripts.report {output} --study {params.study:q} --hardware {input.hardware} "
        "--runs {input.runs} --epochs {input.epochs} --costs {input.costs} --prices {input.prices} "
        "--charts {input.charts} |& tee {log}"
