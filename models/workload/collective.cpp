#include "models/workload/collective.hpp"

#include <utility>

#include "models/workload/collective_steps.hpp"
#include "models/workload/required_key.hpp"

namespace lockstep {
namespace {

enum class Operation { all_reduce, reduce_scatter, all_gather, broadcast };

bool adds(Operation operation) {
  return operation == Operation::all_reduce || operation == Operation::reduce_scatter;
}

void reduce_scatter_in_ring(CollectiveSteps& steps) {
  const std::size_t n = steps.gpus();
  const std::uint64_t part = steps.part();
  steps.read_sums(part);
  for (std::size_t round = 0; round + 1 < n; ++round) {
    for (std::size_t k = 0; k < n; ++k)
      steps.send(k, (k + 1) % n, (k + 2 * n - round - 1) % n * part, part);
    steps.synchronize();
    for (std::size_t k = 0; k < n; ++k) steps.add(k, (k + 2 * n - round - 2) % n * part, part);
    steps.synchronize();
  }
}

void all_gather_in_ring(CollectiveSteps& steps) {
  const std::size_t n = steps.gpus();
  const std::uint64_t part = steps.part();
  for (std::size_t round = 0; round + 1 < n; ++round) {
    for (std::size_t k = 0; k < n; ++k)
      steps.copy(k, (k + 1) % n, (k + n - round) % n * part, part);
    steps.synchronize();
  }
}

void broadcast_in_ring(CollectiveSteps& steps) {
  steps.synchronize();
  for (std::size_t k = 1; k < steps.gpus(); ++k) steps.copy(0, k, k * steps.part(), steps.part());
  steps.synchronize();
  all_gather_in_ring(steps);
}

/// Parts go from GPU to GPU, all sending at the same time, a part in each round.  A broadcast
/// begins with a part for each GPU.  Sums and gathers begin on each GPU when its stream is there.
void expand_ring(Operation operation, CollectiveSteps& steps) {
  if (operation == Operation::broadcast) return broadcast_in_ring(steps);
  if (adds(operation)) reduce_scatter_in_ring(steps);
  if (operation != Operation::reduce_scatter) all_gather_in_ring(steps);
}

/// The ring, gone round by one kernel on each GPU: it stores into its neighbour's memory and waits
/// for its other neighbour's flags.
void expand_ring_kernel(Operation operation, CollectiveSteps& steps) {
  const std::uint64_t rounds = steps.gpus() - 1;
  steps.synchronize();
  if (adds(operation)) steps.read_sums(rounds * steps.part());
  steps.launch_ring(adds(operation) ? 0 : rounds,
                    operation == Operation::reduce_scatter ? rounds : 2 * rounds);
}

/// Both trees, gone up and down by one kernel on each GPU.
void expand_tree_kernel(Operation operation, CollectiveSteps& steps) {
  const CollectiveTrees trees = two_trees(steps.gpus());
  steps.synchronize();
  if (adds(operation)) steps.read_sums(most_children(trees) * steps.count());
  steps.launch_trees(trees, adds(operation));
}

/// Leaves the sum at the first GPU.
void reduce_in_tree(CollectiveSteps& steps) {
  const std::uint64_t count = steps.count();
  steps.read_sums(count);
  for (std::size_t distance = 1; distance < steps.gpus(); distance *= 2) {
    for (std::size_t k = distance; k < steps.gpus(); k += 2 * distance)
      steps.send(k, k - distance, 0, count);
    steps.synchronize();
    for (std::size_t k = distance; k < steps.gpus(); k += 2 * distance)
      steps.add(k - distance, 0, count);
    steps.synchronize();
  }
}

void broadcast_in_tree(CollectiveSteps& steps) {
  std::size_t distance = 1;
  while (2 * distance < steps.gpus()) distance *= 2;
  for (; distance > 0; distance /= 2) {
    for (std::size_t k = distance; k < steps.gpus(); k += 2 * distance)
      steps.copy(k - distance, k, 0, steps.count());
    steps.synchronize();
  }
}

/// All of the buffers goes up a binomial tree, where it is added, and down again.
void expand_tree(Operation operation, CollectiveSteps& steps) {
  steps.synchronize();
  if (operation == Operation::all_reduce) reduce_in_tree(steps);
  broadcast_in_tree(steps);
}

/// Returns how many copies of a GPU there are at the same time.
std::uint32_t lanes_of(const CollectiveSteps& steps) {
  return static_cast<std::uint32_t>(steps.gpus() - 1);
}

void reduce_scatter_directly(CollectiveSteps& steps) {
  const std::size_t n = steps.gpus();
  const std::uint64_t part = steps.part();
  steps.read_sums((n - 1) * part);
  for (std::uint32_t lane = 0; lane + 1 < n; ++lane)
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t to = (k + lane + 1) % n;
      steps.send(k, to, to * part, part, lane * part, lane);
    }
  steps.synchronize(lanes_of(steps));
  for (std::size_t place = 0; place + 1 < n; ++place)
    for (std::size_t k = 0; k < n; ++k) steps.add(k, k * part, part, place * part);
  steps.synchronize();
}

void all_gather_directly(CollectiveSteps& steps) {
  const std::size_t n = steps.gpus();
  const std::uint64_t part = steps.part();
  for (std::uint32_t lane = 0; lane + 1 < n; ++lane)
    for (std::size_t k = 0; k < n; ++k) steps.copy(k, (k + lane + 1) % n, k * part, part, lane);
  steps.synchronize(lanes_of(steps));
}

void broadcast_directly(CollectiveSteps& steps) {
  for (std::uint32_t lane = 0; lane + 1 < steps.gpus(); ++lane)
    steps.copy(0, lane + 1, 0, steps.count(), lane);
  steps.synchronize(lanes_of(steps));
}

/// Every GPU sends every other one its part at the same time, one round for all of them.
void expand_direct(Operation operation, CollectiveSteps& steps) {
  steps.synchronize();
  if (operation == Operation::broadcast) return broadcast_directly(steps);
  if (adds(operation)) reduce_scatter_directly(steps);
  if (operation != Operation::reduce_scatter) all_gather_directly(steps);
}

/// Both rounds by one kernel on each GPU, which stores into the memory of all others.
void expand_direct_kernel(Operation operation, CollectiveSteps& steps) {
  steps.synchronize();
  if (adds(operation)) steps.read_sums((steps.gpus() - 1) * steps.part());
  steps.launch_direct({.adds = adds(operation),
                       .copies = operation != Operation::reduce_scatter,
                       .is_broadcast = operation == Operation::broadcast});
}

/// A broadcast without an algorithm: the first GPU's copies go one after the other.
void broadcast_in_turn(Operation, CollectiveSteps& steps) {
  for (std::size_t k = 1; k < steps.gpus(); ++k) steps.copy(0, k, 0, steps.count());
  steps.synchronize();
}

using Expand = void (*)(Operation operation, CollectiveSteps& steps);

Operation read_operation(const Node& node) {
  static constexpr std::pair<const char*, Operation> words[] = {
      {"all_reduce", Operation::all_reduce},
      {"reduce_scatter", Operation::reduce_scatter},
      {"all_gather", Operation::all_gather},
      {"broadcast", Operation::broadcast}};
  for (const auto& [word, operation] : words)
    if (node.text() == word) return operation;
  throw node.error("no collective is called \"" + node.text() + "\"",
                   "all_reduce, reduce_scatter, all_gather or broadcast");
}

Expand read_algorithm(const CollectiveKeys& keys, Operation operation) {
  if (!keys.algorithm.exists())
    return operation == Operation::broadcast ? broadcast_in_turn : expand_ring;
  const std::string& word = keys.algorithm.text();
  if (word == "ring") return expand_ring;
  if (word == "direct") return expand_direct;
  if (word != "tree")
    throw keys.algorithm.error("no algorithm is called \"" + word + "\"", "ring, tree or direct");
  if (operation != Operation::all_reduce && operation != Operation::broadcast)
    throw keys.algorithm.error(
        "a tree moves whole buffers, and " + keys.operation.text() + " leaves each GPU a part",
        "ring or direct");
  return expand_tree;
}

/// Returns whether one kernel on each GPU does it all.
bool is_by_kernel(const CollectiveKeys& keys) {
  if (!keys.by.exists() || keys.by.text() == "copies") return false;
  if (keys.by.text() != "kernel")
    throw keys.by.error("a collective is not done by \"" + keys.by.text() + "\"",
                        "copies or kernel");
  return true;
}

Expand expand_by_kernel(const CollectiveKeys& keys, Operation operation, Expand algorithm) {
  if (algorithm == expand_tree) return expand_tree_kernel;
  if (algorithm == expand_direct) return expand_direct_kernel;
  if (operation == Operation::broadcast)
    throw keys.by.error("no kernel broadcasts round a ring",
                        "algorithm: tree or direct, or by: copies");
  return expand_ring_kernel;
}

/// Refuses keys that the operation has no use for.
void check_unused(const CollectiveKeys& keys, Operation operation, bool by_kernel) {
  const std::string name = keys.operation.text();
  if (!adds(operation) && keys.arrived.exists())
    throw keys.arrived.error("is for sums, and " + name + " has none", "leave it out");
  if (!adds(operation) && !by_kernel)
    for (const Node& unused : {keys.kernel, keys.grid, keys.block})
      if (unused.exists())
        throw unused.error("is for sums, and " + name + " has none", "leave it out");
  if (!by_kernel && keys.flags.exists())
    throw keys.flags.error("is for kernels that wait for each other", "write by: kernel");
}

}  // namespace

std::vector<Step> expand_collective(const Node& map, const Workload& workload) {
  CollectiveSteps steps(map, workload);
  const CollectiveKeys& keys = steps.keys();
  const Operation operation = read_operation(required_key(map, keys.operation, "operation"));
  const Expand expand = read_algorithm(keys, operation);
  const bool by_kernel = is_by_kernel(keys);
  check_unused(keys, operation, by_kernel);
  (by_kernel ? expand_by_kernel(keys, operation, expand) : expand)(operation, steps);
  return steps.take();
}

}  // namespace lockstep
