"""Reports: a smaller order for a struct, and a picture of its record."""

from .advice import Suggestion as Suggestion
from .advice import suggest as suggest
from .drawing import diagram as diagram
from .hints import Hint as Hint
