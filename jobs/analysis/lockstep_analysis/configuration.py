"""The configuration of a run by key: gpu.sm.count, tenants.0.name; a policy's name by its key alone."""


def by_key(text):
    """`text` is /config: YAML of maps and lists, each deeper by two columns."""
    values, path = {}, []  # path: (column, word); items of a list count from 0
    for line in text.splitlines():
        words = line.strip()
        column = len(line) - len(line.lstrip())
        if words.startswith("- "):
            number = 0
            while path and path[-1][0] >= column:
                last = path.pop()
                number = last[1] + 1 if last[0] == column else number
            path.append((column, number))
            words, column = words[2:], column + 2
        key, _, value = words.partition(":")
        while path and path[-1][0] >= column:
            path.pop()
        path.append((column, key))
        if value.strip():
            values[".".join(str(word) for _, word in path)] = value.strip()
    return {_policy(key): value for key, value in values.items()}


def differences(one, other):
    """{key: (value of the one, value of the other)}, without the parameters of policies that differ by name."""
    first, second = by_key(one.config), by_key(other.config)
    differing = {key: (first.get(key, "-"), second.get(key, "-"))
                 for key in {**first, **second} if first.get(key) != second.get(key)}
    return {key: values for key, values in differing.items() if key.rpartition(".")[0] not in differing}


def _policy(key):
    return key.removesuffix(".name") if key.startswith("policies.") else key
