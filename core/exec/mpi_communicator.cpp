#include "core/exec/mpi_communicator.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/error/error.hpp"
#include "core/exec/node_mailboxes.hpp"

namespace lockstep {
namespace {

constexpr int first_tag = 1;
constexpr int rest_tag = 2;
constexpr int pair_tag = 3;

/// The first message of a pair has a fixed size limit: the total length, then as many bytes as fit
/// below the size up to which Open MPI sends without a handshake.  The rest follows if needed.
constexpr std::size_t eager_bytes = 3968;
constexpr std::size_t eager_payload = eager_bytes - sizeof(std::uint64_t);

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void exchange(std::span<const int> neighbours, std::span<const Bytes> outgoing,
                std::span<Bytes> incoming) override {
    const std::size_t count = neighbours.size();
    staging_.resize(2 * count);
    requests_.clear();
    for (std::size_t i = 0; i < count; ++i)
      if (!mailboxes_.reaches(neighbours[i]))
        begin_receive(staging_[i].data(), eager_bytes, neighbours[i], first_tag);
    const std::size_t first_messages = requests_.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t begun = send_first(neighbours[i], outgoing[i], staging_[count + i]);
      if (begun < outgoing[i].size())
        begin_send(outgoing[i].data() + begun, outgoing[i].size() - begun, neighbours[i], rest_tag);
    }
    // The first messages suffice to know the size of the rest.
    MPI_Waitall(static_cast<int>(first_messages), requests_.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < count; ++i) {
      Bytes& bytes = incoming[i];
      const NodeMailboxes::Message first = take_first(neighbours[i], staging_[i]);
      bytes.assign(first.begin.begin(), first.begin.end());
      if (bytes.size() == first.bytes) continue;
      bytes.resize(first.bytes);
      begin_receive(bytes.data() + first.begin.size(), first.bytes - first.begin.size(),
                    neighbours[i], rest_tag);
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  void minimum(std::span<std::int64_t> values) override {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T,
                  MPI_MIN, MPI_COMM_WORLD);
  }

  void send(int to, std::span<const std::byte> bytes) override {
    // The length waits for the receiver; the bytes follow in pieces that fit MPI's int counts.
    const std::uint64_t size = bytes.size();
    MPI_Ssend(&size, 1, MPI_UINT64_T, to, pair_tag, MPI_COMM_WORLD);
    for_each_piece(bytes.size(), [&](std::size_t at, int count) {
      MPI_Send(bytes.data() + at, count, MPI_BYTE, to, pair_tag, MPI_COMM_WORLD);
    });
  }

  Bytes receive(int from) override {
    std::uint64_t size = 0;
    MPI_Recv(&size, 1, MPI_UINT64_T, from, pair_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    Bytes bytes(size);
    for_each_piece(size, [&](std::size_t at, int count) {
      MPI_Recv(bytes.data() + at, count, MPI_BYTE, from, pair_tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    });
    return bytes;
  }

 private:
  using Staging = std::array<std::byte, eager_bytes>;

  /// Sends the beginning of a message; returns the number of its bytes.
  std::size_t send_first(int neighbour, const Bytes& bytes, Staging& staging) {
    if (mailboxes_.reaches(neighbour)) return mailboxes_.put(neighbour, bytes);
    const std::uint64_t total = bytes.size();
    const std::size_t now = std::min(bytes.size(), eager_payload);
    std::memcpy(staging.data(), &total, sizeof total);
    if (now > 0) std::memcpy(staging.data() + sizeof total, bytes.data(), now);
    begin_send(staging.data(), sizeof total + now, neighbour, first_tag);
    return now;
  }

  /// Takes the beginning of a message; if MPI carries it, MPI has put it into `staging`.
  NodeMailboxes::Message take_first(int neighbour, const Staging& staging) {
    if (mailboxes_.reaches(neighbour)) return mailboxes_.take(neighbour);
    std::uint64_t total = 0;
    std::memcpy(&total, staging.data(), sizeof total);
    return {total, {staging.data() + sizeof total, std::min<std::size_t>(total, eager_payload)}};
  }

  template <class Action>
  static void for_each_piece(std::size_t size, Action action) {
    constexpr std::size_t piece = std::size_t{1} << 30;
    for (std::size_t at = 0; at < size; at += piece) {
      action(at, static_cast<int>(std::min(piece, size - at)));
    }
  }

  void begin_receive(std::byte* place, std::size_t size, int from, int tag) {
    for_each_piece(size, [&](std::size_t at, int bytes) {
      MPI_Irecv(place + at, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &requests_.emplace_back());
    });
  }

  void begin_send(const std::byte* place, std::size_t size, int to, int tag) {
    for_each_piece(size, [&](std::size_t at, int bytes) {
      MPI_Isend(place + at, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &requests_.emplace_back());
    });
  }

  int rank_ = 0;
  int size_ = 1;
  NodeMailboxes mailboxes_;
  std::vector<Staging> staging_;
  std::vector<MPI_Request> requests_;
};

/// Prints one line and ends the job, in place of the library's own dozen lines.
void report_and_abort(MPI_Comm*, int* error, ...) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(*error, text, &length);
  std::fprintf(stderr, "lockstep: MPI: %s - check the nodes and the network between them\n", text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void report_errors() {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(report_and_abort, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Errhandler_free(&handler);
}

bool started_as_a_rank() {
  return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMIX_RANK") != nullptr ||
         std::getenv("PMI_RANK") != nullptr;
}

}  // namespace

MpiSession::MpiSession(int& argc, char**& argv) {
  if (!started_as_a_rank()) {
    communicator_ = std::make_unique<SelfCommunicator>();
    return;
  }
  // Between ranks of a node copying through shared memory beats the kernel's help at our sizes.
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  if (provided < MPI_THREAD_FUNNELED) {
    throw UserError("MPI", "the library does not support MPI_THREAD_FUNNELED",
                    "use an MPI with threads, as Open MPI or MPICH are built by default");
  }
  report_errors();
  communicator_ = std::make_unique<MpiCommunicator>();
}

MpiSession::~MpiSession() {
  communicator_.reset();
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised) MPI_Finalize();
}

void MpiSession::abort(int status) {
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised) MPI_Abort(MPI_COMM_WORLD, status);
  std::exit(status);
}

}  // namespace lockstep
