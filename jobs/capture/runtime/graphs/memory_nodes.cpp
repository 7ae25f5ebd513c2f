/// Nodes of graphs that allocate and free memory.
///
/// As with a driver the address is known when the node is made, and each launch has its memory
/// there.  Simplified: memory is taken when the node is made, and given back when neither the graph
/// nor a copy of it is left. So the memory that all graphs can use is reserved.
#include "jobs/capture/runtime/graphs/memory_nodes.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "jobs/capture/runtime/connection.hpp"
#include "jobs/capture/runtime/graphs/graphs.hpp"
#include "jobs/capture/runtime/memory.hpp"

namespace lockstep::capture {

/// Memory allocated by a node; another node or the program frees it.
struct GraphMemory {
  void* pointer = nullptr;
  std::size_t bytes = 0;
  bool is_in_use = false;

  GraphMemory() = default;
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  ~GraphMemory();
};

namespace {

/// Layout of cudaMemAllocNodeParams; programs set the size and get the address.
struct AllocationParameters {
  int type = 1, handle_types = 0;
  MemoryLocation location{1, 0};
  char other_properties[72] = {};
  const void* access = nullptr;
  std::size_t access_count = 0, bytes = 0;
  void* pointer = nullptr;
};
static_assert(sizeof(AllocationParameters) == 120);

std::recursive_mutex mutex;
std::map<void*, std::weak_ptr<GraphMemory>>& all() {
  static auto* memories = new std::map<void*, std::weak_ptr<GraphMemory>>;
  return *memories;
}

struct Total {
  std::uint64_t now = 0, high = 0;
  void add(std::uint64_t bytes) { high = std::max(high, now += bytes); }
};
Total used, reserved;

Error use(GraphMemory& memory) {
  const std::lock_guard lock(mutex);
  if (memory.is_in_use) return invalid_value;  // allocated by an earlier launch and not freed
  memory.is_in_use = true;
  used.add(memory.bytes);
  return success;
}

Error free(GraphMemory& memory) {
  const std::lock_guard lock(mutex);
  if (!memory.is_in_use) return invalid_value;
  memory.is_in_use = false;
  used.now -= memory.bytes;
  return success;
}

std::shared_ptr<GraphMemory> find(void* pointer) {
  const std::lock_guard lock(mutex);
  const auto found = all().find(pointer);
  return found == all().end() ? nullptr : found->second.lock();
}

Error make(std::size_t bytes, std::shared_ptr<GraphMemory>& memory) {
  auto made = std::make_shared<GraphMemory>();
  if (bytes == 0) return invalid_value;
  if (const Error error = allocate(&made->pointer, bytes, MemoryKind::device); error != success)
    return error;
  made->bytes = bytes;
  const std::lock_guard lock(mutex);
  all()[made->pointer] = made;
  reserved.add(bytes);
  memory = std::move(made);
  return success;
}

void set_allocation(GraphNode& node, const std::shared_ptr<GraphMemory>& memory) {
  node.type = GraphNode::Type::allocate;
  node.memory = memory;
  node.action = [memory] { return use(*memory); };
}

void set_free(GraphNode& node, const std::shared_ptr<GraphMemory>& memory) {
  node.type = GraphNode::Type::free;
  node.memory = memory;
  node.action = [memory] { return free(*memory); };
}

}  // namespace

/// Gives the reservation up; memory in use stays the program's.
GraphMemory::~GraphMemory() {
  if (!pointer) return;
  const std::lock_guard lock(mutex);
  all().erase(pointer);
  reserved.now -= bytes;
  if (is_in_use) {
    used.now -= bytes;
  } else {
    release(pointer);
  }
}

void free_left_over(const Graph& graph) {
  for (const auto& node : graph.nodes)
    if (node->type == GraphNode::Type::allocate) free(*node->memory);
}

FreedOfGraph free_of_graph(void* pointer) {
  const std::shared_ptr<GraphMemory> memory = find(pointer);
  if (!memory) return FreedOfGraph::none;
  return free(*memory) == success ? FreedOfGraph::freed : FreedOfGraph::was_free;
}

Error allocate_in(StreamHandle stream, void** pointer, std::size_t bytes) {
  Graph* graph = graph_of(stream);
  if (!graph) return allocate(pointer, bytes, MemoryKind::device);
  std::shared_ptr<GraphMemory> memory;
  if (!pointer) return noted(invalid_value);
  if (const Error error = make(bytes, memory); error != success) return noted(error);
  *pointer = memory->pointer;
  auto node = std::make_unique<GraphNode>();
  set_allocation(*node, memory);
  keep(*graph, std::move(node));
  return success;
}

Error release_in(StreamHandle stream, void* pointer) {
  Graph* graph = graph_of(stream);
  if (!graph) return release(pointer, Releaser::device);
  const std::shared_ptr<GraphMemory> memory = find(pointer);
  // A graph may free only memory that graphs have allocated.
  if (!memory) return noted(invalid_value);
  auto node = std::make_unique<GraphNode>();
  set_free(*node, memory);
  keep(*graph, std::move(node));
  return success;
}

LOCKSTEP_EXPORT Error cudaGraphAddMemAllocNode(GraphNode** node, Graph* graph,
                                               GraphNode* const* before, std::size_t count,
                                               AllocationParameters* p) {
  std::shared_ptr<GraphMemory> memory;
  if (!p) return noted(invalid_value);
  return add_node(node, graph, before, count, [&](GraphNode& made) -> Error {
    if (const Error error = make(p->bytes, memory); error != success) return error;
    p->pointer = memory->pointer;
    set_allocation(made, memory);
    return success;
  });
}
LOCKSTEP_EXPORT Error cudaGraphAddMemFreeNode(GraphNode** node, Graph* graph,
                                              GraphNode* const* before, std::size_t count,
                                              void* pointer) {
  return add_node(node, graph, before, count, [&](GraphNode& made) -> Error {
    const std::shared_ptr<GraphMemory> memory = find(pointer);
    if (!memory) return invalid_value;
    set_free(made, memory);
    return success;
  });
}
LOCKSTEP_EXPORT Error cudaGraphMemAllocNodeGetParams(const GraphNode* node,
                                                     AllocationParameters* p) {
  if (!node || node->type != GraphNode::Type::allocate || !p) return noted(invalid_value);
  *p = {};
  p->bytes = node->memory->bytes;
  p->pointer = node->memory->pointer;
  return success;
}
LOCKSTEP_EXPORT Error cudaGraphMemFreeNodeGetParams(const GraphNode* node, void** pointer) {
  if (!node || node->type != GraphNode::Type::free) return noted(invalid_value);
  return give(pointer, node->memory->pointer);
}

/// Returns a value by its number: bytes used now and at most, reserved now and at most.
LOCKSTEP_EXPORT Error cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
  const std::lock_guard lock(mutex);
  const std::uint64_t values[] = {used.now, used.high, reserved.now, reserved.high};
  if (device != 0) return noted(invalid_device);
  if (attribute < 0 || attribute >= 4) return noted(invalid_value);
  return give(static_cast<std::uint64_t*>(value), values[attribute]);
}
/// Sets a maximum back to the present value.
LOCKSTEP_EXPORT Error cudaDeviceSetGraphMemAttribute(int device, int attribute, void*) {
  const std::lock_guard lock(mutex);
  constexpr int used_high = 1, reserved_high = 3;
  if (device != 0) return noted(invalid_device);
  if (attribute != used_high && attribute != reserved_high) return noted(invalid_value);
  Total& total = attribute == used_high ? used : reserved;
  total.high = total.now;
  return success;
}
LOCKSTEP_EXPORT Error cudaDeviceGraphMemTrim(int device) {
  return noted(device == 0 ? success : invalid_device);
}

}  // namespace lockstep::capture
