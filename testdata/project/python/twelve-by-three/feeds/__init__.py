from .transport import fetch

__all__ = ["fetch"]
