"""A page that shows questions, dialogs and trials with their pictures, from the disk and without a server."""
