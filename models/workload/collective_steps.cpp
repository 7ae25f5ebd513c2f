#include "models/workload/collective_steps.hpp"

#include <algorithm>

#include "models/workload/named_values.hpp"
#include "models/workload/required_key.hpp"

namespace lockstep {
namespace {

constexpr std::uint64_t most_threads = 1024, most_blocks = 1u << 30;
constexpr std::uint64_t threads_of_sums = 256;
/// NCCL 2 on A100s and H100s: 24 channels, each a block of 512 threads that work and a warp that
/// tells the neighbour.
constexpr std::uint64_t channels = 24, threads_of_channel = 544;
/// Half of a tree's threads go up and half down at the same time; tree_kernel keeps all its values
/// in registers with so many.
constexpr std::uint64_t threads_of_tree = 512;
/// Words of flags of a block.  Ring: what has arrived, and how much had when the launch began.
/// Tree: what both children and the parent have sent, and how much they had.  Direct, a word for
/// each GPU: what each other one has sent, and how much they had.
constexpr std::uint64_t words_of_ring = 2, words_of_tree = 4;
constexpr std::size_t children_of_tree = 2;
/// Entries of a direct kernel's structure, one for each other GPU.
constexpr std::size_t most_others = 15;
constexpr int words_of_address = 2;
constexpr std::uint32_t most_streams = 65536;

/// Returns the parent of a number above 0 in an in-order binary tree of the numbers 1 to
/// gpus - 1, whose root hangs from 0.  Odd numbers are its leaves.
std::size_t parent_in_order(std::size_t number, std::size_t gpus) {
  const std::size_t level = number & (~number + 1);
  const std::size_t without = number - level;
  const std::size_t up = without | (2 * level);
  return up < gpus ? up : without;
}

/// Returns a tree in which GPU names[k] has the place of the number k.
std::vector<TreePlace> tree_of(const std::vector<std::size_t>& names) {
  std::vector<TreePlace> places(names.size());
  for (std::size_t number = 1; number < names.size(); ++number) {
    const std::size_t parent = names[parent_in_order(number, names.size())];
    TreePlace& place = places[names[number]];
    place.parent = parent;
    place.child = places[parent].children.size();
    places[parent].children.push_back(names[number]);
  }
  return places;
}

}  // namespace

CollectiveTrees two_trees(std::size_t gpus) {
  std::vector<std::size_t> names(gpus);
  for (std::size_t k = 0; k < gpus; ++k) names[k] = k;
  std::vector<TreePlace> first = tree_of(names);
  // The GPUs behind the first one shift by one place, so that leaves and inner nodes change roles.
  std::rotate(names.begin() + 1, names.end() - 1, names.end());
  return {std::move(first), tree_of(names)};
}

std::size_t most_children(const CollectiveTrees& trees) {
  std::size_t most = 0;
  for (const std::vector<TreePlace>& tree : trees)
    for (const TreePlace& place : tree) most = std::max(most, place.children.size());
  return most;
}

CollectiveSteps::CollectiveSteps(const Node& map, const Workload& workload)
    : map_(map),
      workload_(workload),
      keys_(read_parameters<CollectiveKeys>(map)),
      buffers_(read_buffers(required_key(map, keys_.buffers, "buffers"))) {
  const Buffer& first = buffer(buffers_.front());
  for (std::size_t k = 0; k < buffers_.size(); ++k) {
    const Buffer& other = buffer(buffers_[k]);
    if (other.type != first.type || other.count != first.count)
      throw keys_.buffers.item(k).error(
          "buffers " + first.name + " and " + other.name + " differ in type or length",
          "give all GPUs equal buffers");
  }
  count_ = keys_.count.exists() ? number(keys_.count, first.count) : first.count;
  if (keys_.stream.exists()) stream_ = stream_number(keys_.stream);
}

std::uint64_t CollectiveSteps::number(const Node& node, std::uint64_t most) const {
  return static_cast<std::uint64_t>(
      Expression(node).evaluate_integer(workload_.parameters, 1, static_cast<std::int64_t>(most)));
}

std::vector<std::uint32_t> CollectiveSteps::read_buffers(const Node& list) const {
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

/// Reads a list that has a further buffer for each GPU.
std::vector<std::uint32_t> CollectiveSteps::read_partners(const Node& list) const {
  std::vector<std::uint32_t> partners = read_buffers(list);
  if (partners.size() != gpus())
    throw list.error("has " + std::to_string(partners.size()) + " buffers, and buffers has " +
                         std::to_string(gpus()),
                     "name one for each GPU, in the same order");
  return partners;
}

std::uint64_t CollectiveSteps::part() const {
  if (count_ % gpus() != 0)
    throw(keys_.count.exists() ? keys_.count : keys_.buffers)
        .error(std::to_string(count_) + " elements do not divide into " + std::to_string(gpus()) +
                   " parts",
               "make it a multiple of the number of GPUs");
  return count_ / gpus();
}

void CollectiveSteps::read_sums(std::uint64_t room) {
  required_key(map_, keys_.kernel, "kernel");
  const Node& list = required_key(map_, keys_.arrived, "arrived");
  arrived_ = read_partners(list);
  for (std::size_t k = 0; k < gpus(); ++k) {
    const Buffer &own = buffer(buffers_[k]), &scratch = buffer(arrived_[k]);
    if (scratch.gpu != own.gpu || scratch.type != own.type || scratch.count < room)
      throw list.item(k).error(
          "buffer " + scratch.name + " does not hold what arrives for " + own.name,
          "put it on the same GPU, with the same type and " + std::to_string(room) +
              " elements or more");
  }
}

std::vector<std::uint32_t> CollectiveSteps::read_flags(std::uint64_t blocks,
                                                       std::uint64_t words) const {
  const Node& list = required_key(map_, keys_.flags, "flags");
  std::vector<std::uint32_t> flags = read_partners(list);
  for (std::size_t k = 0; k < gpus(); ++k) {
    const Buffer &own = buffer(buffers_[k]), &flag = buffer(flags[k]);
    if (flag.gpu != own.gpu || isa::bytes_of(flag.type) != 4 || flag.count < words * blocks)
      throw list.item(k).error("buffer " + flag.name + " does not hold " + std::to_string(words) +
                                   " words for each of " + std::to_string(blocks) + " blocks",
                               "put it on the GPU of " + own.name + ", with type: u32 and count: " +
                                   std::to_string(words * blocks) + " or more");
  }
  return flags;
}

Step CollectiveSteps::begin(Step::Kind kind, std::uint32_t lane) const {
  if (stream_ + lane >= most_streams)
    throw keys_.stream.error("there is no stream " + std::to_string(stream_ + lane) +
                                 ", and a direct collective has one for each other GPU",
                             "name a smaller one");
  Step step;
  step.kind = kind;
  step.where = map_.where();
  step.stream = stream_ + lane;
  step.has_stream = true;
  return step;
}

void CollectiveSteps::copy_elements(std::uint32_t from, std::uint32_t to, std::uint64_t first,
                                    std::uint64_t at, std::uint64_t count, std::uint32_t lane) {
  Step step = begin(Step::Kind::peer_copy, lane);
  step.buffer = from;
  step.other = to;
  step.offset = constant(first);
  step.other_offset = constant(at);
  step.count = constant(count);
  steps_.push_back(std::move(step));
}

void CollectiveSteps::copy(std::size_t from, std::size_t to, std::uint64_t first,
                           std::uint64_t count, std::uint32_t lane) {
  copy_elements(buffers_[from], buffers_[to], first, first, count, lane);
}

void CollectiveSteps::send(std::size_t from, std::size_t to, std::uint64_t first,
                           std::uint64_t count, std::uint64_t at, std::uint32_t lane) {
  copy_elements(buffers_[from], arrived_[to], first, at, count, lane);
}

void CollectiveSteps::synchronize(std::uint32_t lanes) {
  for (std::uint32_t lane = 0; lane < lanes; ++lane)
    steps_.push_back(begin(Step::Kind::synchronize, lane));
}

Step CollectiveSteps::begin_launch(std::size_t gpu, std::uint64_t blocks,
                                   std::uint64_t threads) const {
  Step step = begin(Step::Kind::launch, 0);
  step.kernel = keys_.kernel.text();
  step.gpu = buffer(buffers_[gpu]).gpu;
  step.grid[0] = constant(blocks);
  step.block[0] = constant(threads);
  return step;
}

Step::Argument CollectiveSteps::buffer_argument(std::uint32_t index, std::uint64_t first) const {
  Step::Argument argument;
  argument.is_buffer = true;
  argument.buffer = index;
  argument.offset = first * isa::bytes_of(buffer(index).type);
  argument.expression = Expression(buffer(index).name, map_.where());
  return argument;
}

Step::Argument CollectiveSteps::number_argument(std::uint64_t value) const {
  Step::Argument argument;
  argument.expression = constant(value);
  return argument;
}

void CollectiveSteps::add(std::size_t gpu, std::uint64_t first, std::uint64_t count,
                          std::uint64_t at) {
  const std::uint64_t threads =
      keys_.block.exists() ? number(keys_.block, most_threads) : threads_of_sums;
  const std::uint64_t blocks =
      keys_.grid.exists() ? number(keys_.grid, most_blocks) : (count + threads - 1) / threads;
  Step step = begin_launch(gpu, blocks, threads);
  pass_buffer(step, buffers_[gpu]);
  pass_buffer(step, arrived_[gpu], at);
  pass_number(step, first);
  pass_number(step, count);
  steps_.push_back(std::move(step));
}

CollectiveSteps::Kernels CollectiveSteps::start_kernels(std::uint64_t default_threads,
                                                        std::uint64_t words_of_block) {
  required_key(map_, keys_.kernel, "kernel");
  Kernels kernels;
  kernels.threads = keys_.block.exists() ? number(keys_.block, most_threads) : default_threads;
  kernels.blocks = keys_.grid.exists() ? number(keys_.grid, most_blocks) : channels;
  kernels.flags = read_flags(kernels.blocks, words_of_block);
  Step start = begin(Step::Kind::delay, 0);
  start.is_start_of_collective = true;
  steps_.push_back(std::move(start));
  return kernels;
}

void CollectiveSteps::add_kernel(std::size_t gpu, Step step) {
  step.is_with_next = gpu + 1 < gpus();
  steps_.push_back(std::move(step));
}

void CollectiveSteps::launch_ring(std::uint64_t first, std::uint64_t end) {
  const Kernels kernels = start_kernels(threads_of_channel, words_of_ring);
  for (std::size_t k = 0; k < gpus(); ++k) {
    const std::size_t next = (k + 1) % gpus();
    Step step = begin_launch(k, kernels.blocks, kernels.threads);
    for (const std::vector<std::uint32_t>* list : {&buffers_, &arrived(), &kernels.flags}) {
      pass_buffer(step, (*list)[k]);
      pass_buffer(step, (*list)[next]);
    }
    for (const std::uint64_t value : {std::uint64_t{k}, std::uint64_t{gpus()}, part(), first, end})
      pass_number(step, value);
    add_kernel(k, std::move(step));
  }
  synchronize();
}

void CollectiveSteps::pass_tree(Step& launch, const TreePlace& place,
                                const Kernels& kernels) const {
  if (place.parent) {
    pass_buffer(launch, arrived()[*place.parent], place.child * count_);
    pass_buffer(launch, kernels.flags[*place.parent], place.child);
  } else {
    for (int missing = 0; missing < 2; ++missing) pass_number(launch, 0);
  }
  for (std::size_t child = 0; child < children_of_tree; ++child)
    if (child < place.children.size()) {
      pass_buffer(launch, buffers_[place.children[child]]);
      pass_buffer(launch, kernels.flags[place.children[child]], children_of_tree);
    } else {
      for (int missing = 0; missing < 2; ++missing) pass_number(launch, 0);
    }
}

void CollectiveSteps::launch_trees(const CollectiveTrees& trees, bool adds) {
  const Kernels kernels = start_kernels(threads_of_tree, words_of_tree);
  for (std::size_t k = 0; k < gpus(); ++k) {
    Step step = begin_launch(k, kernels.blocks, kernels.threads);
    for (const std::vector<std::uint32_t>* list : {&buffers_, &arrived(), &kernels.flags})
      pass_buffer(step, (*list)[k]);
    for (const std::vector<TreePlace>& tree : trees) pass_tree(step, tree[k], kernels);
    for (const std::uint64_t value : {count_, std::uint64_t{adds}}) pass_number(step, value);
    add_kernel(k, std::move(step));
  }
  synchronize();
}

Step::Argument CollectiveSteps::others_of(std::size_t gpu, const DirectKernels& work,
                                          const Kernels& kernels) const {
  Step::Argument others = number_argument(0);
  const auto pass = [&](bool is_used, std::uint32_t index, std::uint64_t first) {
    if (is_used) {
      others.words.push_back(buffer_argument(index, first));
    } else {
      for (int word = 0; word < words_of_address; ++word)
        others.words.push_back(number_argument(0));
    }
  };
  const std::uint64_t part = work.is_broadcast ? 0 : this->part();
  for (std::size_t place = 0; place < most_others; ++place) {
    const bool exists = place + 1 < gpus();
    const std::size_t other = (gpu + place + 1) % gpus();
    pass(exists && work.adds, buffers_[gpu], other * part);
    pass(exists && work.adds, arrived()[other], place * part);
    pass(exists && work.copies, buffers_[other], gpu * part);
    pass(exists, kernels.flags[other], place);
  }
  return others;
}

void CollectiveSteps::launch_direct(const DirectKernels& work) {
  const std::size_t others = gpus() - 1;
  if (others > most_others)
    throw keys_.buffers.error("a kernel sends to " + std::to_string(most_others) +
                                  " other GPUs directly, and these are " + std::to_string(others),
                              "algorithm: ring or tree, or by: copies");
  const Kernels kernels = start_kernels(threads_of_channel, gpus());
  const std::uint64_t count = work.is_broadcast ? count_ : part();
  for (std::size_t k = 0; k < gpus(); ++k) {
    const bool copies = work.copies && (k == 0 || !work.is_broadcast);
    // The GPU before this one has place 0.
    const std::size_t first_sender = work.is_broadcast && k > 0 ? k - 1 : 0;
    const std::size_t end_sender = work.is_broadcast ? k : work.copies ? others : 0;
    Step step = begin_launch(k, kernels.blocks, kernels.threads);
    pass_buffer(step, buffers_[k], work.is_broadcast ? 0 : k * count);
    pass_buffer(step, arrived()[k]);
    pass_buffer(step, kernels.flags[k]);
    step.arguments.push_back(others_of(k, work, kernels));
    for (const std::uint64_t value :
         {std::uint64_t{others}, count, std::uint64_t{work.adds}, std::uint64_t{copies},
          std::uint64_t{first_sender}, std::uint64_t{end_sender}})
      pass_number(step, value);
    add_kernel(k, std::move(step));
  }
  synchronize();
}

}  // namespace lockstep
