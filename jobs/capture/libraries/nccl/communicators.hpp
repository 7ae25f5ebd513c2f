/// Communicators of captured programs: calls of all ranks meet here, and complete ones are
/// executed.  One process has all ranks: its threads, or one thread in groups.
///
/// Simplified: a call, or the end of a group, returns when all participating ranks have called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "jobs/capture/protocol.hpp"

namespace lockstep::capture::nccl {

/// Numbers of ncclResult_t.
enum Result : int {
  done = 0,
  cuda_error = 1,
  internal_error = 3,
  invalid_argument = 4,
  invalid_usage = 5
};

struct Communicator;

/// A call that waits for calls of other ranks.
struct Call {
  const char* entry = "";
  bool sends = false;           ///< message: true: sends, false: receives
  std::uint64_t operation = 0;  ///< RecordedCollective::Operation; a message: exchange
  ElementKind kind = ElementKind::f32;
  Reduction reduction = Reduction::sum;
  std::uint64_t root = 0, count = 0;
  const void* send = nullptr;
  void* receive = nullptr;
  void* stream = nullptr;
  int peer = -1;  ///< message: rank of the other end
  std::shared_ptr<int> result;
};

/// Communicators that were made with one id.
struct Clique {
  std::string id;
  std::vector<Communicator*> ranks;  ///< ranks; nullptr: not there yet
  std::size_t joined = 0;
};

struct Communicator {
  std::shared_ptr<Clique> clique;
  int rank = 0, device = 0;
  std::deque<Call> collectives;
  std::map<int, std::deque<Call>> sends, receives;  ///< calls that wait, by the other rank
};

/// Makes one of `ranks` communicators with this id.  Waits for the others; in a group, at its end.
int join(Communicator** communicator, const std::string& id, int ranks, int rank, int device);
/// Makes the call, in a group at its end.
int make(Communicator* communicator, Call call);
void begin_group();
int end_group();
/// Ends a group in which a call failed, with its error: none of its calls is executed.
int abandon_group(int error);
void destroy(Communicator* communicator);
/// Returns the line of the last mistake.
const char* last_error();
/// Prints a line that names the entry, and keeps it for ncclGetLastError.
int refuse(int result, const std::string& entry, const std::string& what,
           const std::string& advice);

int current_device();
int device_count();

}  // namespace lockstep::capture::nccl
