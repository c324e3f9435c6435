"""Datasets, questions, trials and dialogs in the formats of trainers and evaluators; one file a target."""
