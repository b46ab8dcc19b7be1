"""Reports about a layout: tables, notes and differences, diagrams, and a smaller order of the members."""

from .advice import Suggestion as Suggestion
from .advice import suggest as suggest
from .drawing import diagram as diagram
from .variants import Hint as Hint
