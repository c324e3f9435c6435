"""Reports of scores: tables, and the formats they are written in."""
