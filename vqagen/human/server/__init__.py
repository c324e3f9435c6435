"""The server of a study: one process that shows trials to raters and acknowledges answers when they are durable."""
