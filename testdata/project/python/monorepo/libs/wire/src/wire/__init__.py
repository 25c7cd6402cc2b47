from ._http import get_text as text

__all__ = ["text"]
