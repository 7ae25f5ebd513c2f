"""What stands in the pictures of docs/machine (pictures.py draws them).

A picture has columns of boxes and arrows between them by their names, an arrow with words if it needs some.  A box has
a `title`, `text`, and `keys`; `prefix` is what the keys of a box have in common.
"""


def box(name, title, *, kind="part", prefix="", keys=(), text=(), down=0):
    return {"name": name, "title": title, "kind": kind, "prefix": prefix, "keys": keys, "text": text, "down": down}


SM = {
    "title": "Pipeline of a streaming multiprocessor",
    "columns": [
        [box("blocks", "Resident blocks", kind="queue", prefix="gpu.sm", keys=(
            "blocks", "warps", "threads", "registers", "barriers", "block_start")),
         box("l0", "Instruction cache of a scheduler", prefix="gpu.sm.instruction_cache", keys=(
             "l0_bytes", "l0_ways", "ahead"), text=("the warp waits while its line is away",)),
         box("l1i", "Instruction cache of the SM", prefix="gpu.sm.instruction_cache", keys=(
             "l1_bytes", "l1_ways", "l1_latency"), text=("what it lacks comes from L2",)),
         box("constants", "Constant caches", prefix="gpu.sm", keys=(
             "constant_latency", "constant_interval", "constant_cache.l0_bytes", "constant_cache.l1_bytes",
             "constant_cache.l1_latency")),
         box("shared", "Shared memory", prefix="gpu.sm.shared", keys=(
             "bytes", "bytes_per_block", "unit", "banks", "latency", "packed_returns"))],
        [box("issue", "Issue", kind="policy", keys=("policies.warp_scheduler",), text=(
            "a warp is ready when its instruction,", "its registers and a unit are there")),
         box("schedulers", "Schedulers", prefix="gpu.sm", keys=("schedulers", "issue_width", "sub_cores")),
         box("operands", "Operand read", prefix="gpu.sm", keys=("operand_read", "source_release")),
         box("units", "Execution units", prefix="gpu.sm.units", keys=(
             "integer", "fp32", "fp64", "half", "special", "tensor", "control", "memory")),
         box("barriers", "Barrier", prefix="gpu.sm", keys=("barrier_latency",)),
         box("memory", "Load-store unit", kind="queue", prefix="gpu.sm", keys=(
             "memory_queue", "memory_interval", "parked_accesses"), text=("goes on in the picture of L1 and L2",))],
        [box("latency", "From operands to result", prefix="gpu.sm.latency", keys=(
            "integer", "integer_multiply", "multiply_high", "multiply_wide", "bit_count", "fp32", "fp64", "half",
            "special", "convert", "shuffle", "move", "predicate", "control", "taken_branch"), text=(
                "matrix products: mma_...",)),
         box("interval", "Between two instructions", prefix="gpu.sm.interval", keys=(
             "integer", "integer_multiply", "multiply_wide", "fp32", "fp64", "half", "special", "convert", "shuffle",
             "move", "predicate", "control"), text=("matrix products: mma_...",))],
    ],
    "arrows": [("blocks", "issue"), ("blocks", "l0"), ("l1i", "l0"), ("issue", "schedulers"),
               ("schedulers", "operands"), ("operands", "units"), ("units", "latency"), ("latency", "interval"),
               ("units", "shared"), ("units", "memory"), ("l0", "schedulers"), ("units", "barriers")],
}

CACHES = {
    "title": "From a load to its answer: L1, network, L2",
    "columns": [
        [box("tags", "L1: tags", prefix="gpu.sm.l1", keys=(
            "unified_bytes", "sets", "set_index", "recency", "lines_per_cycle", "banked", "tag_banks", "hit_latency",
            "fetch", "global_writes", "allocates_stores")),
         box("mshrs", "L1: missed lines", kind="queue", prefix="gpu.sm.l1", keys=("mshrs", "merges")),
         box("port", "Request port of the SM", kind="queue", prefix="gpu.sm.port", keys=("queue", "injection_latency")),
         box("credits", "Credits at the partition", kind="queue", prefix="gpu.noc", keys=("credits",)),
         box("fill", "L1: fill", prefix="gpu.sm.l1", keys=("fill_latency", "allocation"), down=40)],
        [box("to", "Link to the partition", kind="link", prefix="gpu.noc", keys=("request_latency",), down=150),
         box("from", "Link to the SM", kind="link", prefix="gpu.noc", keys=("response_latency",), down=250)],
        [box("ports", "L2: input ports", prefix="gpu.memory.l2", keys=("ports",)),
         box("banks", "L2: queue of a bank", kind="queue", prefix="gpu.memory.l2", keys=("bank_queue",)),
         box("lookup", "L2: a bank", prefix="gpu.memory.l2", keys=(
             "slices", "banks", "size", "ways", "latency", "bank_width", "atomic_rate", "fetch", "write",
             "dirty_ways")),
         box("missed", "L2: missed lines", kind="queue", prefix="gpu.memory.l2", keys=("mshrs", "merges")),
         box("dram", "Queue of the DRAM channel", kind="queue", prefix="gpu.memory", keys=(
             "dram.queue", "l2.bypass_queue", "l2.bypass_path")),
         box("back", "L2: fills of a bank", kind="queue", prefix="gpu.memory.l2", keys=("fill_queue",)),
         box("answers", "L2: answers", kind="queue", prefix="gpu.memory.l2", keys=("response_queue", "response_rate"))],
    ],
    "arrows": [("tags", "mshrs", "miss"), ("mshrs", "port"), ("port", "credits"), ("credits", "to"), ("to", "ports"),
               ("ports", "banks"), ("banks", "lookup"), ("lookup", "missed", "miss"), ("missed", "dram"),
               ("dram", "back"), ("back", "answers"), ("answers", "from"), ("from", "fill")],
}

NETWORK = {
    "title": "The network between SMs and memory partitions",
    "columns": [
        [box("send", "Sending port of an SM", prefix="gpu.noc", keys=("clock", "flit_bytes", "control_bytes"), text=(
            "moves a flit in a cycle;", "a packet has its data and this beside it")),
         box("mapping", "Which partition", prefix="gpu", keys=("noc.mapping", "memory.partitions"), text=(
             "chosen by the physical address",)),
         box("take", "Receiving port of an SM", text=("never blocks: who asked has kept", "a place for the answer"))],
        [box("there", "Way there", kind="link", prefix="gpu.noc", keys=("request_latency",)),
         box("halves", "Between the halves of an L2", kind="link", prefix="gpu.noc.halves", keys=(
             "crossing_latency", "crossing_rate"), text=("0: the L2 is whole",)),
         box("back", "Way back", kind="link", prefix="gpu.noc", keys=("response_latency",))],
        [box("fifo", "A FIFO for each sender", kind="queue", prefix="gpu.noc", keys=("credits",), text=(
            "its places are the sender's credits",)),
         box("turns", "Turns among the senders", kind="policy", prefix="gpu", keys=(
             "noc.burst", "memory.l2.ports")),
         box("leave", "Sending port of a partition", prefix="gpu.memory.l2", keys=("response_rate",))],
    ],
    "arrows": [("send", "there"), ("there", "fifo"), ("fifo", "turns"), ("leave", "back"), ("back", "take")],
}

DRAM = {
    "title": "A DRAM channel",
    "columns": [
        [box("reads", "Reads that wait", kind="queue", prefix="gpu.memory.dram", keys=("queue", "gpu_queue")),
         box("writes", "Writes that wait", kind="queue", prefix="gpu.memory.dram", keys=(
             "write_queue", "write_high", "write_low")),
         box("scheduler", "Scheduler", kind="policy", keys=("policies.dram_scheduler",), text=(
             "chooses the next command that may go",)),
         box("bus", "Commands", prefix="gpu.memory.dram", keys=("clock", "channels", "dual_command_bus")),
         box("way", "Way from L2 and back", kind="link", prefix="gpu.memory.dram", keys=("path_latency",))],
        [box("banks", "Banks", prefix="gpu.memory.dram", keys=(
            "bank_groups", "banks", "row", "interleave", "rows")),
         box("open", "To open a row", prefix="gpu.memory.dram", keys=(
             "rcd_read", "rcd_write", "rp", "ras", "rc", "rrd_s", "rrd_l", "faw")),
         box("refresh", "Refresh", prefix="gpu.memory.dram", keys=("refi", "rfc", "rfc_bank"))],
        [box("columns", "Column commands", prefix="gpu.memory.dram", keys=("atom", "ccd_s", "ccd_l", "cl", "cwl")),
         box("turn", "Turning the bus, closing a row", prefix="gpu.memory.dram", keys=(
             "turnaround", "wtr_s", "wtr_l", "rtp", "wr")),
         box("data", "Data bus", prefix="gpu.memory.dram", keys=("burst",), text=("taken by each column command",))],
    ],
    "arrows": [("reads", "scheduler"), ("writes", "scheduler"), ("scheduler", "bus"), ("bus", "banks"),
               ("banks", "open"), ("open", "columns"), ("columns", "turn"), ("turn", "data")],
}

GMMU = {
    "title": "Translation, and a far fault",
    "columns": [
        [box("l1", "L1 TLB of an SM", kind="queue", prefix="gpu.vm.l1_tlb", keys=(
            "entries", "large_entries", "ways", "mshrs")),
         box("gpc", "TLB of a cluster (GPC)", kind="queue", prefix="gpu.vm.gpc_tlb", keys=(
             "enabled", "entries", "large_entries", "latency")),
         box("link", "Link to the GMMU, each way", kind="link", prefix="gpu.vm", keys=("link_latency",)),
         box("gone", "When a page goes", prefix="gpu.vm", keys=("shootdown", "shootdown_scope"), text=(
             "TLBs drop its entries",), down=24),
         box("scheme", "The refused warp", kind="policy", prefix="policies", keys=(
             "exception_scheme", "block_switching"), text=(
                 "keeps its place or leaves it;", "with the replay it asks again"), down=150)],
        [box("l2", "L2 TLB", kind="queue", prefix="gpu.vm.l2_tlb", keys=(
            "enabled", "entries", "large_entries", "ways", "ports", "latency", "together")),
         box("mshrs", "Pages walked for", kind="queue", prefix="gpu.vm.l2_tlb", keys=("mshrs",)),
         box("walkers", "Page walkers", prefix="gpu.vm", keys=("walkers", "walk_latency", "memory_latency"), text=(
             "walk_latency 0: four reads in turn,", "through L2 and DRAM")),
         box("far", "Far faults that wait", kind="queue", prefix="gpu.vm", keys=("far_fault_mshrs", "fault_granule"),
             text=("0: any number",))],
        [box("cache", "Page walk cache", prefix="gpu.vm.walk_cache", keys=("entries", "latency"), text=(
            "with translation: page-walk-cache,", "instead of the L2 TLB")),
         box("hop", "Host link, each way", kind="link", prefix="host", keys=("link_latency",)),
         box("driver", "Driver", kind="policy", prefix="policies", keys=(
             "fault_handling", "fault_handling.cost_model", "fault_handling.handling", "fault_handling.batch")),
         box("frames", "Frames, victims, more pages", kind="policy", prefix="policies", keys=(
             "page_manager", "eviction", "prefetcher"), text=("victims are unmapped first",)),
         box("transfer", "Transfer", kind="link", prefix="host", keys=("link_curve", "link_bandwidth"), text=(
             "first the bytes, then the entry",)),
         box("replay", "The page has come", kind="policy", prefix="policies.fault_handling", keys=("replay",), text=(
             "the GMMU tells the SMs",))],
    ],
    "arrows": [("l1", "gpc", "miss"), ("gpc", "link", "miss"), ("link", "l2"), ("l2", "mshrs", "miss"),
               ("mshrs", "walkers"), ("walkers", "cache"), ("walkers", "far", "no entry"), ("far", "hop"),
               ("hop", "driver"), ("driver", "frames"), ("frames", "transfer"), ("transfer", "replay"),
               ("replay", "scheme")],
}

DISPATCH = {
    "title": "From a launch to a running block, and back",
    "columns": [
        [box("launch", "Launch arrives", prefix="gpu.dispatch", keys=("launch_latency", "launch_overlap")),
         box("sharing", "Whose blocks an SM runs", kind="policy", keys=("policies.sharing",)),
         box("send", "Blocks go out", prefix="gpu.dispatch", keys=("block_interval", "gpc_count"), text=(
             "cluster after cluster, SM after SM",)),
         box("link", "Link to an SM", kind="link", prefix="gpu.dispatch", keys=("link_latency",))],
        [box("staged", "Staged block", kind="queue", text=(
            "one behind a full SM, so that a place", "is not empty for a round trip")),
         box("room", "Room in the SM", kind="queue", prefix="gpu.sm", keys=(
             "blocks", "warps", "threads", "registers", "shared.bytes", "placement")),
         box("start", "Block runs", prefix="gpu.sm", keys=("block_start",)),
         box("end", "Block ends", prefix="gpu.sm", keys=("stores_drain_with",), text=(
             "the dispatcher hears of it",))],
        [box("urgent", "A more urgent grid", kind="policy", keys=("policies.preemption", "policies.sharing"), text=(
            "needs a preemption to get SMs",)),
         box("drain", "Drain: the block runs to its end"),
         box("flush", "Flush: dropped, and run again", prefix="policies.preemption", keys=("idempotence",)),
         box("switch", "Switch: saved, and brought back", prefix="policies.preemption", keys=(
             "context", "points", "traffic", "in_place")),
         box("fault", "A block that waits for a page", kind="policy", prefix="policies", keys=(
             "block_switching", "block_switching.extra_blocks", "block_switching.threshold"))],
    ],
    "arrows": [("launch", "sharing"), ("sharing", "send"), ("send", "link"), ("link", "staged"), ("staged", "room"),
               ("room", "start"), ("start", "end"), ("urgent", "drain"), ("drain", "flush"), ("flush", "switch")],
}

HOST = {
    "title": "Host, driver and host link",
    "columns": [
        [box("programs", "Programs of the tenants", text=("copy, launch, synchronize, prefetch,", "read, write, ...")),
         box("overhead", "Launch at the CPU", prefix="host", keys=("launch_overhead",)),
         box("driver", "Driver", kind="policy", prefix="policies", keys=(
             "page_manager", "prefetcher", "eviction", "fault_handling"), text=("page tables, migrations",)),
         box("memory", "Host memory", prefix="host", keys=("memory",))],
        [box("order", "Transfers that wait", kind="queue", prefix="host", keys=(
            "link_order", "link_preempts_prefetch"), text=("somebody waits; prefetches; copies",)),
         box("curve", "Time of a transfer", prefix="host", keys=(
             "link_curve", "link_bandwidth", "transfer_setup"), text=("by its size, alone in its direction",)),
         box("lines", "Lines on their way", kind="queue", prefix="host", keys=("lines_in_flight",), text=(
             "128 bytes each, not yet acknowledged",)),
         box("link", "Host link, each way", kind="link", prefix="host", keys=("link_latency",))],
        [box("dispatcher", "Dispatcher", prefix="gpu.dispatch", keys=("launch_latency",)),
         box("gmmu", "GMMU", prefix="gpu.vm", keys=("far_fault_mshrs",)),
         box("partitions", "Memory partitions", prefix="gpu.memory", keys=("partitions", "capacity"), text=(
             "lines compete with the SMs' requests",))],
    ],
    "arrows": [("programs", "overhead"), ("overhead", "driver"), ("driver", "order"), ("order", "curve"),
               ("curve", "lines"), ("lines", "link"), ("link", "partitions")],
}

ENGINE = {
    "title": "Components, and the links that bound a window",
    "columns": [
        [box("host", "Host", text=("programs, driver, host link",)),
         box("hostlink", "Link", kind="link", prefix="host", keys=("link_latency",)),
         box("dispatcher", "Dispatcher", prefix="gpu.dispatch", keys=("clock",)),
         box("gmmu", "GMMU", prefix="gpu.vm", keys=("clock",))],
        [box("dlink", "Link", kind="link", prefix="gpu.dispatch", keys=("link_latency",), down=150),
         box("glink", "Link", kind="link", prefix="gpu.vm", keys=("link_latency",)),
         box("plink", "Link", kind="link", prefix="gpu.vm", keys=("memory_latency",), text=(
             "0: as between SMs and partitions",))],
        [box("sm", "SM, one of", prefix="gpu.sm", keys=("count", "clock")),
         box("there", "Links there and back", kind="link", prefix="gpu.noc", keys=(
             "request_latency", "response_latency"), down=20),
         box("partition", "Partition, one of", prefix="gpu.memory", keys=("partitions", "clock"), down=20),
         box("cpu", "CPU core, one of", prefix="gpu.cpu", keys=(
             "cores", "clock", "width", "window", "credits", "link_latency"), text=("linked to the partitions",))],
    ],
    "arrows": [("host", "hostlink"), ("hostlink", "dispatcher"), ("dispatcher", "dlink"), ("dlink", "sm"),
               ("gmmu", "glink"), ("glink", "sm"), ("gmmu", "plink"), ("plink", "partition"), ("sm", "there"),
               ("there", "partition"), ("cpu", "partition")],
}

LAYERS = {
    "title": "Who includes whom",
    "columns": [
        [box("jobs", "jobs", text=("the program lockstep",)),
         box("gpu", "models/gpu", text=("builds the machine",)),
         box("partitioner", "partitioner", text=("components to ranks and threads",)),
         box("core", "core", text=("the engine; knows nothing of GPUs",))],
        [box("host", "models/host", text=("programs of the tenants",)),
         box("driver", "models/driver", text=("page tables, migrations, prefetch",)),
         box("host_link", "models/host_link", text=("PCIe or NVLink",)),
         box("workload", "models/workload", text=("files that a user writes",)),
         box("reference", "models/reference", text=("the functional run of --check",))],
        [box("dispatch", "models/dispatch", text=("blocks to SMs",)),
         box("sm", "models/sm", text=("streaming multiprocessor",)),
         box("vm", "models/vm", text=("GMMU, TLBs, walkers",)),
         box("memory", "models/memory, models/cpu", text=("L2, DRAM, bytes; CPU cores",)),
         box("coordinator", "models/coordinator", text=("what policies decide together",)),
         box("noc", "models/noc", text=("ports, links, address mapping",)),
         box("isa", "models/isa", text=("PTX, lowering, semantics",))],
    ],
    "arrows": [("jobs", "gpu"), ("gpu", "host"), ("host", "driver"), ("driver", "host_link"), ("host", "dispatch"),
               ("dispatch", "sm"), ("sm", "vm"), ("memory", "coordinator"), ("coordinator", "noc"), ("noc", "isa"),
               ("vm", "coordinator"), ("driver", "workload"), ("host_link", "vm"), ("jobs", "partitioner"),
               ("partitioner", "core"), ("reference", "workload")],
}

PICTURES = {"sm": SM, "caches": CACHES, "network": NETWORK, "dram": DRAM, "gmmu": GMMU, "dispatch": DISPATCH,
            "host": HOST, "engine": ENGINE, "layers": LAYERS}
