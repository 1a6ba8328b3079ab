"""The door in: access policy, files, pages, and what documents name."""
