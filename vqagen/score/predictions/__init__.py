"""Predictions: the answers of a model, read from the files of many tools."""
