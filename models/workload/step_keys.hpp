/// Keys of the steps of a workload's program.  step_reader.cpp reads them.
#pragma once

#include "core/parameters/parameters.hpp"

namespace lockstep {

/// Adds the keys that select the elements of a buffer for a step.
template <class P>
ParametersOf<P>& with_range(ParametersOf<P>& keys) {
  return keys.part("offset", &P::offset, "formula", "the first element; without it 0")
      .part("count", &P::count, "formula", "elements; without it the rest of the buffer");
}

struct CopyKeys {
  Node buffer, to, into, at, offset, count, stream, wait, recorded;
  static auto schema() {
    using P = CopyKeys;
    auto keys = parameters<P>();
    keys.part("buffer", &P::buffer, "name (required)", "a device buffer, or one with copied: false")
        .part("to", &P::to, "word (or into)", "device or host")
        .part("into", &P::into, "name (or to)",
              "a buffer on another GPU of the tenant, which gets the elements")
        .part("at", &P::at, "formula", "with into: the first element there; without it 0");
    return with_range(keys)
        .part("stream", &P::stream, "number", "0 to 65535; with it the program does not wait")
        .part("wait", &P::wait, "true or false",
              "whether the program waits for the copy nevertheless")
        .part("recorded", &P::recorded, "number",
              "step of the recording whose data are copied to the device, or expected at the host");
  }
};

struct LaunchKeys {
  Node kernel, grid, block, arguments, shared, registers, stream, programmatic, gpu;
  Node cluster, non_portable_cluster;
  static auto schema() {
    using P = LaunchKeys;
    return parameters<P>()
        .part("kernel", &P::kernel, "name (required)", "an entry of the module")
        .part("grid", &P::grid, "list (required)", "one to three formulas: blocks")
        .part("block", &P::block, "list (required)", "one to three formulas: threads")
        .part("cluster", &P::cluster, "list",
              "one to three formulas: blocks of a cluster, at most 8 together; without it as the "
              "kernel's .reqnctapercluster says, or none")
        .part("non_portable_cluster", &P::non_portable_cluster, "true or false",
              "whether a cluster may have 9 to 16 blocks")
        .part("arguments", &P::arguments, "list",
              "buffers, formulas, and lists of words for structures passed by value")
        .part("shared", &P::shared, "formula", "bytes of dynamic shared memory; without it 0")
        .part("registers", &P::registers, "formula",
              "registers of a thread, 1 to 255; without it as the simulator allocates them")
        .part("stream", &P::stream, "number", "0 to 65535; without it 0")
        .part("programmatic", &P::programmatic, "true or false",
              "whether it may begin before the launch ahead of it in its stream has ended, when "
              "all blocks of that have executed griddepcontrol.launch_dependents or ended")
        .part("gpu", &P::gpu, "number",
              "GPU on which it runs, by its number among the tenant's GPUs; without it 0");
  }
};

struct SynchronizeKeys {
  Node stream;
  static auto schema() {
    return parameters<SynchronizeKeys>().part("stream", &SynchronizeKeys::stream, "number",
                                              "without it all streams");
  }
};

struct PrefetchKeys {
  Node buffer, to, offset, count, stream;
  static auto schema() {
    using P = PrefetchKeys;
    auto keys = parameters<P>();
    keys.part("buffer", &P::buffer, "name (required)", "a managed buffer")
        .part("to", &P::to, "word (required)", "gpu or host");
    return with_range(keys).part("stream", &P::stream, "number", "0 to 65535; without it 0");
  }
};

/// Keys of `read`, `write` and `free` of a part of a buffer; a step on the whole buffer is written
/// as its name alone.
struct TouchKeys {
  Node buffer, offset, count;
  static auto schema() {
    using P = TouchKeys;
    auto keys = parameters<P>();
    keys.part("buffer", &P::buffer, "name (required)", "buffer that the range belongs to");
    return with_range(keys);
  }
};
struct WriteKeys {
  Node buffer, offset, count, recorded;
  static auto schema() {
    using P = WriteKeys;
    auto keys = parameters<P>();
    keys.part("buffer", &P::buffer, "name (required)", "buffer that the range belongs to");
    return with_range(keys).part("recorded", &P::recorded, "number",
                                 "step of the recording whose data it writes");
  }
};

struct FillKeys {
  Node buffer, value;
  static auto schema() {
    using P = FillKeys;
    return parameters<P>()
        .part("buffer", &P::buffer, "name (required)", "buffer whose copy at the host is filled")
        .part("value", &P::value, "formula (required)", "value of each element");
  }
};

struct AdviseKeys {
  Node buffer, preferred, read_mostly;
  static auto schema() {
    using P = AdviseKeys;
    return parameters<P>()
        .part("buffer", &P::buffer, "name (required)", "a managed buffer")
        .part("preferred", &P::preferred, "word", "gpu, host or none: where its pages should be")
        .part("read_mostly", &P::read_mostly, "true or false", "whether reading copies its pages");
  }
};

struct UntilKeys {
  Node buffer, index, equals;
  static auto schema() {
    using P = UntilKeys;
    return parameters<P>()
        .part("buffer", &P::buffer, "name (required)", "whose content at the host is tested")
        .part("index", &P::index, "formula (required)", "element that is looked at")
        .part("equals", &P::equals, "formula (required)", "value that ends the loop");
  }
};
struct RepeatKeys {
  Node times, until, counter, program;
  static auto schema() {
    using P = RepeatKeys;
    return parameters<P>()
        .part("times", &P::times, "formula", "number of rounds; or until")
        .part("until", &P::until, "map",
              "{buffer: b, index: 0, equals: 0}, tested after each round; or times")
        .part("counter", &P::counter, "name",
              "number of the round, from 0 on, for formulas in the loop")
        .part("program", &P::program, "list (required)", "steps of the loop");
  }
};

struct CollectiveKeys {
  Node operation, algorithm, by, buffers, arrived, flags, kernel, grid, block, count, stream;
  static auto schema() {
    using P = CollectiveKeys;
    return parameters<P>()
        .part("operation", &P::operation, "word (required)",
              "all_reduce, reduce_scatter, all_gather or broadcast (of the first buffer)")
        .part("algorithm", &P::algorithm, "word",
              "ring, tree (all_reduce, broadcast) or direct; without it ring, and a broadcast's "
              "copies go one after the other")
        .part("by", &P::by, "word",
              "copies that the host begins, or one kernel on each GPU (ring, but no "
              "broadcast; tree; direct, up to 16 GPUs); without it copies")
        .part("buffers", &P::buffers, "list (required)",
              "one buffer on each of the GPUs, in the order of the ring")
        .part("arrived", &P::arrived, "list",
              "for sums: one buffer on each of the GPUs for what arrives there and is added: a "
              "part; all elements (tree), twice for a tree by kernels of more than three GPUs; a "
              "part of each other GPU (direct, a ring by kernels)")
        .part("flags", &P::flags, "list",
              "for by: kernel: one buffer on each of the GPUs, with two u32 for each block, "
              "four (tree), or as many as there are GPUs (direct)")
        .part("kernel", &P::kernel, "name",
              "for sums: an entry of the module with arguments sums, arrived, first, count, which "
              "adds arrived[i] to sums[first + i]; for by: kernel: one that goes round the ring, "
              "along the trees, or to all other GPUs")
        .part("grid", &P::grid, "formula",
              "its blocks; without it enough for what is added; 24 with by: kernel")
        .part("block", &P::block, "formula",
              "its threads; without it 256; with by: kernel 544, or 512 (tree)")
        .part("count", &P::count, "formula",
              "elements, where GPUs have parts a multiple of their number; without it all")
        .part("stream", &P::stream, "number",
              "stream of the whole collective, 0 to 65535; without it 0; direct ones have one more "
              "for each further copy of a GPU");
  }
};

/// An entry of `program:`, one of these.
struct StepKeys {
  CopyKeys copy;
  LaunchKeys launch;
  SynchronizeKeys synchronize;
  PrefetchKeys prefetch;
  TouchKeys read, free;
  WriteKeys write;
  FillKeys fill;
  AdviseKeys advise;
  RepeatKeys repeat;
  CollectiveKeys collective;
  Node save, delay, swap;

  static auto schema() {
    using P = StepKeys;
    return parameters<P>()
        .group("copy", &P::copy, "a copy of a device buffer, or of a part")
        .group("launch", &P::launch, "a kernel")
        .group("synchronize", &P::synchronize, "waits for all streams, or for one")
        .group("prefetch", &P::prefetch, "moves a managed buffer ahead of its use")
        .group("read", &P::read, "the CPU reads a buffer (its name), or a part (a map)")
        .group("write", &P::write, "the CPU writes a buffer (its name), or a part (a map)")
        .group("fill", &P::fill, "the CPU stores a value into its copy of a buffer")
        .part("save", &P::save, "name", "the host's content of a buffer goes to /buffers")
        .part("delay", &P::delay, "time", "the program waits")
        .group("advise", &P::advise, "where a managed buffer's pages should be")
        .group("free", &P::free, "releases a buffer (its name), or pages of a part (a map)")
        .part("swap", &P::swap, "list", "two buffers exchange their names")
        .group("repeat", &P::repeat, "a loop")
        .group("collective", &P::collective,
               "copies and sums among the GPUs of a tenant; the program waits for them");
  }
};

}  // namespace lockstep
