"""Gold: what is to be answered, read from the files of vqagen and from those of other benchmarks."""
