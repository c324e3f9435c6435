"""Links of raters and what proves them: the study's secret, signed tokens, pseudonyms and completion codes."""
