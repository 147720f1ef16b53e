checkpoint find_unstable:
    input:
        runs=lambda wildcards: [f"{run}/run.json" for run in get_grid(wildcards)],
        tried=canary.notes(),
        lib=code_of("scripts.find_unstable"),
    output:
        "results/{study}/unstable.txt",
    log:
        "results/{study}/logs/find-unstable.log",
    wildcard_constraints:
        study=either([plan.name] if plan.is_judged else []),
    conda:
        "../envs/workflow.yaml"
    params:
        above=plan.settings["unstable_above"],
    message:
        "look for cells whose runs differ"
    shell:
        "python -m scripts.find_unstable {input.runs} --folder results/{wildcards.study} --above {params.above} "
        "--output {output} |& tee {log}"


rule collect:
    input:
        runs=lambda wildcards: [f"{run}/run.json" for run in get_runs(wildcards)],
        epochs=lambda wildcards: [f"{run}/epochs.csv" for run in get_runs(wildcards)],
        tried=canary.notes(),
        lib=[
            *code_of("scripts.collect"),
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
        study=either([plan.name] if plan.runs or plan.others_runs else []),
    conda:
        "../envs/workflow.yaml"
    message:
        "collect the runs"
    shell:
        "python -m scripts.collect {input.runs} --folder results/{wildcards.study} "
        "--runs {output.runs} --epochs {output.epochs} --attempts {output.attempts} |& tee {log}"


rule load_tables:
    input:
        runs=plan.get_brought("runs.csv"),
        epochs=plan.get_brought("epochs.csv"),
        attempts=plan.get_brought("attempts.csv"),
        lib=[
            *code_of("scripts.load_tables"),
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
        "results/{study}/logs/load-tables.log",
    wildcard_constraints:
        study=either(plan.brought),
    conda:
        "../envs/workflow.yaml"
    params:
        folder=subpath(input.runs, parent=True),
    message:
        "take the runs of {wildcards.study} as they were trained"
    shell:
        "python -m scripts.load_tables {params.folder} --runs {output.runs} --epochs {output.epochs} "
        "--attempts {output.attempts} |& tee {log}"


rule price:
    input:
        runs="results/{study}/runs.parquet",
        attempts="results/{study}/attempts.parquet",
        hardware="config/hardware.yaml",
        books=plan.get_books,
        terms=["config/prices/billing.csv", "config/prices/currencies.csv"],
        lib=code_of("scripts.price"),
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
        study=plan.get_pricing,
    message:
        "price the runs of {wildcards.study}"
    shell:
        "python -m scripts.price {input.runs} --attempts {input.attempts} --study {params.study:q} --hardware {input.hardware} "
        "--costs {output.costs} --prices {output.prices} |& tee {log}"


rule chart:
    input:
        runs="results/{study}/runs.parquet",
        epochs="results/{study}/epochs.parquet",
        money=plan.get_money,
        lib=plan.get_chart_code,
    output:
        directory("results/{study}/charts/{chart}"),
    log:
        "results/{study}/logs/chart-{chart}.log",
    conda:
        "../envs/workflow.yaml"
    params:
        study=plan.get_charted,
        names=plan.get_names,
    message:
        "draw {wildcards.chart}"
    shell:
        "python -m scripts.chart {wildcards.chart} --study {params.study:q} --names {params.names:q} "
        "--runs {input.runs} --epochs {input.epochs} --money {input.money} --output {output} |& tee {log}"


rule report:
    input:
        runs="results/{study}/runs.parquet",
        epochs="results/{study}/epochs.parquet",
        costs="results/{study}/costs.parquet",
        prices="results/{study}/prices.parquet",
        attempts="results/{study}/attempts.parquet",
        hardware="config/hardware.yaml",
        charts=plan.get_charts,
        words=plan.get_words,
        facts=plan.get_facts,
        problems=plan.get_problems,
        others=plan.get_others,
        beside=plan.get_beside,
        beside_facts=plan.get_beside_facts,
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
        study=plan.get_study,
        beside=plan.get_beside_arguments,
        given=plan.get_report_arguments,
    message:
        "write the report of {wildcards.study}"
    shell:
        "python -m scripts.report {output.page} --name {wildcards.study} --claims {output.claims} --study {params.study:q} --hardware {input.hardware} "
        "--runs {input.runs} --epochs {input.epochs} --costs {input.costs} --prices {input.prices} "
        "--attempts {input.attempts} --charts {input.charts} {params.given:q} {params.beside:q} |& tee {log}"
