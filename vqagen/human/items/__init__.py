"""Items for raters from questions and dialogs that vqagen made, with checks that are proven by programs."""
