"""Pictures and pages: what is measured or made, for the eye."""
