"""The wing of single articles: one folder for each key of a study that only published studies have.

A folder is named as its key of a study, or of a study's machines; `scripts.studies.articles` finds it, and loads it
for a study that has the key. It may hold

- `model.py`: `VALUE`, the type of the key's value, and `MEANING`; `ALONE = True` where a study may show nothing else;
  `files(study)`, the files that the article is worked out of beside the study's tables
- `given.py`: `read(study)`, what those files hold
- `figures.py`: `tables(study, runs, costs, prices, given)`, the tables that it derives; `readable(derived)`, those that
  people read in another form; `figures(study, derived, given)`, the figures that claims may name. All but `tables` may
  be left out
- `charts/`: charts as those of `scripts/charts/`
"""
