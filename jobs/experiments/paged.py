"""Shipped workloads whose data are in CPU memory until a kernel touches them."""
import re


def moved_to_host(match):
    return f"{match[1]}- synchronize\n{match[1]}- read: {match[2]}"


def paged(text):
    """A workload's text with managed buffers: nothing is copied, and what was copied to the host is read there."""
    text = text.replace("memory: device", "memory: managed")
    text = re.sub(r"^ *- copy: \{.*to: device\}\n", "", text, flags=re.MULTILINE)
    return re.sub(r"^( *)- copy: \{buffer: (\w+), to: host\}", moved_to_host, text, flags=re.MULTILINE)
