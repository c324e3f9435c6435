"""The catalogue of the director task as its author sees it: find, change, check and show its entries."""
