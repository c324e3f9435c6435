"""Files of other tools, made of records."""
