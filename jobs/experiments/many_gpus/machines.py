"""Scenarios of several GPUs, and what came of them."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import sweeps  # noqa: E402

CONFIGS = sweeps.REPOSITORY / "configs"


def scenario(gpu, gpus, tenants, fabric=None, policies=None, override=None, epoch="100us", more=""):
    """`tenants`: texts of their maps; workloads by the names of shipped ones, or files of the folder (name.yaml). GPUs
    that an override names by number are written one by one."""
    file = f"{CONFIGS}/gpus/{gpu}.yaml"
    alike = not any(key.startswith("gpus.") for key in override or {})
    text = f"gpu: {file}\ngpus: {gpus}\n" if alike else f"gpus: [{', '.join([file] * gpus)}]\n"
    text += f"host: {CONFIGS}/hosts/pcie3.yaml\n"
    text += f"fabric: {CONFIGS}/fabrics/{fabric}.yaml\n" * bool(fabric)
    text += f"simulation: {{epoch: {epoch}, seed: 1}}\n{more}"
    for title, entries in (("policies", policies), ("override", override)):
        listed = ", ".join(f"{key}: {value}" for key, value in (entries or {}).items())
        text += f"{title}: {{{listed}}}\n" * bool(entries)
    return text + "tenants:\n" + "".join(f"  - {{{tenant}}}\n" for tenant in tenants)


def tenant(name, workload, parameters=None, **more):
    """A tenant's map; `workload`: a shipped one, or name.yaml of the folder."""
    file = workload if workload.endswith(".yaml") else f"{CONFIGS}/workloads/{workload}.yaml"
    listed = ", ".join(f"{key}: {value}" for key, value in (parameters or {}).items())
    keys = {"parameters": f"{{{listed}}}"} if parameters else {}
    keys |= {key: str(value).lower() if isinstance(value, bool) else value for key, value in more.items()}
    return ", ".join([f"name: {name}", f"workload: {file}", *(f"{key}: {value}" for key, value in keys.items())])


def output(arguments, name):
    return sweeps.open_output(arguments.folder.resolve() / "output" / f"{name}.h5")


@sweeps.blank_if_missing()
def turnaround(arguments, run, name):
    """Femtoseconds from a tenant's arrival to its end: those of the first time where it starts over."""
    with output(arguments, run) as file:
        rows = file["tenants"][:]
    row = rows[rows["tenant"] == name.encode()][0]
    end = int(row["end"])
    return float(end - int(row["arrival"])) if end < 2**63 - 1 else float("nan")


@sweeps.blank_if_missing()
def kernel_time(arguments, run, name):
    """Mean femtoseconds of a tenant's kernels that ended before the first tenant of the scenario did, which is another
    one: how fast one gets on that starts over."""
    with output(arguments, run) as file:
        kernels, tenants = file["kernels"][:], file["tenants"][:]
    number = list(tenants["tenant"]).index(name.encode())
    own = kernels[(kernels["tenant"] == number) & (kernels["done"] <= int(tenants["end"][0]))]
    return float((own["done"] - own["launched"]).mean()) if len(own) else float("nan")


def slower(beside, alone):
    """By how much, in percent."""
    return 100 * (beside / alone - 1)


def run_or_show(text, folder, scenarios, show, tiny, span, files=None):
    """The program of an experiment: `scenarios(arguments)` gives {name: text}, `files()` {name: text} of what they
    refer to and is not shipped, `tiny` names those that --tiny runs."""
    parser = sweeps.parser_of(text, f"many-gpus-{folder}", "show")
    parser.add_argument("--quick", action="store_true", help="smaller data: those of the tables on the page")
    arguments = parser.parse_args()
    if arguments.verb == "run":
        arguments.folder.mkdir(parents=True, exist_ok=True)
        for name, content in (files(arguments) if files else {}).items():
            (arguments.folder / name).write_text(content)
        sweeps.run_sweep(arguments, scenarios(arguments), tiny, span)
    show(arguments)
