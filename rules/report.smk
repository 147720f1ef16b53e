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
        repeats=plan.settings["repeats"],
        records=lambda wildcards, input: "\n".join(input.runs),
        disturbed=["--disturbed"] if plan.settings["repeat_disturbed"] else [],
    message:
        "look for runs to be measured once more"
    shell:
        # Through standard input: thousands of paths are more than a command line takes.
        "python -m scripts.find_unstable --folder results/{wildcards.study} --above {params.above:q} --repeats {params.repeats:q} "
        "{params.disturbed} --output {output:q} <<'RECORDS' |& tee {log}\n{params.records}\nRECORDS"


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
    params:
        repeats=plan.settings["repeats"],
        records=lambda wildcards, input: "\n".join(input.runs),
    message:
        "collect the runs"
    shell:
        "python -m scripts.collect --folder results/{wildcards.study} --repeats {params.repeats:q} --runs {output.runs:q} "
        "--epochs {output.epochs:q} --attempts {output.attempts:q} <<'RECORDS' |& tee {log}\n{params.records}\nRECORDS"


rule load_tables:
    input:
        runs=analyses.get_supplied("runs.csv"),
        epochs=analyses.get_supplied("epochs.csv"),
        attempts=analyses.get_supplied("attempts.csv"),
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
        study=either(analyses.supplied),
    conda:
        "../envs/workflow.yaml"
    params:
        folder=subpath(input.runs, parent=True),
    message:
        "take the runs of {wildcards.study} as they were trained"
    shell:
        "python -m scripts.load_tables {params.folder:q} --runs {output.runs:q} --epochs {output.epochs:q} "
        "--attempts {output.attempts:q} |& tee {log}"


rule price:
    input:
        runs="results/{study}/runs.parquet",
        attempts="results/{study}/attempts.parquet",
        hardware="config/hardware.yaml",
        own_hardware=OWN_HARDWARE,
        books=analyses.get_books,
        terms=books.TERMS,
        cards="config/machines.csv",
        schemas=["config/schemas/hardware.schema.json", "config/schemas/tables.yaml"],
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
        study=analyses.get_pricing,
    message:
        "price the runs of {wildcards.study}"
    shell:
        "python -m scripts.price {input.runs:q} --attempts {input.attempts:q} --study {params.study:q} --hardware {input.hardware:q} "
        "--costs {output.costs:q} --prices {output.prices:q} |& tee {log}"


rule chart:
    input:
        runs="results/{study}/runs.parquet",
        epochs="results/{study}/epochs.parquet",
        money=analyses.get_money,
        articles=analyses.get_files_of_chart,
        noise="config/noise.yaml",
        schemas="config/schemas/tables.yaml",
        lib=analyses.get_chart_code,
    output:
        # Written last and taken away first: a folder that was half taken away, by a call that was killed, lacks it.
        described="results/{study}/charts/{chart}.json",
        drawings=report(
            directory("results/{study}/charts/{chart}"),
            patterns=["{workload}.svg"],
            caption="../reports/captions/chart.rst",
            category="{study}",
            subcategory="{chart}",
            labels={"workload": "{workload}"},
        ),
    log:
        "results/{study}/logs/chart-{chart}.log",
    conda:
        "../envs/workflow.yaml"
    params:
        study=analyses.get_charted,
        names=analyses.get_names,
        controls=analyses.get_controls,
        headline=analyses.get_headline_argument,
    message:
        "draw {wildcards.chart}"
    shell:
        "python -m scripts.chart {wildcards.chart} --study {params.study:q} --names {params.names:q} "
        "--controls {params.controls:q} --runs {input.runs:q} --epochs {input.epochs:q} --money {input.money:q} {params.headline} --output {output.drawings:q} |& tee {log}"


rule elsewhere:
    input:
        runs=lambda wildcards: [f"{run}/run.json" for run in get_runs(wildcards)],
        known=estimates.MADE_FROM,
        lib=code_of("scripts.elsewhere"),
    output:
        "results/{study}/elsewhere.json",
    log:
        "results/{study}/logs/elsewhere.log",
    wildcard_constraints:
        study=either([plan.name] if plan.runs or plan.others_runs else []),
    conda:
        "../envs/workflow.yaml"
    params:
        study=analyses.get_study,
        records=lambda wildcards, input: "\n".join(input.runs),
    message:
        "estimate machines that were not measured"
    shell:
        "python -m scripts.elsewhere {output:q} --study {params.study:q} --folder results/{wildcards.study} "
        "<<'RECORDS' |& tee {log}\n{params.records}\nRECORDS"


rule report:
    input:
        runs="results/{study}/runs.parquet",
        epochs="results/{study}/epochs.parquet",
        costs="results/{study}/costs.parquet",
        prices="results/{study}/prices.parquet",
        attempts="results/{study}/attempts.parquet",
        hardware="config/hardware.yaml",
        own_hardware=OWN_HARDWARE,
        noise="config/noise.yaml",
        articles=analyses.get_article_files,
        charts=analyses.get_charts,
        drawings=analyses.get_drawings,
        words=analyses.get_words,
        facts=analyses.get_facts,
        problems=analyses.get_problems,
        others=analyses.get_others,
        elsewhere=analyses.get_elsewhere,
        offered=analyses.get_offered,
        machines="config/machines.csv",
        beside=analyses.get_beside,
        beside_facts=analyses.get_beside_facts,
        compared=analyses.get_compared,
        lib=analyses.get_report_code,
        templates=sorted(Path("reports").glob("*.j2"))
        + sorted(Path("reports/sections").glob("*.j2")),
        style="reports/style.css",
        heads="reports/heads.yaml",
        scripts=sorted(Path("reports/scripts").glob("*.js")),
        schemas=[
            f"config/schemas/{name}"
            for name in ("hardware.schema.json", "tables.yaml", "words.schema.json")
        ],
    output:
        page=report(
            "results/{study}/report.html",
            caption="../reports/captions/page.rst",
            category="{study}",
            subcategory="page",
        ),
        claims="results/{study}/claims.json",
    log:
        "results/{study}/logs/report.log",
    conda:
        "../envs/workflow.yaml"
    params:
        study=analyses.get_study,
        beside=analyses.get_beside_arguments,
        compared=analyses.get_compared_arguments,
        given=analyses.get_report_arguments,
    message:
        "write the report of {wildcards.study}"
    shell:
        "python -m scripts.report {output.page:q} --name {wildcards.study} --claims {output.claims:q} --study {params.study:q} --hardware {input.hardware:q} "
        "--runs {input.runs:q} --epochs {input.epochs:q} --costs {input.costs:q} --prices {input.prices:q} "
        "--attempts {input.attempts:q} --charts {input.charts:q} {params.given:q} {params.beside:q} {params.compared:q} |& tee {log}"
