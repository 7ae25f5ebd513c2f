#include "models/isa/lowering/schedule/dependences.hpp"

#include <map>

#include "models/isa/lowering/analysis/operation.hpp"

namespace lockstep::isa::lowering {

namespace {

struct Access {
  std::uint32_t operation;
  std::uint32_t base_version;  ///< how often the base register had been written before
};

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
    Access access{n, 0};
    if (!operation.sources.empty() && operation.sources[0].kind == Kind::reg)
      access.base_version = registers_[operation.sources[0].index].version;
    if (writes_memory(operation)) {
      for (const Access& load : loads_)
        if (may_alias(load, access)) edge(load.operation, n, false);
      for (const Access& store : stores_) edge(store.operation, n, false);
      stores_.push_back(access);
    } else {
      for (const Access& store : stores_)
        if (may_alias(access, store)) edge(store.operation, n, false);
      loads_.push_back(access);
    }
  }

  static Space space_of(const ir::Operation& operation) {
    return has_trait(operation.opcode, on_own_stack) ? Space::local : operation.space;
  }

  bool may_alias(const Access& load, const Access& store) const {
    const ir::Operation& a = operations_[load.operation];
    const ir::Operation& b = operations_[store.operation];
    if (a.cache == CacheOperator::non_coherent || space_of(a) == Space::constant ||
        space_of(a) == Space::parameter)
      return false;
    if (space_of(a) != space_of(b))
      return space_of(a) == Space::generic || space_of(b) == Space::generic;
    if (a.sources.empty() || b.sources.empty()) return true;
    const ir::Operand& base_a = a.sources[0];
    const ir::Operand& base_b = b.sources[0];
    if (!same_value(base_a, base_b)) return true;
    if (base_a.kind == Kind::reg && load.base_version != store.base_version) return true;
    const std::int64_t size_a = bytes_of(a.type) * a.elements;
    const std::int64_t size_b = bytes_of(b.type) * b.elements;
    return a.offset < b.offset + size_b && b.offset < a.offset + size_a;
  }

  const ir::Operation* operations_;
  std::vector<std::vector<Dependence>> edges_;
  std::map<std::uint32_t, RegisterState> registers_;
  std::vector<Access> loads_, stores_;
  std::int64_t last_of_path_ = -1;
};

}  // namespace

std::vector<std::vector<Dependence>> dependences(const ir::Operation* first, std::uint32_t count) {
  return Graph(first, count).run();
}

}  // namespace lockstep::isa::lowering
