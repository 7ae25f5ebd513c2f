/// Steps of a `collective`, in the making: the copies, sums and waits of which all algorithms are
/// made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/workload/step_keys.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

/// Place of a GPU in a tree.  GPUs are numbered by their place in `buffers:`.
struct TreePlace {
  std::optional<std::size_t> parent;  ///< none: the GPU is the root
  std::size_t child = 0;              ///< number of the GPU among its parent's children
  std::vector<std::size_t> children;  ///< at most two
};

/// Two trees, with a place for each GPU in each.
using CollectiveTrees = std::array<std::vector<TreePlace>, 2>;

/// Returns two binary trees in which the first GPU is the root, and each other GPU has children in
/// one of them at most.  So a GPU that adds and passes on half of the elements is a leaf for the
/// other half, and all send about as much.
/// Source: Sanders et al. 2009, two trees.
CollectiveTrees two_trees(std::size_t gpus);

/// Returns how many children a GPU of these trees has at most in one of them.
std::size_t most_children(const CollectiveTrees& trees);

/// Work of kernels that store into the memory of all other GPUs.
struct DirectKernels {
  bool adds = false;          ///< each GPU adds up its part, which the others send it first
  bool copies = false;        ///< each GPU sends its part to where it stays
  bool is_broadcast = false;  ///< the first GPU alone sends, all elements
};

/// GPUs are numbered by their place in `buffers:`.
class CollectiveSteps {
 public:
  CollectiveSteps(const Node& map, const Workload& workload);

  const CollectiveKeys& keys() const { return keys_; }
  std::size_t gpus() const { return buffers_.size(); }
  std::uint64_t count() const { return count_; }
  /// Returns the elements of a GPU's part.  Throws UserError if the GPUs have no equal parts.
  std::uint64_t part() const;

  /// Reads the kernel and the buffers `arrived`.  `room`: elements that each of them has to hold.
  void read_sums(std::uint64_t room);
  /// Copies elements of one GPU's buffer to the same place in another one's.  Copies of a GPU on
  /// one lane go one after the other, those on different lanes at the same time.
  void copy(std::size_t from, std::size_t to, std::uint64_t first, std::uint64_t count,
            std::uint32_t lane = 0);
  /// Copies elements of one GPU's buffer to what has arrived at another one, from `at` on.
  void send(std::size_t from, std::size_t to, std::uint64_t first, std::uint64_t count,
            std::uint64_t at = 0, std::uint32_t lane = 0);
  /// Adds what has arrived at the GPU, from `at` on, to elements of its buffer.
  void add(std::size_t gpu, std::uint64_t first, std::uint64_t count, std::uint64_t at = 0);
  /// Waits for all that the lanes below `lanes` have been given.
  void synchronize(std::uint32_t lanes = 1);
  /// Starts one kernel on each GPU, all at the same time, and waits for them.  Each goes through
  /// rounds [first, end) of the ring: those below gpus() - 1 are of sums.
  void launch_ring(std::uint64_t first, std::uint64_t end);
  /// Starts one kernel on each GPU, all at the same time, and waits for them.  All elements go up
  /// the trees, if the kernels add, and down again.
  void launch_trees(const CollectiveTrees& trees, bool adds);
  /// Starts one kernel on each GPU, all at the same time, and waits for them.  Each sends to all
  /// others.  Throws UserError if there are more GPUs than a kernel knows.
  void launch_direct(const DirectKernels& work);

  std::vector<Step> take() { return std::move(steps_); }

 private:
  /// Shape and flags that all kernels of a collective share.
  struct Kernels {
    std::uint64_t blocks = 0, threads = 0;
    std::vector<std::uint32_t> flags;
  };
  const Buffer& buffer(std::uint32_t index) const { return workload_.buffers[index]; }
  std::uint64_t number(const Node& node, std::uint64_t most) const;
  std::vector<std::uint32_t> read_buffers(const Node& list) const;
  std::vector<std::uint32_t> read_partners(const Node& list) const;
  std::vector<std::uint32_t> read_flags(std::uint64_t blocks, std::uint64_t words) const;
  /// Returns the kernels' shape and flags.  Adds the start of the library.
  Kernels start_kernels(std::uint64_t default_threads, std::uint64_t words_of_block);
  void add_kernel(std::size_t gpu, Step step);
  /// Returns the buffers for what arrives; the buffers themselves where nothing is added.
  const std::vector<std::uint32_t>& arrived() const {
    return arrived_.empty() ? buffers_ : arrived_;
  }
  void pass_tree(Step& launch, const TreePlace& place, const Kernels& kernels) const;
  /// Returns the words of a structure: what a GPU has to do with each other one, the next GPU
  /// first.
  Step::Argument others_of(std::size_t gpu, const DirectKernels& work,
                           const Kernels& kernels) const;
  Expression constant(std::uint64_t value) const { return {std::to_string(value), map_.where()}; }
  Step begin(Step::Kind kind, std::uint32_t lane) const;
  Step begin_launch(std::size_t gpu, std::uint64_t blocks, std::uint64_t threads) const;
  Step::Argument buffer_argument(std::uint32_t index, std::uint64_t first) const;
  Step::Argument number_argument(std::uint64_t value) const;
  void pass_buffer(Step& launch, std::uint32_t index, std::uint64_t first = 0) const {
    launch.arguments.push_back(buffer_argument(index, first));
  }
  void pass_number(Step& launch, std::uint64_t value) const {
    launch.arguments.push_back(number_argument(value));
  }
  void copy_elements(std::uint32_t from, std::uint32_t to, std::uint64_t first, std::uint64_t at,
                     std::uint64_t count, std::uint32_t lane);

  const Node map_;
  const Workload& workload_;
  const CollectiveKeys keys_;
  const std::vector<std::uint32_t> buffers_;
  std::vector<std::uint32_t> arrived_;
  std::uint64_t count_ = 0;
  std::uint32_t stream_ = 0;
  std::vector<Step> steps_;
};

}  // namespace lockstep
