#include "core/exec/node_mailboxes.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <thread>

#include "core/memory/cache_aligned.hpp"
#include "core/memory/round_up.hpp"

namespace lockstep {
namespace {

/// A place holds the messages of a window of a large GPU, unless the node has many ranks.
constexpr std::size_t largest_place = std::size_t{1} << 16, least_place = 4096;
constexpr std::size_t all_places_of_a_rank = std::size_t{1} << 20;
/// Number of spins after which a rank yields, because it may be keeping another rank from the
/// processor.
constexpr int spins_before_yielding = 4096;

/// Returns the first aligned place, since MPI promises no alignment. Ranks see the memory at
/// different addresses, but at the same offset in a page.
std::byte* first_aligned(void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return static_cast<std::byte*>(memory) + (round_up(address, sharing_bytes) - address);
}

}  // namespace

/// The bytes stand behind it.
struct alignas(sharing_bytes) NodeMailboxes::Place {
  std::atomic<std::uint64_t> number{0};  ///< number of the message that is there, from 1
  std::uint64_t bytes = 0;

  std::byte* content() { return reinterpret_cast<std::byte*>(this + 1); }
};

NodeMailboxes::NodeMailboxes() {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  int size = 1, ranks_here = 1, index = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  peers_.resize(static_cast<std::size_t>(size));
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node_);
  MPI_Comm_size(node_, &ranks_here);
  MPI_Comm_rank(node_, &index);
  if (ranks_here > 1) allocate(ranks_here, index);
}

NodeMailboxes::~NodeMailboxes() {
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  MPI_Comm_free(&node_);
}

void NodeMailboxes::allocate(int ranks_here, int index) {
  const auto count = static_cast<std::size_t>(ranks_here);
  place_bytes_ = std::clamp(all_places_of_a_rank / (2 * count) / sharing_bytes * sharing_bytes,
                            least_place, largest_place);
  void* memory = nullptr;
  MPI_Comm_set_errhandler(node_, MPI_ERRORS_RETURN);
  const int status =
      MPI_Win_allocate_shared(static_cast<MPI_Aint>(2 * count * place_bytes_ + sharing_bytes), 1,
                              MPI_INFO_NULL, node_, static_cast<void*>(&memory), &window_);
  int failed = status != MPI_SUCCESS;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, node_);
  if (failed != 0) {
    window_ = MPI_WIN_NULL;
    return;
  }
  std::byte* own = first_aligned(memory);
  for (std::size_t i = 0; i < 2 * count; ++i) new (own + i * place_bytes_) Place;
  MPI_Barrier(node_);

  MPI_Group here = MPI_GROUP_NULL, all = MPI_GROUP_NULL;
  MPI_Comm_group(node_, &here);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  const auto two_places = 2 * place_bytes_;
  for (int other = 0; other < ranks_here; ++other) {
    if (other == index) continue;
    MPI_Aint bytes = 0;
    int unit = 0, rank = 0;
    void* theirs = nullptr;
    MPI_Win_shared_query(window_, other, &bytes, &unit, static_cast<void*>(&theirs));
    MPI_Group_translate_ranks(here, 1, &other, all, &rank);
    peers_[static_cast<std::size_t>(rank)] = {
        .outbox = own + static_cast<std::size_t>(other) * two_places,
        .inbox = first_aligned(theirs) + static_cast<std::size_t>(index) * two_places};
  }
  MPI_Group_free(&here);
  MPI_Group_free(&all);
}

NodeMailboxes::Place& NodeMailboxes::place(std::byte* box, std::uint64_t number) const {
  return *std::launder(reinterpret_cast<Place*>(box + number % 2 * place_bytes_));
}

std::size_t NodeMailboxes::put(int rank, std::span<const std::byte> bytes) {
  Peer& peer = peers_[static_cast<std::size_t>(rank)];
  Place& to = place(peer.outbox, ++peer.put);
  const std::size_t now = std::min(bytes.size(), place_bytes_ - sizeof(Place));
  if (now > 0) std::memcpy(to.content(), bytes.data(), now);
  to.bytes = bytes.size();
  to.number.store(peer.put, std::memory_order_release);
  return now;
}

NodeMailboxes::Message NodeMailboxes::take(int rank) {
  Peer& peer = peers_[static_cast<std::size_t>(rank)];
  Place& from = place(peer.inbox, ++peer.taken);
  for (int spins = 0; from.number.load(std::memory_order_acquire) != peer.taken; ++spins) {
    if (spins < spins_before_yielding) {
      __builtin_ia32_pause();
    } else {
      std::this_thread::yield();
    }
  }
  return {from.bytes, {from.content(), std::min(from.bytes, place_bytes_ - sizeof(Place))}};
}

}  // namespace lockstep
