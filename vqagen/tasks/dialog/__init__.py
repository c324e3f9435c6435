"""Multi-round dialogs about scenes."""
