/// Graphs made node by node, and parameters of nodes in graphs and executables.
#include <cstring>
#include <type_traits>
#include <utility>

#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/copies.hpp"
#include "jobs/capture/runtime/graphs/graphs.hpp"
#include "jobs/capture/runtime/streams.hpp"

namespace lockstep::capture {
namespace {

using Type = GraphNode::Type;
using Before = GraphNode* const*;

/// Adds a node with the parameters for `make`; missing parameters are a mistake of the program.
template <class Parameters, class Make>
Error add(GraphNode** place, Graph* graph, Before before, std::size_t count, const Parameters* p,
          const Make& make) {
  return p ? add_node(place, graph, before, count, make(*p)) : noted(invalid_value);
}

/// Changes a node, or its copy in an executable.
template <class Set>
Error change(GraphNode* node, const Set& set) {
  return noted(node ? set(*node) : Error{invalid_value});
}
template <class Set>
Error change(Graph* executable, const GraphNode* node, const Set& set) {
  return change(executable && node ? find_copy(*executable, node) : nullptr, set);
}
template <class Parameters, class Make>
Error change_to(GraphNode* node, const Parameters* p, const Make& make) {
  return p ? change(node, make(*p)) : noted(invalid_value);
}
template <class Parameters, class Make>
Error change_to(Graph* executable, const GraphNode* node, const Parameters* p, const Make& make) {
  return p ? change(executable, node, make(*p)) : noted(invalid_value);
}

auto kernel(const KernelNodeParameters& p) {
  return [p](GraphNode& node) -> Error {
    auto call = std::make_shared<KernelCall>();
    const Error error =
        make_call(p.function, {p.blocks, p.threads, p.shared_bytes, nullptr},
                  p.arguments ? Arguments{p.arguments} : packed_arguments(p.packed), *call);
    if (error != success) return error;
    node.type = Type::kernel;
    node.call = std::move(call);
    return success;
  };
}

auto action(Type type, Action what) {
  return [type, what = std::move(what)](GraphNode& node) -> Error {
    node.type = type;
    node.action = what;
    return success;
  };
}

auto volume(const Copy3D& copy) {
  return action(Type::copy, [copy] { return copy_volume(copy, in(nullptr)); });
}

auto row(void* to, const void* from, std::size_t bytes, int kind) {
  return action(Type::copy, [=] { return copy_row(to, from, bytes, kind, in(nullptr)); });
}

auto symbol(const void* name, void* host, std::size_t bytes, std::size_t offset, bool to_symbol,
            int kind) {
  return action(Type::copy, [=] {
    return copy_symbol(name, host, bytes, offset, to_symbol, kind, in(nullptr));
  });
}

auto fill(const FillNodeParameters& p) {
  return action(Type::fill, [p] {
    return fill_rows(p.to, p.height > 1 ? p.pitch : p.width * p.element_bytes,
                     {p.value, p.element_bytes}, p.width * p.element_bytes, p.height,
                     stream_number(nullptr));
  });
}

auto host(const HostNodeParameters& p) {
  return action(Type::host, [p] {
    const Error error =
        Connection::get().ask(Operation::synchronize, {0, stream_number(nullptr)}).status;
    p.function(p.data);
    return error;
  });
}

auto child(const Graph* graph) {
  return [graph](GraphNode& node) -> Error {
    if (!graph) return invalid_value;
    node.type = Type::child;
    node.child = copy_of(*graph);
    return success;
  };
}

}  // namespace

LOCKSTEP_EXPORT Error cudaGraphCreate(Graph** graph, unsigned) {
  if (!graph) return noted(invalid_value);
  *graph = new Graph;
  return success;
}
LOCKSTEP_EXPORT Error cudaGraphAddKernelNode(GraphNode** node, Graph* graph, Before before,
                                             std::size_t count, const KernelNodeParameters* p) {
  return add(node, graph, before, count, p, kernel);
}
LOCKSTEP_EXPORT Error cudaGraphAddMemcpyNode(GraphNode** node, Graph* graph, Before before,
                                             std::size_t count, const Copy3D* copy) {
  return add(node, graph, before, count, copy, volume);
}
LOCKSTEP_EXPORT Error cudaGraphAddMemcpyNode1D(GraphNode** node, Graph* graph, Before before,
                                               std::size_t count, void* to, const void* from,
                                               std::size_t bytes, int kind) {
  return add_node(node, graph, before, count, row(to, from, bytes, kind));
}
LOCKSTEP_EXPORT Error cudaGraphAddMemcpyNodeToSymbol(GraphNode** node, Graph* graph, Before before,
                                                     std::size_t count, const void* name,
                                                     const void* from, std::size_t bytes,
                                                     std::size_t offset, int kind) {
  return add_node(node, graph, before, count,
                  symbol(name, const_cast<void*>(from), bytes, offset, true, kind));
}
LOCKSTEP_EXPORT Error cudaGraphAddMemcpyNodeFromSymbol(GraphNode** node, Graph* graph,
                                                       Before before, std::size_t count, void* to,
                                                       const void* name, std::size_t bytes,
                                                       std::size_t offset, int kind) {
  return add_node(node, graph, before, count, symbol(name, to, bytes, offset, false, kind));
}
LOCKSTEP_EXPORT Error cudaGraphAddMemsetNode(GraphNode** node, Graph* graph, Before before,
                                             std::size_t count, const FillNodeParameters* p) {
  return add(node, graph, before, count, p, fill);
}
LOCKSTEP_EXPORT Error cudaGraphAddHostNode(GraphNode** node, Graph* graph, Before before,
                                           std::size_t count, const HostNodeParameters* p) {
  return add(node, graph, before, count, p, host);
}
LOCKSTEP_EXPORT Error cudaGraphAddChildGraphNode(GraphNode** node, Graph* graph, Before before,
                                                 std::size_t count, const Graph* inner) {
  return add_node(node, graph, before, count, child(inner));
}
LOCKSTEP_EXPORT Error cudaGraphAddEmptyNode(GraphNode** node, Graph* graph, Before before,
                                            std::size_t count) {
  return add_node(node, graph, before, count, action(Type::empty, {}));
}
LOCKSTEP_EXPORT Error cudaEventRecord(EventHandle event, StreamHandle stream);
LOCKSTEP_EXPORT Error cudaGraphAddEventRecordNode(GraphNode** node, Graph* graph, Before before,
                                                  std::size_t count, EventHandle event) {
  return add_node(node, graph, before, count,
                  action(Type::record_event, [event] { return cudaEventRecord(event, nullptr); }));
}
LOCKSTEP_EXPORT Error cudaStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned flags);
LOCKSTEP_EXPORT Error cudaGraphAddEventWaitNode(GraphNode** node, Graph* graph, Before before,
                                                std::size_t count, EventHandle event) {
  return add_node(node, graph, before, count, action(Type::wait_event, [event] {
                    return cudaStreamWaitEvent(nullptr, event, 0);
                  }));
}

LOCKSTEP_EXPORT Error cudaGraphAddMemAllocNode(GraphNode** node, Graph* graph, Before before,
                                               std::size_t count, void* p);
LOCKSTEP_EXPORT Error cudaGraphAddMemFreeNode(GraphNode** node, Graph* graph, Before before,
                                              std::size_t count, void* pointer);

/// Adds a node of any type, with the parameters of the entry for its type.
static Error add_any(GraphNode** node, Graph* graph, Before before, std::size_t count,
                     AnyNodeParameters* p) {
  if (!p) return noted(invalid_value);
  const auto as = [&]<class T>(std::type_identity<T>, std::size_t offset) {
    T value;
    std::memcpy(&value, p->parameters + offset, sizeof value);  // NOLINT: a pointer is meant
    return value;
  };
  constexpr std::size_t behind_flags = 16;
  switch (static_cast<Type>(p->type)) {
    case Type::kernel:
      return add_node(node, graph, before, count,
                      kernel(as(std::type_identity<KernelNodeParameters>{}, 0)));
    case Type::copy:
      return add_node(node, graph, before, count,
                      volume(as(std::type_identity<Copy3D>{}, behind_flags)));
    case Type::fill:
      return add_node(node, graph, before, count,
                      fill(as(std::type_identity<FillNodeParameters>{}, 0)));
    case Type::host:
      return add_node(node, graph, before, count,
                      host(as(std::type_identity<HostNodeParameters>{}, 0)));
    case Type::child:
      return add_node(node, graph, before, count, child(as(std::type_identity<const Graph*>{}, 0)));
    case Type::empty:
      return cudaGraphAddEmptyNode(node, graph, before, count);
    case Type::wait_event:
      return cudaGraphAddEventWaitNode(node, graph, before, count,
                                       as(std::type_identity<EventHandle>{}, 0));
    case Type::record_event:
      return cudaGraphAddEventRecordNode(node, graph, before, count,
                                         as(std::type_identity<EventHandle>{}, 0));
    case Type::allocate:
      return cudaGraphAddMemAllocNode(node, graph, before, count, p->parameters);
    case Type::free:
      return cudaGraphAddMemFreeNode(node, graph, before, count,
                                     as(std::type_identity<void*>{}, 0));
  }
  return unsupported("cudaGraphAddNode of this type");
}

#if LOCKSTEP_CUDA_MAJOR >= 13
LOCKSTEP_EXPORT Error cudaGraphAddNode(GraphNode** node, Graph* graph, Before before, const void*,
                                       std::size_t count, AnyNodeParameters* p) {
  return add_any(node, graph, before, count, p);
}
#else
LOCKSTEP_EXPORT Error cudaGraphAddNode(GraphNode** node, Graph* graph, Before before,
                                       std::size_t count, AnyNodeParameters* p) {
  return add_any(node, graph, before, count, p);
}
LOCKSTEP_EXPORT Error cudaGraphAddNode_v2(GraphNode** node, Graph* graph, Before before,
                                          const void*, std::size_t count, AnyNodeParameters* p) {
  return add_any(node, graph, before, count, p);
}
#endif

LOCKSTEP_EXPORT Error cudaGraphKernelNodeGetParams(GraphNode* node, KernelNodeParameters* p) {
  return change(node, [p](GraphNode& of) -> Error {
    if (!of.call || !p) return invalid_value;
    of.arguments.clear();
    for (const std::size_t offset : of.call->offsets)
      of.arguments.push_back(of.call->parameters.data() + offset);
    const CallConfiguration& how = of.call->how;
    *p = {const_cast<void*>(of.call->function),    how.blocks,          how.threads,
          static_cast<unsigned>(how.shared_bytes), of.arguments.data(), nullptr};
    return success;
  });
}
LOCKSTEP_EXPORT Error cudaGraphKernelNodeSetParams(GraphNode* node, const KernelNodeParameters* p) {
  return change_to(node, p, kernel);
}
LOCKSTEP_EXPORT Error cudaGraphMemcpyNodeSetParams(GraphNode* node, const Copy3D* copy) {
  return change_to(node, copy, volume);
}
LOCKSTEP_EXPORT Error cudaGraphMemcpyNodeSetParams1D(GraphNode* node, void* to, const void* from,
                                                     std::size_t bytes, int kind) {
  return change(node, row(to, from, bytes, kind));
}
LOCKSTEP_EXPORT Error cudaGraphMemsetNodeSetParams(GraphNode* node, const FillNodeParameters* p) {
  return change_to(node, p, fill);
}
LOCKSTEP_EXPORT Error cudaGraphHostNodeSetParams(GraphNode* node, const HostNodeParameters* p) {
  return change_to(node, p, host);
}
LOCKSTEP_EXPORT Error cudaGraphChildGraphNodeGetGraph(GraphNode* node, Graph** graph) {
  return change(node, [graph](GraphNode& of) -> Error {
    if (!graph) return invalid_value;
    *graph = of.child.get();
    return of.child ? success : invalid_value;
  });
}
LOCKSTEP_EXPORT Error cudaGraphExecKernelNodeSetParams(Graph* executable, GraphNode* node,
                                                       const KernelNodeParameters* p) {
  return change_to(executable, node, p, kernel);
}
LOCKSTEP_EXPORT Error cudaGraphExecMemcpyNodeSetParams(Graph* executable, GraphNode* node,
                                                       const Copy3D* copy) {
  return change_to(executable, node, copy, volume);
}
LOCKSTEP_EXPORT Error cudaGraphExecMemcpyNodeSetParams1D(Graph* executable, GraphNode* node,
                                                         void* to, const void* from,
                                                         std::size_t bytes, int kind) {
  return change(executable, node, row(to, from, bytes, kind));
}
LOCKSTEP_EXPORT Error cudaGraphExecMemsetNodeSetParams(Graph* executable, GraphNode* node,
                                                       const FillNodeParameters* p) {
  return change_to(executable, node, p, fill);
}
LOCKSTEP_EXPORT Error cudaGraphExecHostNodeSetParams(Graph* executable, GraphNode* node,
                                                     const HostNodeParameters* p) {
  return change_to(executable, node, p, host);
}
LOCKSTEP_EXPORT Error cudaGraphExecChildGraphNodeSetParams(Graph* executable, GraphNode* node,
                                                           const Graph* inner) {
  return change(executable, node, child(inner));
}
LOCKSTEP_EXPORT Error cudaGraphNodeSetEnabled(Graph* executable, GraphNode* node,
                                              unsigned is_enabled) {
  return change(executable, node, [is_enabled](GraphNode& of) -> Error {
    of.is_enabled = is_enabled != 0;
    return success;
  });
}
LOCKSTEP_EXPORT Error cudaGraphNodeGetEnabled(Graph* executable, GraphNode* node,
                                              unsigned* is_enabled) {
  return change(executable, node, [is_enabled](GraphNode& of) -> Error {
    if (!is_enabled) return invalid_value;
    *is_enabled = of.is_enabled ? 1 : 0;
    return success;
  });
}

}  // namespace lockstep::capture
