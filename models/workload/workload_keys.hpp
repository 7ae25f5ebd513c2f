/// Keys of a workload file and of its buffers.  workload.cpp reads them.
#pragma once

#include "core/parameters/parameters.hpp"

namespace lockstep {

struct WorkloadKeys {
  Node module, parameters_node, buffers, program, heap, name;
  static auto schema() {
    using P = WorkloadKeys;
    return parameters<P>()
        .part("module", &P::module, "file or list (required)", "PTX files, relative to this one")
        .part("parameters", &P::parameters_node, "map",
              "numbers by name; a later one may be a formula over earlier ones")
        .part("buffers", &P::buffers, "map (required)", "buffers by name")
        .part("program", &P::program, "list or map (required)",
              "steps of the host program, or {recording: FILE, steps: [...]}")
        .part("heap", &P::heap, "amount of memory",
              "memory for malloc in kernels: 4KiB to 64GiB, a multiple of 16 bytes")
        .part("name", &P::name, "text",
              "name of the workload in /config of the output; without it that of its file");
  }
};

struct BufferKeys {
  Node type, count, memory, gpu, init, check, tolerance, copied, inexact, symbol, address;
  static auto schema() {
    using P = BufferKeys;
    return parameters<P>()
        .part("type", &P::type, "word (required)",
              "type of an element: u8 u16 u32 u64 i8 i16 i32 i64 f16 bf16 f32 f64")
        .part("count", &P::count, "formula (required)", "elements")
        .part("memory", &P::memory, "word (required)", "device, managed or pinned")
        .part(
            "gpu", &P::gpu, "number",
            "GPU whose memory has the buffer, by its number among the tenant's GPUs; without it 0")
        .part("init", &P::init, "word or map",
              "initial content: zero, value, linear, uniform, normal, permutation, csr_graph, file "
              "or texture; without it zero")
        .part("check", &P::check, "true or false", "whether --check compares it; without it, true")
        .part("tolerance", &P::tolerance, "ratio",
              "error that --check allows, relative above 1, absolute below; without it 0")
        .part("copied", &P::copied, "true or false",
              "false, of a managed or pinned buffer: its copy steps wait and touch it instead")
        .part("inexact", &P::inexact, "list",
              "floats of a recording's buffer, each with its tolerance (docs/capture.md)")
        .part("symbol", &P::symbol, "name",
              ".global variable of the module that the buffer stands for")
        .part(
            "address", &P::address, "number",
            "address of the buffer: a multiple of 2 MiB from 4 GiB on; then all buffers have one");
  }
};

}  // namespace lockstep
