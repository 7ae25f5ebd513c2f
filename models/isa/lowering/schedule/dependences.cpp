#include "models/isa/lowering/schedule/dependences.hpp"

#include <unordered_map>

#include "models/isa/lowering/analysis/operation.hpp"
#include "models/isa/lowering/schedule/memory_order.hpp"

namespace lockstep::isa::lowering {

namespace {

struct RegisterState {
  std::int64_t writer = -1;
  std::uint32_t version = 0;
  std::vector<std::uint32_t> readers;
};

class Graph {
 public:
  Graph(const ir::Operation* operations, std::uint32_t count)
      : operations_(operations), edges_(count) {}

  std::vector<std::vector<Dependence>> run() {
    for (std::uint32_t n = 0; n < edges_.size(); ++n) {
      const ir::Operation& operation = operations_[n];
      if (reads_memory(operation) || writes_memory(operation)) add_access(n);
      if (depends_on_path(operation)) {
        if (last_of_path_ >= 0) edge(static_cast<std::uint32_t>(last_of_path_), n, false);
        last_of_path_ = n;
      }
      add_registers(n);
    }
    return std::move(edges_);
  }

 private:
  void edge(std::uint32_t from, std::uint32_t to, bool carries_value) {
    if (from != to) edges_[from].push_back({to, carries_value});
  }

  void add_registers(std::uint32_t n) {
    const ir::Operation& operation = operations_[n];
    const auto read = [&](const ir::Operand& use) {
      RegisterState& state = registers_[use.index];
      if (state.writer >= 0) edge(static_cast<std::uint32_t>(state.writer), n, true);
      state.readers.push_back(n);
    };
    for_each_use(operation, read);
    if (is_guarded(operation)) for_each_definition(operation, read);
    for_each_definition(operation, [&](const ir::Operand& d) {
      RegisterState& state = registers_[d.index];
      if (state.writer >= 0) edge(static_cast<std::uint32_t>(state.writer), n, false);
      for (std::uint32_t reader : state.readers) edge(reader, n, false);
      state.readers.clear();
      state.writer = n;
      ++state.version;
    });
  }

  void add_access(std::uint32_t n) {
    const ir::Operation& operation = operations_[n];
    std::uint32_t version = 0;
    if (!operation.sources.empty() && operation.sources[0].kind == Kind::reg)
      version = registers_[operation.sources[0].index].version;
    const MemoryOrder::Access access = MemoryOrder::access_of(operation, n, version);
    if (writes_memory(operation)) {
      for (const std::uint32_t before : memory_.add_store(access)) edge(before, n, false);
    } else if (const auto before = memory_.add_load(access)) {
      edge(*before, n, false);
    }
  }

  const ir::Operation* operations_;
  std::vector<std::vector<Dependence>> edges_;
  std::unordered_map<std::uint32_t, RegisterState> registers_;
  MemoryOrder memory_;
  std::int64_t last_of_path_ = -1;
};

}  // namespace

std::vector<std::vector<Dependence>> dependences(const ir::Operation* first, std::uint32_t count) {
  return Graph(first, count).run();
}

}  // namespace lockstep::isa::lowering
