#include "models/workload/collective.hpp"

#include "models/workload/named_values.hpp"
#include "models/workload/required_key.hpp"
#include "models/workload/step_keys.hpp"

namespace lockstep {
namespace {

class Ring {
 public:
  Ring(const Node& map, const Workload& workload)
      : map_(map),
        workload_(workload),
        keys_(read_parameters<CollectiveKeys>(map)),
        buffers_(read_buffers(required_key(map, keys_.buffers, "buffers"))) {
    const Buffer& first = buffer(buffers_.front());
    for (std::size_t k = 0; k < buffers_.size(); ++k) {
      const Buffer& other = buffer(buffers_[k]);
      const Node item = keys_.buffers.item(k);
      if (other.type != first.type || other.count != first.count)
        throw item.error(
            "buffers " + first.name + " and " + other.name + " differ in type or length",
            "give all GPUs equal buffers");
    }
    count_ = keys_.count.exists() ? number(keys_.count, first.count) : first.count;
    if (keys_.stream.exists()) stream_ = stream_number(keys_.stream);
  }

  std::vector<Step> steps() {
    const Node& operation = required_key(map_, keys_.operation, "operation");
    if (operation.text() == "all_reduce") {
      reduce_scatter();
      all_gather();
    } else if (operation.text() == "reduce_scatter") {
      reduce_scatter();
    } else if (operation.text() == "all_gather") {
      all_gather();
    } else if (operation.text() == "broadcast") {
      broadcast();
    } else {
      throw operation.error("no collective is called \"" + operation.text() + "\"",
                            "all_reduce, reduce_scatter, all_gather or broadcast");
    }
    const bool adds = operation.text() == "all_reduce" || operation.text() == "reduce_scatter";
    for (const Node& unused : {keys_.kernel, keys_.arrived, keys_.grid, keys_.block})
      if (!adds && unused.exists())
        throw unused.error("is for sums, and " + operation.text() + " has none", "leave it out");
    return std::move(steps_);
  }

 private:
  std::size_t gpus() const { return buffers_.size(); }
  const Buffer& buffer(std::uint32_t index) const { return workload_.buffers[index]; }

  std::uint64_t number(const Node& node, std::uint64_t most) const {
    return static_cast<std::uint64_t>(Expression(node).evaluate_integer(
        workload_.parameters, 1, static_cast<std::int64_t>(most)));
  }

  std::vector<std::uint32_t> read_buffers(const Node& list) const {
    std::vector<std::uint32_t> found;
    for (const Node& item : list.items()) {
      const std::uint32_t index = buffer_index(item, workload_.buffers);
      for (const std::uint32_t other : found)
        if (buffer(other).gpu == buffer(index).gpu)
          throw item.error(
              "buffers " + buffer(other).name + " and " + item.text() + " lie on the same GPU",
              "name one buffer of each");
      if (buffer(index).memory != MemoryKind::device)
        throw item.error("collectives are of device buffers", "make it memory: device");
      found.push_back(index);
    }
    if (found.size() < 2)
      throw list.error("a collective has two GPUs or more", "name a buffer of each");
    return found;
  }

  /// Elements of the part that goes round.
  std::uint64_t part() const {
    if (count_ % gpus() != 0)
      throw(keys_.count.exists() ? keys_.count : keys_.buffers)
          .error(std::to_string(count_) + " elements do not divide into " + std::to_string(gpus()) +
                     " parts",
                 "make it a multiple of the number of GPUs");
    return count_ / gpus();
  }

  Expression constant(std::uint64_t value) const { return {std::to_string(value), map_.where()}; }
  Step begin(Step::Kind kind) const {
    Step step;
    step.kind = kind;
    step.where = map_.where();
    step.stream = stream_;
    step.has_stream = true;
    return step;
  }
  void copy(std::uint32_t from, std::uint32_t to, std::uint64_t first, std::uint64_t at,
            std::uint64_t count) {
    Step step = begin(Step::Kind::peer_copy);
    step.buffer = from;
    step.other = to;
    step.offset = constant(first);
    step.other_offset = constant(at);
    step.count = constant(count);
    steps_.push_back(std::move(step));
  }
  void synchronize() { steps_.push_back(begin(Step::Kind::synchronize)); }

  void add(std::size_t gpu, std::uint32_t arrived, std::uint64_t first) {
    Step step = begin(Step::Kind::launch);
    step.kernel = keys_.kernel.text();
    step.gpu = buffer(buffers_[gpu]).gpu;
    const std::uint64_t threads = keys_.block.exists() ? number(keys_.block, 1024) : 256;
    const std::uint64_t blocks =
        keys_.grid.exists() ? number(keys_.grid, 1u << 30) : (part() + threads - 1) / threads;
    step.grid[0] = constant(blocks);
    step.block[0] = constant(threads);
    const auto pass = [&](std::uint32_t index) {
      Step::Argument argument;
      argument.is_buffer = true;
      argument.buffer = index;
      argument.expression = Expression(buffer(index).name, map_.where());
      step.arguments.push_back(std::move(argument));
    };
    pass(buffers_[gpu]);
    pass(arrived);
    for (const std::uint64_t value : {first, part()}) {
      Step::Argument argument;
      argument.expression = constant(value);
      step.arguments.push_back(std::move(argument));
    }
    steps_.push_back(std::move(step));
  }

  void reduce_scatter() {
    required_key(map_, keys_.kernel, "kernel");
    const Node& list = required_key(map_, keys_.arrived, "arrived");
    const std::vector<std::uint32_t> arrived = read_buffers(list);
    if (arrived.size() != gpus())
      throw list.error("has " + std::to_string(arrived.size()) + " buffers, and buffers has " +
                           std::to_string(gpus()),
                       "name one for each GPU, in the same order");
    for (std::size_t k = 0; k < gpus(); ++k) {
      const Buffer &own = buffer(buffers_[k]), &scratch = buffer(arrived[k]);
      if (scratch.gpu != own.gpu || scratch.type != own.type || scratch.count < part())
        throw list.item(k).error("buffer " + scratch.name + " does not hold a part of " + own.name,
                                 "put it on the same GPU, with the same type and " +
                                     std::to_string(part()) + " elements or more");
    }
    const std::size_t n = gpus();
    for (std::size_t round = 0; round + 1 < n; ++round) {
      for (std::size_t k = 0; k < n; ++k)
        copy(buffers_[k], arrived[(k + 1) % n], (k + 2 * n - round - 1) % n * part(), 0, part());
      synchronize();
      for (std::size_t k = 0; k < n; ++k) add(k, arrived[k], (k + 2 * n - round - 2) % n * part());
      synchronize();
    }
  }

  void all_gather() {
    const std::size_t n = gpus();
    for (std::size_t round = 0; round + 1 < n; ++round) {
      for (std::size_t k = 0; k < n; ++k) {
        const std::uint64_t first = (k + n - round) % n * part();
        copy(buffers_[k], buffers_[(k + 1) % n], first, first, part());
      }
      synchronize();
    }
  }

  void broadcast() {
    for (std::size_t k = 1; k < gpus(); ++k) copy(buffers_[0], buffers_[k], 0, 0, count_);
    synchronize();
  }

  const Node map_;
  const Workload& workload_;
  const CollectiveKeys keys_;
  const std::vector<std::uint32_t> buffers_;
  std::uint64_t count_ = 0;
  std::uint32_t stream_ = 0;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> expand_collective(const Node& map, const Workload& workload) {
  return Ring(map, workload).steps();
}

}  // namespace lockstep
