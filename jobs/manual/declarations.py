"""The declared keys: docs/parameters.md, which lockstep_pages writes from the schemas and a test keeps current."""
import dataclasses
import pathlib
import re

import yaml


@dataclasses.dataclass(frozen=True)
class Declaration:
    key: str
    unit: str
    default: str
    meaning: str


def cells_of(line):
    return [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def declarations(root):
    """Dotted key -> Declaration: of the machine, of `simulation` and of the policies.

    A parameter that several policies of one plug point have is that of the first."""
    found, prefix = {}, ""
    for line in (pathlib.Path(root) / "docs/parameters.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            named = re.fullmatch(r"## `([\w.]+)`", line)
            prefix = named[1] if named else ""
        elif policy := re.match(r"\*\*`(policies\.\w+): ", line):
            prefix = policy[1]
        elif prefix and line.startswith("| `"):
            name, unit, default, _, meaning = cells_of(line)
            key = f"{prefix}.{name.strip('`')}"
            found.setdefault(key, Declaration(key, unit, default, meaning))
    return found


def leaves(tree, prefix):
    """Dotted key -> value of a nest of maps."""
    for name, value in tree.items():
        key = f"{prefix}.{name}"
        if isinstance(value, dict):
            yield from leaves(value, key)
        else:
            yield key, value


def settings(root, gpu="v100", host="pcie3"):
    """Dotted key -> what the files of a machine say, where they say something."""
    said = {}
    for prefix, file in (("gpu", f"gpus/{gpu}.yaml"), ("host", f"hosts/{host}.yaml")):
        text = (pathlib.Path(root) / "configs" / file).read_text(encoding="utf-8")
        said.update(leaves(yaml.safe_load(text), prefix))
    return said


def written(value):
    """A value of a YAML file as that file has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
