"""Pictures: what bytes are, how large a picture may be, and the codec that makes it so."""
