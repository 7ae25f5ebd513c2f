/// Messages between ranks of one node, through shared memory.
///
/// For messages as short as those of a window, Open MPI takes two to three times as long.  MPI
/// carries all messages between ranks on different nodes, and where the memory cannot be allocated.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep {

/// Mailboxes of a node, with two alternating places for each pair of ranks.  A rank puts its
/// message and takes the other's before it puts the next one, so that a place is written again only
/// after its message has been taken.
class NodeMailboxes {
 public:
  /// Makes the mailboxes; collective over all ranks.
  NodeMailboxes();
  ~NodeMailboxes();
  NodeMailboxes(const NodeMailboxes&) = delete;
  NodeMailboxes& operator=(const NodeMailboxes&) = delete;

  bool reaches(int rank) const { return peers_[static_cast<std::size_t>(rank)].inbox != nullptr; }

  /// Puts as much of `bytes` as fits; returns that number of bytes.
  std::size_t put(int rank, std::span<const std::byte> bytes);

  struct Message {
    std::size_t bytes;                 ///< bytes of the whole message
    std::span<const std::byte> begin;  ///< start of the part that fitted; valid until the next take
  };
  /// Waits for the next message of a rank.
  Message take(int rank);

 private:
  struct Place;
  struct Peer {
    std::byte *outbox = nullptr, *inbox = nullptr;  ///< two places in each direction
    std::uint64_t put = 0, taken = 0;               ///< numbers of messages
  };

  void allocate(int ranks_here, int index);
  Place& place(std::byte* box, std::uint64_t number) const;

  MPI_Comm node_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  std::size_t place_bytes_ = 0;
  std::vector<Peer> peers_;  ///< processes of the node, by rank
};

}  // namespace lockstep
