"""A program that talks to `lockstep capture` by itself: its argument says what it asks that no CUDA runtime asks."""
import os
import random
import socket
import struct
import sys

OPERATIONS = ["hello", "register_module", "find_function", "find_variable", "allocate", "release", "copy_in",
              "copy_out", "copy_within", "fill", "launch", "synchronize", "order", "prefetch", "advise", "touch",
              "occupancy", "memory_left", "unsupported", "event_time", "other_runtime"]
SOCKET, MEMORY = map(int, os.environ["LOCKSTEP_CAPTURE_CHANNEL"].split(","))
CHANNEL = socket.socket(fileno=SOCKET)
DEVICE, MANAGED, PINNED = 0, 1, 2
MODULE = b""".version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 factor = 3;
.visible .entry count(.param .u64 to)
{
  .reg .b64 %d<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %d1, [to];
  mov.u32 %r1, 1;
  st.global.u32 [%d1], %r1;
  ret;
}
"""


def receive(count):
    got = b""
    while len(got) < count:
        more = CHANNEL.recv(count - len(got))
        if not more:
            sys.exit("the channel is closed")
        got += more
    return got


def ask(operation, *numbers, data=b"", says_bytes=None):
    number = OPERATIONS.index(operation) if isinstance(operation, str) else operation
    numbers = [*numbers, 0, 0, 0, 0, 0][:5]
    size = len(data) if says_bytes is None else says_bytes
    CHANNEL.sendall(struct.pack("<II5QQ", number, 0, *numbers, size) + data)
    status, _, first, second, count, printed = struct.unpack("<iIQQQQ", receive(40))
    return status, first, second, receive(count), receive(printed)


def launch(function, blocks=(1, 1, 1), threads=(1, 1, 1), shared=0, stream=0, parameters=b"\0" * 8,
           cluster=(0, 0, 0)):
    return ask("launch", data=struct.pack("<Q14I", function, *blocks, *threads, shared, stream, 0, 0, *cluster, 0) +
               parameters)


ask("hello", os.getpid(), 0x100000000)
device, managed = (ask("allocate", kind, 4096)[1] for kind in (DEVICE, MANAGED))
module = ask("register_module", 1, 0, data=MODULE)[1]
function = struct.unpack("<Q", ask("find_function", module, 0, data=b"count")[3][:8])[0]
assert launch(function, parameters=struct.pack("<Q", device))[0] == 0  # what the recording has, whatever comes next

BROKEN = {
    "a launch of nothing": lambda: ask("launch"),
    "a launch that is short": lambda: ask("launch", data=b"\0" * 10),
    "a launch of a function that was never found": lambda: launch(1 << 40),
    "a fill of no width": lambda: ask("fill", device, 64, 1, 0, 0),
    "a fill of a width that there is not": lambda: ask("fill", device, 64, 1, 1 << 40, 0),
    "a fill of three bytes": lambda: ask("fill", device, 63, 1, 3, 0),
    "a fill between two values": lambda: ask("fill", device + 1, 64, 1, 4, 0),
    "a fill in a stream that there is not": lambda: ask("fill", device, 64, 1, 1, 1 << 40),
    "advice that there is not": lambda: ask("advise", managed, 64, 1 << 40),
    "memory of the device that the CPU touched": lambda: ask("touch", data=struct.pack("<QQQ", device, 4096, 1)),
    "half of a touch": lambda: ask("touch", data=b"\0" * 7),
    "occupancy of a function that was never found": lambda: ask("occupancy", 1 << 40, 32, 0),
    "memory of a kind that there is not": lambda: ask("allocate", 3, 4096),
    "a part that is larger than its memory": lambda: ask("allocate", PINNED, 4096, 1 << 40, 1 << 40),
    "a part whose end is behind all numbers": lambda: ask("allocate", PINNED, 4096, 8, (1 << 64) - 4),
    "a request that there is not": lambda: ask(4711),
    "more bytes than the GPU has": lambda: ask("copy_in", device, 0, 1, says_bytes=1 << 62),
    "a name that is longer than its request": lambda: ask("register_module", 0, 1 << 40, data=b"x" * 64),
    "a copy in a stream that there is not": lambda: ask("copy_in", device, 1 << 40, 1, data=b"x" * 64),
}


def harmless():
    """Odd, but each is an error of the program's, or nothing."""
    try:
        os.ftruncate(MEMORY, 0)
        sys.exit("the memory could be cut")
    except PermissionError:
        pass
    huge = (1 << 64) - 1
    for answer in (ask("copy_out", device, huge, 0, 1), ask("copy_within", device, device, huge - 8, 0),
                   ask("fill", device, huge - 7, 1, 1, 0), ask("advise", managed, huge, 0),
                   ask("advise", device, 64, 0), ask("prefetch", device, 64, 1, 0), ask("release", device + 4),
                   launch(function, blocks=(0xffffffff, 1, 1)), launch(function, threads=(1 << 31, 2, 1 << 31)),
                   launch(function, shared=0xffffffff), launch(function, cluster=(0xffffffff, 1 << 31, 2)),
                   ask("allocate", MANAGED, 1 << 50), ask("allocate", MANAGED, 1 << 38),
                   ask("allocate", DEVICE, 1 << 38),
                   ask("release", ask("find_variable", module, 0, data=b"factor")[1])):
        assert answer[0] != 0, answer
    assert ask("occupancy", function, 0, 0)[0] == 0
    assert ask("occupancy", function, 1 << 40, 1 << 40)[:2] == (0, 0)
    ask("unsupported", data=b"name\n\x1b[31mof two lines")
    assert ask("memory_left")[0] == 0


# What each number of a request is: Address, Bytes, Stream, Width, Kind of memory, Module, Function, 0 or 1.
SHAPES = {"register_module": "0", "find_function": "M0", "find_variable": "M00", "allocate": "KB", "release": "A",
          "copy_in": "AS0", "copy_out": "ABS0", "copy_within": "AABS", "fill": "ABBWS", "synchronize": "0S",
          "order": "SS", "prefetch": "AB0S", "advise": "ABK", "touch": "", "occupancy": "FBB", "memory_left": "",
          "unsupported": "", "event_time": "0", "launch": ""}


def random_requests(seed):
    """Most numbers are near such as a runtime sends, a few are anything; any of those may end the recording."""
    dice = random.Random(seed)
    wild = dice.choice([0, 0.01, 0.3])
    memory = [device, managed]
    anything = [1 << 31, 1 << 32, 1 << 40, (1 << 63) - 1, (1 << 64) - 1]
    of = {"A": lambda: dice.choice(memory) + dice.choice([0, 0, 0, 1, 4, 4000, 4096, -4]),
          "B": lambda: dice.choice([0, 1, 2, 3, 4, 16, 60, 64, 4096, 4097, 1 << 20]),
          "S": lambda: dice.choice([0, 1, 2]),
          "W": lambda: dice.choice([1, 2, 4]) if wild == 0 else dice.choice([0, 1, 2, 3, 4, 8]),
          "K": lambda: dice.choice([0, 1, 2]), "M": lambda: dice.choice([module, module, 7]), "F": lambda: function,
          "0": lambda: dice.choice([0, 1])}

    def number(kind):
        return dice.choice([*anything, dice.getrandbits(64)]) if dice.random() < wild else of[kind]()

    def data_of(operation):
        size = dice.choice([0, 1, 8, 24, 48, 64, 300])
        if operation == "launch":  # small ones, since large ones only take long
            return struct.pack("<Q14I", function, *(dice.choice([0, 1, 2]) for _ in range(6)),
                               dice.choice([0, 1000, 1 << 20, 0xffffffff]), dice.choice([0, 1]),
                               dice.choice([0, 1]), dice.choice([0, 1]),
                               *dice.choice([(0, 0, 0), (0, 0, 0), (1, 1, 1), (2, 0, 0xffffffff)]), 0) + dice.choice(
                                   [struct.pack("<Q", dice.choice(memory)), b"", dice.randbytes(size)])
        if operation == "touch":
            return struct.pack("<QQQ", managed + dice.choice([0, 4096, -4096]), of["B"](), dice.choice([0, 1]))
        if operation == "register_module":
            return dice.choice([MODULE, MODULE[:size], dice.randbytes(size)])
        return dice.choice([b"count", b"factor", dice.randbytes(size)])

    for _ in range(300):
        operation = dice.choice(list(SHAPES))
        width = number("W") if wild else dice.choice([1, 2, 4])
        numbers = [number(kind) for kind in SHAPES[operation]]
        if operation == "fill" and wild == 0:
            numbers[0], numbers[1], numbers[3] = numbers[0] // width * width, numbers[1] // width * width, width
        data = dice.randbytes(30) if dice.random() < wild else data_of(operation)
        status, first, *_ = ask(operation, *numbers, data=data)
        if operation == "allocate" and status == 0:
            memory.append(first)
    print("went on to the end")


what = sys.argv[1]
if what == "harmless":
    harmless()
elif what.startswith("random "):
    random_requests(int(what.split()[1]))
else:
    BROKEN[what]()
    print("went on")
