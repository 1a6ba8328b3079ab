"""Markdown as text alone: structure, pictures, sections, chunks. Nothing here opens anything."""
