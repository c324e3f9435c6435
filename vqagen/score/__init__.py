"""Items, answers and predictions; how right they are, and whether a file says what its programs say."""
