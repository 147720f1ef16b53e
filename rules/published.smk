rule import_logs:
    input:
        logs=get_logs,
        lib=lambda wildcards: [
            "scripts/import_logs.py",
            "scripts/importers/__init__.py",
            "scripts/importers/_epochs.py",
            "scripts/importers/_logs.py",
            f"scripts/importers/{STUDIES[wildcards.study]['import']['format']}.py",
        ],
    output:
        "results/{study}/facts.csv",
    log:
        "results/{study}/logs/import.log",
    wildcard_constraints:
        study=either(name for name in SHOWN if "import" in STUDIES[name]),
    conda:
        "../envs/workflow.yaml"
    params:
        study=get_study,
        folder=config["logs_dir"],
    message:
        "import the logs of {wildcards.study}"
    shell:
        "python -m scripts.import_logs {output} --study {params.study:q} "
        "--logs-dir {params.folder:q} |& tee {log}"


rule collect_facts:
    input:
        facts=get_facts,
        lib=[
            "scripts/collect_facts.py",
            "scripts/tables.py",
            "config/schemas/tables.yaml",
        ],
    output:
        runs="results/{study}/runs.parquet",
        runs_csv="results/{study}/runs.csv",
        epochs="results/{study}/epochs.parquet",
        epochs_csv="results/{study}/epochs.csv",
    log:
        "results/{study}/logs/collect.log",
    wildcard_constraints:
        study=either(SHOWN),
    conda:
        "../envs/workflow.yaml"
    message:
        "collect the runs of {wildcards.study}"
    shell:
        "python -m scripts.collect_facts {input.facts} --runs {output.runs} --epochs {output.epochs} |& tee {log}"


rule show:
    input:
        facts=get_facts,
        others=get_others,
        runs="results/{study}/runs.parquet",
        costs="results/{study}/costs.parquet",
        prices="results/{study}/prices.parquet",
        hardware="config/hardware.yaml",
        charts=get_charts,
        lib=[
            "scripts/show.py",
            "scripts/page.py",
            "scripts/claims.py",
            "scripts/figures.py",
            "scripts/importers/audit.py",
            "reports/layout.html.j2",
            "reports/figure.html.j2",
            "reports/show.html.j2",
            "reports/style.css",
        ],
    output:
        page="results/{study}/report.html",
        claims="results/{study}/claims.json",
    log:
        "results/{study}/logs/show.log",
    wildcard_constraints:
        study=either(SHOWN),
    conda:
        "../envs/workflow.yaml"
    params:
        study=get_study,
        facts=lambda wildcards, input: (
            f"--facts {input.facts} --others {input.others}" if input.facts else ""
        ),
    message:
        "write the report of {wildcards.study}"
    shell:
        "python -m scripts.show {output.page} --name {wildcards.study} --claims {output.claims} --study {params.study:q} {params.facts} "
        "--hardware {input.hardware} --runs {input.runs} --costs {input.costs} --prices {input.prices} "
        "--charts {input.charts} |& tee {log}"


rule publish_page:
    input:
        "results/{study}/report.html",
    output:
        "reports/published/{study}.html",
    log:
        "results/{study}/logs/publish.log",
    conda:
        "../envs/workflow.yaml"
    message:
        "publish {wildcards.study}"
    shell:
        "cp {input} {output} |& tee {log}"


rule publish_index:
    input:
        claims=expand("results/{study}/claims.json", study=config["published"]),
        lib=[
            "scripts/publish.py",
            "scripts/page.py",
            "reports/layout.html.j2",
            "reports/index.html.j2",
            "reports/style.css",
        ],
    output:
        "reports/published/index.html",
    log:
        "results/logs/publish.log",
    conda:
        "../envs/workflow.yaml"
    message:
        "write the index of the published studies"
    shell:
        "python -m scripts.publish {output} {input.claims} |& tee {log}"


rule published:
    input:
        "reports/published/index.html",
        expand("reports/published/{study}.html", study=config["published"]),


rule import_published:
    input:
        expand(
            "results/{study}/facts.csv",
            study=[
                name
                for name in config["published"]
                if "commit" in STUDIES[name].get("import", {})
            ],
        ),


rule refresh_prices:
    log:
        "results/logs/refresh-prices.log",
    conda:
        "../envs/workflow.yaml"
    params:
        catalogue=f"--catalogue {config['catalogue']}" if config["catalogue"] else "",
    message:
        "refresh config/prices/current.csv"
    shell:
        "python -m scripts.refresh_prices {params.catalogue} --book config/prices/current.csv |& tee {log}"
