#include "jobs/capture/libraries/nccl/communicators.hpp"

#include <dirent.h>
#include <dlfcn.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "jobs/capture/libraries/nccl/messages.hpp"

namespace lockstep::capture::nccl {
namespace {

std::mutex mutex;
std::condition_variable changed;
std::map<std::string, std::shared_ptr<Clique>> cliques;  ///< cliques that are not complete
std::string last;

/// Calls of the thread since its group began.
struct Pending {
  Communicator* communicator;
  Call call;
};
thread_local int depth = 0;
thread_local std::vector<Pending> group;
thread_local std::vector<Communicator*> joining;

/// Returns whether no other thread can make the calls that are still missing.
bool is_only_thread() {
  DIR* const tasks = ::opendir("/proc/self/task");
  if (!tasks) return false;
  int threads = 0;
  while (const dirent* entry = ::readdir(tasks))
    if (entry->d_name[0] != '.') ++threads;
  ::closedir(tasks);
  return threads == 1;
}

/// Waits until `holds()` is true.  Returns false if no thread is left that could make it true;
/// prints one message when the wait is long.
template <class Holds, class Absent>
bool wait_for(std::unique_lock<std::mutex>& lock, const char* entry, const Holds& holds,
              const Absent& absent) {
  constexpr auto patience = std::chrono::seconds(10);
  if (holds()) return true;
  if (is_only_thread()) return false;
  if (changed.wait_for(lock, patience, holds)) return true;
  std::fprintf(stderr,
               "lockstep capture: %s has waited 10 s for %s - call it for each rank, in a "
               "thread of its own or between ncclGroupStart and ncclGroupEnd\n",
               entry, absent().c_str());
  changed.wait(lock, holds);
  return true;
}

std::string missing_ranks(const Clique& clique) {
  std::string text = "rank";
  for (std::size_t k = 0; k < clique.ranks.size(); ++k)
    if (!clique.ranks[k] || clique.ranks[k]->collectives.empty()) text += " " + std::to_string(k);
  return text;
}

bool is_complete(const Clique& clique) {
  return clique.joined == clique.ranks.size();
}

int wait_for_ranks(std::unique_lock<std::mutex>& lock, const Communicator& communicator) {
  const std::shared_ptr<Clique> clique = communicator.clique;
  if (wait_for(
          lock, "ncclCommInitRank", [&] { return is_complete(*clique); },
          [&] { return missing_ranks(*clique); }))
    return done;
  return refuse(invalid_usage, "ncclCommInitRank", "no thread is left to make the other ranks",
                "make each rank in a thread of its own, or all between ncclGroupStart and "
                "ncclGroupEnd");
}

/// Executes the collectives that all ranks have called, in order.
void do_collectives(Clique& clique) {
  const auto all_called = [&] {
    for (const Communicator* communicator : clique.ranks)
      if (!communicator || communicator->collectives.empty()) return false;
    return true;
  };
  while (all_called()) {
    std::vector<Call> calls;
    std::vector<int> devices;
    for (Communicator* communicator : clique.ranks) {
      calls.push_back(communicator->collectives.front());
      communicator->collectives.pop_front();
      devices.push_back(communicator->device);
    }
    const int result = do_collective(calls, devices);
    for (const Call& call : calls) *call.result = result;
  }
}

/// Executes together all messages for which both ends have called.
void do_messages(Clique& clique) {
  std::vector<Message> ready;
  for (std::size_t k = 0; k < clique.ranks.size(); ++k) {
    if (!clique.ranks[k]) continue;
    for (auto& [peer, sends] : clique.ranks[k]->sends) {
      Communicator* const other = clique.ranks[static_cast<std::size_t>(peer)];
      if (!other) continue;
      std::deque<Call>& receives = other->receives[static_cast<int>(k)];
      for (; !sends.empty() && !receives.empty(); sends.pop_front(), receives.pop_front())
        ready.push_back({sends.front(), receives.front(), clique.ranks[k]->device, other->device,
                         static_cast<int>(k), peer});
    }
  }
  if (!ready.empty()) exchange(ready);
}

void post(const Pending& pending) {
  Communicator& own = *pending.communicator;
  const Call& call = pending.call;
  if (call.peer < 0)
    own.collectives.push_back(call);
  else if (call.sends)
    own.sends[call.peer].push_back(call);
  else
    own.receives[call.peer].push_back(call);
}

/// Takes back a call that nobody will answer.
void withdraw(const Pending& pending) {
  const auto remove = [&](std::deque<Call>& calls) {
    for (auto call = calls.begin(); call != calls.end(); ++call)
      if (call->result == pending.call.result) return static_cast<void>(calls.erase(call));
  };
  remove(pending.communicator->collectives);
  for (auto& [peer, calls] : pending.communicator->sends) remove(calls);
  for (auto& [peer, calls] : pending.communicator->receives) remove(calls);
}

int wait_for_call(std::unique_lock<std::mutex>& lock, const Pending& pending) {
  const std::shared_ptr<int> result = pending.call.result;
  const Clique& clique = *pending.communicator->clique;
  const auto absent = [&] {
    return pending.call.peer < 0 ? missing_ranks(clique)
                                 : "rank " + std::to_string(pending.call.peer);
  };
  if (wait_for(
          lock, pending.call.entry, [&] { return *result >= 0; }, absent))
    return *result;
  const std::string who = absent();
  withdraw(pending);
  return refuse(invalid_usage, pending.call.entry, "no thread is left to make the call of " + who,
                "put the calls of one thread between ncclGroupStart and ncclGroupEnd");
}

int finish(const std::vector<Pending>& calls) {
  std::unique_lock lock(mutex);
  for (const Pending& pending : calls) post(pending);
  for (const Pending& pending : calls) {
    do_collectives(*pending.communicator->clique);
    do_messages(*pending.communicator->clique);
  }
  changed.notify_all();
  int first = done;
  for (const Pending& pending : calls) {
    const int result = wait_for_call(lock, pending);
    if (first == done) first = result;
  }
  return first;
}

template <class Entry>
Entry runtime_entry(const char* name) {
  void* runtime = nullptr;
  for (const char* file : {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"})
    if (!runtime) runtime = ::dlopen(file, RTLD_NOW | RTLD_NOLOAD);
  if (!runtime) runtime = ::dlopen("libcudart.so.13", RTLD_NOW);
  void* const found = runtime ? ::dlsym(runtime, name) : nullptr;
  if (!found) {
    std::fprintf(stderr,
                 "lockstep capture: libnccl finds no %s - start the program below `lockstep "
                 "capture`\n",
                 name);
    std::_Exit(1);
  }
  return reinterpret_cast<Entry>(found);
}

}  // namespace

CollectiveEntry collective_entry() {
  static const auto entry = runtime_entry<CollectiveEntry>("cudaLockstepCollective");
  return entry;
}

int current_device() {
  static const auto entry = runtime_entry<int (*)(int*)>("cudaGetDevice");
  int device = 0;
  entry(&device);
  return device;
}

int device_count() {
  static const auto entry = runtime_entry<int (*)(int*)>("cudaGetDeviceCount");
  int devices = 0;
  entry(&devices);
  return devices;
}

int refuse(int result, const std::string& entry, const std::string& what,
           const std::string& advice) {
  last = entry + ": " + what + " - " + advice;
  std::fprintf(stderr, "lockstep capture: %s\n", last.c_str());
  return result;
}

const char* last_error() {
  return last.c_str();
}

int join(Communicator** communicator, const std::string& id, int ranks, int rank, int device) {
  std::unique_lock lock(mutex);
  std::shared_ptr<Clique>& clique = cliques[id];
  if (!clique) {
    clique = std::make_shared<Clique>();
    clique->id = id;
    clique->ranks.resize(static_cast<std::size_t>(ranks));
  }
  const std::shared_ptr<Clique> joined = clique;
  if (joined->ranks.size() != static_cast<std::size_t>(ranks))
    return refuse(invalid_argument, "ncclCommInitRank",
                  "ranks of one id differ in how many there are", "give all the same number");
  if (joined->ranks[static_cast<std::size_t>(rank)])
    return refuse(invalid_usage, "ncclCommInitRank",
                  "rank " + std::to_string(rank) + " is there already",
                  "give each rank a number of its own, and each communicator an id of its own");
  for (const Communicator* other : joined->ranks)
    if (other && other->device == device)
      return refuse(invalid_usage, "ncclCommInitRank",
                    "ranks " + std::to_string(other->rank) + " and " + std::to_string(rank) +
                        " are both on device " + std::to_string(device),
                    "call cudaSetDevice, so that each has a device of its own");
  auto* const own = new Communicator{joined, rank, device, {}, {}, {}};
  joined->ranks[static_cast<std::size_t>(rank)] = *communicator = own;
  ++joined->joined;
  if (is_complete(*joined)) cliques.erase(id);
  changed.notify_all();
  if (depth == 0) return wait_for_ranks(lock, *own);
  joining.push_back(own);
  return done;
}

int make(Communicator* communicator, Call call) {
  call.result = std::make_shared<int>(-1);
  if (depth == 0) return finish({{communicator, call}});
  group.push_back({communicator, call});
  return done;
}

void begin_group() {
  ++depth;
}

int end_group() {
  if (depth == 0)
    return refuse(invalid_usage, "ncclGroupEnd", "there is no group", "call ncclGroupStart first");
  if (--depth > 0) return done;
  std::vector<Communicator*> made;
  made.swap(joining);
  std::vector<Pending> calls;
  calls.swap(group);
  int first = done;
  {
    std::unique_lock lock(mutex);
    for (const Communicator* communicator : made)
      if (first == done) first = wait_for_ranks(lock, *communicator);
  }
  const int result = calls.empty() ? int{done} : finish(calls);
  return first == done ? result : first;
}

int abandon_group(int error) {
  if (--depth > 0) return error;
  group.clear();
  for (Communicator* communicator : joining) destroy(communicator);
  joining.clear();
  return error;
}

void destroy(Communicator* communicator) {
  const std::lock_guard lock(mutex);
  communicator->clique->ranks[static_cast<std::size_t>(communicator->rank)] = nullptr;
  delete communicator;
}

}  // namespace lockstep::capture::nccl
