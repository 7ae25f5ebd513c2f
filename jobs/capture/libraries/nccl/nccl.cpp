/// libnccl of captured programs: the entries, with the numbers that NCCL documents.
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "jobs/capture/libraries/nccl/communicators.hpp"

// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define LOCKSTEP_NCCL extern "C" __attribute__((visibility("default")))
// NOLINTEND(cppcoreguidelines-macro-usage)

namespace lockstep::capture::nccl {
namespace {

enum Operation : std::uint64_t {  // numbers in RecordedCollective::Operation
  all_reduce,
  broadcast,
  reduce,
  all_gather,
  reduce_scatter,
  message
};
constexpr int version = 22203;
constexpr std::size_t id_bytes = 128;

struct UniqueId {
  char bytes[id_bytes];
};
/// Content of an id: only ranks of one process meet.
struct Origin {
  char name[8];
  int process;
  unsigned number;
};
constexpr char origin_name[8] = "lockstp";

int refuse_null(const char* entry) {
  return refuse(invalid_argument, entry, "an argument is null", "pass one that is not");
}

/// Arguments that all collectives and messages have.
struct Asked {
  const char* entry;
  Operation operation;
  const void* send;
  void* receive;
  std::size_t count;
  int type, reduction, root;
  Communicator* communicator;
  void* stream;
  int peer = -1;
};

int ask(const Asked& a) {
  if (!a.communicator) return refuse_null(a.entry);
  const int ranks = static_cast<int>(a.communicator->clique->ranks.size());
  const auto outside = [&](int rank) { return rank < 0 || rank >= ranks; };
  if (a.type < 0 || a.type >= static_cast<int>(element_kinds))
    return refuse(invalid_argument, a.entry, "this type is not there in captured programs",
                  "use integers, f16, bf16, f32 or f64");
  if (a.reduction < 0 || a.reduction >= static_cast<int>(reductions))
    return refuse(invalid_argument, a.entry, "this operator is not there in captured programs",
                  "use ncclSum, ncclProd, ncclMax, ncclMin or ncclAvg");
  if (outside(a.root) || (a.operation == message && outside(a.peer)))
    return refuse(invalid_argument, a.entry, "it names a rank that is not there",
                  "ranks are 0 to " + std::to_string(ranks - 1));
  if (a.operation == message && a.count > 0 && !a.send && !a.receive) return refuse_null(a.entry);
  Call call;
  call.entry = a.entry;
  call.operation = a.operation;
  call.kind = static_cast<ElementKind>(a.type);
  call.reduction = static_cast<Reduction>(a.reduction);
  call.root = static_cast<std::uint64_t>(a.root);
  call.count = a.count;
  call.send = a.send;
  call.receive = a.receive;
  call.stream = a.stream;
  call.peer = a.peer;
  call.sends = std::strcmp(a.entry, "ncclSend") == 0;
  return make(a.communicator, call);
}

}  // namespace

LOCKSTEP_NCCL int ncclGetVersion(int* number) {
  if (!number) return refuse_null("ncclGetVersion");
  *number = version;
  return done;
}
LOCKSTEP_NCCL const char* ncclGetErrorString(int result) {
  static const char* const texts[] = {"no error",
                                      "unhandled cuda error",
                                      "unhandled system error",
                                      "internal error",
                                      "invalid argument",
                                      "invalid usage",
                                      "remote process exited or there was a network error",
                                      "NCCL operation in progress"};
  return result >= 0 && result < 8 ? texts[result] : "unknown result code";
}
LOCKSTEP_NCCL const char* ncclGetLastError(Communicator*) {
  return last_error();
}
LOCKSTEP_NCCL int ncclGetUniqueId(UniqueId* id) {
  static std::atomic<unsigned> next{0};
  if (!id) return refuse_null("ncclGetUniqueId");
  *id = {};
  Origin origin{{}, ::getpid(), next++};
  std::memcpy(origin.name, origin_name, sizeof origin.name);
  std::memcpy(id->bytes, &origin, sizeof origin);
  return done;
}
LOCKSTEP_NCCL int ncclCommInitRank(Communicator** communicator, int ranks, UniqueId id, int rank) {
  Origin origin{};
  std::memcpy(&origin, id.bytes, sizeof origin);
  constexpr const char* entry = "ncclCommInitRank";
  if (!communicator) return refuse_null(entry);
  if (std::memcmp(origin.name, origin_name, sizeof origin.name) != 0 ||
      origin.process != ::getpid())
    return refuse(invalid_usage, entry, "the id is none of this process",
                  "capture programs whose ranks are threads of one process");
  if (ranks < 1 || rank < 0 || rank >= ranks)
    return refuse(invalid_argument, entry,
                  "rank " + std::to_string(rank) + " is none of " + std::to_string(ranks),
                  "ranks begin with 0");
  if (ranks > device_count())
    return refuse(invalid_usage, entry,
                  std::to_string(ranks) + " ranks need as many devices, and there are " +
                      std::to_string(device_count()),
                  "capture with --gpus " + std::to_string(ranks));
  return join(communicator, {id.bytes, id_bytes}, ranks, rank, current_device());
}
LOCKSTEP_NCCL int ncclCommInitAll(Communicator** communicators, int count, const int* devices) {
  constexpr const char* entry = "ncclCommInitAll";
  if (!communicators) return refuse_null(entry);
  if (count < 1 || count > device_count())
    return refuse(invalid_argument, entry,
                  std::to_string(count) + " communicators need as many devices, and there are " +
                      std::to_string(device_count()),
                  "capture with --gpus " + std::to_string(count));
  UniqueId id;
  ncclGetUniqueId(&id);
  begin_group();
  int first = done;
  for (int k = 0; k < count && first == done; ++k) {
    const int device = devices ? devices[k] : k;
    first = device < 0 || device >= device_count()
                ? refuse(invalid_argument, entry, "there is no device " + std::to_string(device),
                         "devices are 0 to " + std::to_string(device_count() - 1))
                : join(communicators + k, {id.bytes, id_bytes}, count, k, device);
  }
  if (first != done) return abandon_group(first);
  return end_group();
}
LOCKSTEP_NCCL int ncclCommFinalize(Communicator* communicator) {
  return communicator ? int{done} : refuse_null("ncclCommFinalize");
}
LOCKSTEP_NCCL int ncclCommDestroy(Communicator* communicator) {
  if (!communicator) return done;
  destroy(communicator);
  return done;
}
LOCKSTEP_NCCL int ncclCommAbort(Communicator* communicator) {
  return ncclCommDestroy(communicator);
}
LOCKSTEP_NCCL int ncclCommGetAsyncError(Communicator* communicator, int* error) {
  if (!communicator || !error) return refuse_null("ncclCommGetAsyncError");
  *error = done;
  return done;
}
LOCKSTEP_NCCL int ncclCommCount(const Communicator* communicator, int* count) {
  if (!communicator || !count) return refuse_null("ncclCommCount");
  *count = static_cast<int>(communicator->clique->ranks.size());
  return done;
}
LOCKSTEP_NCCL int ncclCommCuDevice(const Communicator* communicator, int* device) {
  if (!communicator || !device) return refuse_null("ncclCommCuDevice");
  *device = communicator->device;
  return done;
}
LOCKSTEP_NCCL int ncclCommUserRank(const Communicator* communicator, int* rank) {
  if (!communicator || !rank) return refuse_null("ncclCommUserRank");
  *rank = communicator->rank;
  return done;
}
LOCKSTEP_NCCL int ncclGroupStart() {
  begin_group();
  return done;
}
LOCKSTEP_NCCL int ncclGroupEnd() {
  return end_group();
}

LOCKSTEP_NCCL int ncclAllReduce(const void* send, void* receive, std::size_t count, int type,
                                int reduction, Communicator* communicator, void* stream) {
  return ask({"ncclAllReduce", all_reduce, send, receive, count, type, reduction, 0, communicator,
              stream});
}
LOCKSTEP_NCCL int ncclReduce(const void* send, void* receive, std::size_t count, int type,
                             int reduction, int root, Communicator* communicator, void* stream) {
  return ask(
      {"ncclReduce", reduce, send, receive, count, type, reduction, root, communicator, stream});
}
LOCKSTEP_NCCL int ncclBroadcast(const void* send, void* receive, std::size_t count, int type,
                                int root, Communicator* communicator, void* stream) {
  return ask(
      {"ncclBroadcast", broadcast, send, receive, count, type, 0, root, communicator, stream});
}
LOCKSTEP_NCCL int ncclBcast(void* buffer, std::size_t count, int type, int root,
                            Communicator* communicator, void* stream) {
  return ask({"ncclBcast", broadcast, buffer, buffer, count, type, 0, root, communicator, stream});
}
LOCKSTEP_NCCL int ncclReduceScatter(const void* send, void* receive, std::size_t count, int type,
                                    int reduction, Communicator* communicator, void* stream) {
  return ask({"ncclReduceScatter", reduce_scatter, send, receive, count, type, reduction, 0,
              communicator, stream});
}
LOCKSTEP_NCCL int ncclAllGather(const void* send, void* receive, std::size_t count, int type,
                                Communicator* communicator, void* stream) {
  return ask({"ncclAllGather", all_gather, send, receive, count, type, 0, 0, communicator, stream});
}
LOCKSTEP_NCCL int ncclSend(const void* send, std::size_t count, int type, int peer,
                           Communicator* communicator, void* stream) {
  return ask({"ncclSend", message, send, nullptr, count, type, 0, 0, communicator, stream, peer});
}
LOCKSTEP_NCCL int ncclRecv(void* receive, std::size_t count, int type, int peer,
                           Communicator* communicator, void* stream) {
  return ask(
      {"ncclRecv", message, nullptr, receive, count, type, 0, 0, communicator, stream, peer});
}

// Every other entry prints its name and fails. NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define LOCKSTEP_LACKING(name)                                               \
  LOCKSTEP_NCCL int name() {                                                 \
    return refuse(invalid_usage, #name, "is not there in captured programs", \
                  "see what is there in docs/capture.md");                   \
  }
#include "jobs/capture/libraries/nccl/other_entries.def"

}  // namespace lockstep::capture::nccl
