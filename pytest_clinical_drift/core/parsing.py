"""YAML and JSON that users write, read strictly: a key that occurs twice is a fault, and so is NaN."""

import json
import math
from pathlib import Path
from typing import Any

import yaml

from pytest_clinical_drift.core.text import shortened
from pytest_clinical_drift.errors import InputError

_SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class StrictLoader(_SAFE):  # type: ignore[misc]  # one of two classes, whichever PyYAML was built with
    """Safe, and a key that occurs twice is a fault: otherwise the last one would win silently."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._as_written: set[int] = set()

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """PyYAML calls it before it merges anything into a mapping; keys from `<<` may occur again."""
        if id(node) not in self._as_written:
            self._as_written.add(id(node))
            keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            names = [(key.tag, key.value) for key in keys]
            for place, key in enumerate(keys):
                if names[place] in names[:place]:
                    twice = f"{key.value!r} is given twice"
                    raise yaml.constructor.ConstructorError(problem=twice, problem_mark=key.start_mark)
        super().flatten_mapping(node)


class JSONFault(ValueError):
    """JSON that Python reads and the standard does not allow, or leaves open."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.msg = message


def parse_data(file: Path, text: str) -> Any:
    """The content of a YAML or JSON file; InputError with its line if it is neither."""
    try:
        if file.suffix == ".json":
            return parse_json(text)
        return yaml.load(text, Loader=StrictLoader)
    except json.JSONDecodeError as error:
        raise InputError(f"{file}, line {error.lineno}: not valid JSON ({error.msg})") from None
    except RecursionError:
        raise InputError(f"{file}: nested too deeply to be read") from None
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError) as error:
        # PyYAML lets a wrong value behind a tag (`!!timestamp x`, `!!bool x`) fail in whatever way it happens to
        raise _not_valid(file, error) from None


def _not_valid(file: Path, error: Exception) -> InputError:
    mark = getattr(error, "problem_mark", None)
    place = f", line {mark.line + 1}" if mark else ""
    problem = getattr(error, "problem", None) or str(error) or type(error).__name__
    form = "JSON" if file.suffix == ".json" else "YAML"
    return InputError(f"{file}{place}: not valid {form} ({problem})")


def parse_json(text: str) -> Any:
    """Strict JSON: a key that occurs twice, NaN, Infinity and 1e999 are a JSONFault."""
    return json.loads(text, object_pairs_hook=each_once, parse_constant=_finite, parse_float=_finite)


def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs, for `json.loads`: otherwise the last of two equal keys would win silently."""
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise JSONFault(f"{shortened(twice)} is given twice")
    return content


def _finite(name: str) -> float:
    value = float(name)
    if not math.isfinite(value):
        raise JSONFault(f"{name[:20]} is not a finite number")
    return value
