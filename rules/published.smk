rule import_logs:
    input:
        logs=analyses.get_logs,
        lib=analyses.get_importer_code,
    output:
        facts="results/{study}/facts.csv",
        epochs="results/{study}/log-epochs.parquet",
        problems="results/{study}/problems.txt",
    log:
        "results/{study}/logs/import.log",
    wildcard_constraints:
        study=either(
            name for name in analyses.imported if "import" in analyses.studies[name]
        ),
    conda:
        "../envs/workflow.yaml"
    params:
        study=analyses.get_import,
        logs_dir=["--logs-dir", config["logs_dir"]] if config["logs_dir"] else [],
    message:
        "import the logs of {wildcards.study}"
    shell:
        "python -m scripts.import_logs {output.facts:q} --epochs {output.epochs:q} --problems {output.problems:q} --study {params.study:q} "
        "{params.logs_dir:q} |& tee {log}"


rule collect_facts:
    input:
        facts=analyses.get_facts,
        epochs=analyses.get_log_epochs,
        lib=[
            *code_of("scripts.collect_facts"),
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
        study=either(analyses.imported),
    conda:
        "../envs/workflow.yaml"
    params:
        epochs=lambda wildcards, input: (
            ["--log-epochs", input.epochs] if input.epochs else []
        ),
    message:
        "collect the runs of {wildcards.study}"
    shell:
        "python -m scripts.collect_facts {input.facts:q} {params.epochs:q} --runs {output.runs:q} --epochs {output.epochs:q} "
        "--attempts {output.attempts:q} |& tee {log}"


rule index:
    input:
        claims=expand("results/{study}/claims.json", study=config["published"]),
        lib=[
            *code_of("scripts.index"),
            "reports/layout.html.j2",
            "reports/index.html.j2",
            "reports/heads.yaml",
            "reports/style.css",
            *sorted(map(str, Path("reports/scripts").glob("*.js"))),
        ],
    output:
        "results/published.html",
    log:
        "results/logs/index.log",
    conda:
        "../envs/workflow.yaml"
    message:
        "write the index of the published studies"
    shell:
        "python -m scripts.index {output:q} {input.claims:q} |& tee {log}"


rule ledger:
    input:
        ledger="reports/ledger.csv",
        lib=[
            *code_of("scripts.ledger"),
            "reports/layout.html.j2",
            "reports/ledger.html.j2",
            "reports/heads.yaml",
            "reports/style.css",
            *sorted(map(str, Path("reports/scripts").glob("*.js"))),
        ],
    output:
        "results/ledger.html",
    log:
        "results/logs/ledger.log",
    conda:
        "../envs/workflow.yaml"
    message:
        "write the page of the ledger"
    shell:
        "python -m scripts.ledger {input.ledger:q} {output:q} |& tee {log}"


rule quote_page:
    input:
        known=[
            "reports/published/facts/lambda-gpus.csv",
            str(estimates.NVIDIAS_NETS.relative_to(estimates.ROOT)),
            *estimates.MADE_FROM,
        ],
        ledger="reports/ledger.csv",
        lib=[
            *code_of("scripts.quote"),
            "reports/layout.html.j2",
            "reports/quote.html.j2",
            "reports/style.css",
            "reports/scripts/engine.js",
            "reports/scripts/elements.js",
            "reports/scripts/estimate.js",
            "reports/scripts/quote.js",
        ],
    output:
        "results/quote.html",
    log:
        "results/logs/quote.log",
    conda:
        "../envs/workflow.yaml"
    message:
        "write the front door"
    shell:
        "python -m scripts.quote {output:q} lambda-gpus {input.ledger:q} |& tee {log}"


# No output of its own: what is committed must neither keep the pages from being made, nor be deleted before they are.
rule published:
    input:
        index="results/published.html",
        ledger="results/ledger.html",
        quote="results/quote.html",
        pages=expand("results/{study}/report.html", study=config["published"]),
    log:
        "results/logs/published.log",
    conda:
        "../envs/workflow.yaml"
    params:
        studies=config["published"],
    message:
        "publish under reports/published"
    shell:
        "(cp {input.index:q} reports/published/index.html && cp {input.ledger:q} reports/published/ledger.html && "
        "cp {input.quote:q} reports/published/quote.html && "
        'for study in {params.studies:q}; do cp "results/$study/report.html" "reports/published/$study.html"; '
        'for picture in "results/$study/charts/"*/headline.png; do '
        '[ ! -e "$picture" ] || cp "$picture" "reports/published/$study.png"; done; done) |& tee {log}'


rule import_published:
    input:
        expand(
            "results/{study}/facts.csv",
            study=[
                name
                for name in config["published"]
                if "commit" in analyses.studies[name].get("import", {})
            ],
        ),


rule refresh_prices:
    log:
        "results/logs/refresh-prices.log",
    conda:
        "../envs/workflow.yaml"
    params:
        catalogue=["--catalogue", config["catalogue"]] if config["catalogue"] else [],
        as_of=[
            f"--as-of={date}" for date in config["catalogue_as_of"].split(",") if date
        ],
        gpuhunt=["--gpuhunt", config["gpuhunt"]] if config["gpuhunt"] else [],
    message:
        "refresh config/prices/current.csv"
    shell:
        "python -m scripts.refresh_prices {params.catalogue:q} {params.as_of:q} {params.gpuhunt:q} "
        "--book config/prices/current.csv |& tee {log}"
