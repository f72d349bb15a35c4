"""Plays every role by rule, without a key, a network or a model.

`models` implements the port of the stages and books replies to the ledger, `rules` has one rule per role, each in the
module of the role's name; `mistakes` makes the errors of models on purpose. `conditions` and `expressions` serve the
evaluation writer; `telling/` says things in the catalogue's phrases, for the intent extractor and the summarizer; `reading/`
reads them, for the dependency judge.
"""
