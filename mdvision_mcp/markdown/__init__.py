"""The toolset `markdown`: index, search and read markdown, and look at one picture."""

from mdvision_mcp.markdown.index import INDEX_MD
from mdvision_mcp.markdown.read import READ_MD
from mdvision_mcp.markdown.search import SEARCH_MD
from mdvision_mcp.markdown.view import VIEW_IMAGE

TOOLS = (INDEX_MD, READ_MD, SEARCH_MD, VIEW_IMAGE)
"""The tools of this set, in the order in which they are listed."""
