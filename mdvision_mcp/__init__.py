"""mdvision as an MCP server: a thin adapter that translates the library's values."""
