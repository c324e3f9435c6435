"""Items: questions, rounds of dialogs and trials, of vqagen and of other benchmarks, as one table."""
