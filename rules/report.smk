checkpoint find_unstable:
    input:
        runs=lambda wildcards: [f"{run}/run.json" for run in get_grid(wildcards)],
        tried=TRIED,
        lib=[
            "scripts/find_unstable.py",
            "scripts/analysis/statistics.py",
        ],
    output:
        "results/{study}/unstable.txt",
    log:
        "results/{study}/logs/find-unstable.log",
    wildcard_constraints:
        study=either([NAME] if JUDGED else []),
    conda:
        "../envs/workflow.yaml"
    params:
        above=settings["unstable_above"],
    message:
        "look for cells whose runs differ"
    shell:
        "python -m scripts.find_unstable {input.runs} --folder results/{wildcards.study} --above {params.above} "
        "--output {output} |& tee {log}"


rule collect:
    input:
        runs=lambda wildcards: [f"{run}/run.json" for run in get_runs(wildcards)],
        epochs=lambda wildcards: [f"{run}/epochs.csv" for run in get_runs(wildcards)],
        tried=TRIED,
        lib=[
            "scripts/collect.py",
            "scripts/storage/tables.py",
            "config/schemas/tables.yaml",
        ],
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
        study=either([NAME] if RUNS or KEPT else []),
    conda:
        "../envs/workflow.yaml"
    message:
        "collect the runs"
    shell:
        "python -m scripts.collect {input.runs} --folder results/{wildcards.study} "
        "--runs {output.runs} --epochs {output.epochs} --attempts {output.attempts} |& tee {log}"


rule take_trained:
    input:
        runs=get_trained("runs.csv"),
        epochs=get_trained("epochs.csv"),
        attempts=get_trained("attempts.csv"),
        lib=[
            "scripts/take_trained.py",
            "scripts/storage/tables.py",
            "config/schemas/tables.yaml",
        ],
    output:
        runs="results/{study}/runs.parquet",
        runs_csv="results/{study}/runs.csv",
        epochs="results/{study}/epochs.parquet",
        epochs_csv="results/{study}/epochs.csv",
        attempts="results/{study}/attempts.parquet",
        attempts_csv="results/{study}/attempts.csv",
    log:
        "results/{study}/logs/take-trained.log",
    wildcard_constraints:
        study=either(TRAINED),
    conda:
        "../envs/workflow.yaml"
    params:
        folder=subpath(input.runs, parent=True),
    message:
        "take the runs of {wildcards.study} as they were trained"
    shell:
        "python -m scripts.take_trained {params.folder} --runs {output.runs} --epochs {output.epochs} "
        "--attempts {output.attempts} |& tee {log}"


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
            "scripts/storage/tables.py",
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
            "scripts/charts/_view.py",
            "scripts/analysis/names.py",
            "scripts/charts/_absolute.py",
            "scripts/charts/_axis.py",
            "scripts/charts/_curves.py",
            "scripts/charts/_lines.py",
            "scripts/charts/_relative.py",
            "scripts/charts/_theme.py",
            "scripts/analysis/comparisons.py",
            "scripts/analysis/figures.py",
            "scripts/costs/office.py",
            "scripts/costs/schedule.py",
            "scripts/analysis/statistics.py",
            "scripts/storage/numbers.py",
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
        attempts="results/{study}/attempts.parquet",
        hardware="config/hardware.yaml",
        charts=get_charts,
        words=get_words,
        facts=get_facts,
        problems=get_problems,
        others=get_others,
        beside=get_beside,
        beside_facts=get_beside_facts,
        lib=code_of("scripts.report"),
        templates=sorted(Path("reports").glob("*.j2"))
        + sorted(Path("reports/sections").glob("*.j2")),
        style="reports/style.css",
        schema="config/schemas/words.schema.json",
    output:
        page="results/{study}/report.html",
        claims="results/{study}/claims.json",
    log:
        "results/{study}/logs/report.log",
    conda:
        "../envs/workflow.yaml"
    params:
        study=get_study,
        beside=get_beside_arguments,
        given=get_report_arguments,
    message:
        "write the report of {wildcards.study}"
    shell:
        "python -m scripts.report {output.page} --name {wildcards.study} --claims {output.claims} --study {params.study:q} --hardware {input.hardware} "
        "--runs {input.runs} --epochs {input.epochs} --costs {input.costs} --prices {input.prices} "
        "--attempts {input.attempts} --charts {input.charts} {params.given:q} {params.beside:q} |& tee {log}"
