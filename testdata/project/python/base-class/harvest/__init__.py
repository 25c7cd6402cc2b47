from .base import Source
from .weather import Weather

__all__ = ["Source", "Weather"]
