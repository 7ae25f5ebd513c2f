#include "jobs/supervise/signals.hpp"

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <thread>

#include "jobs/options.hpp"

namespace lockstep {
namespace {

std::atomic<int> first_to_end{0};
std::atomic<bool> checkpoint_wanted{false};

sigset_t heard() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaddset(&set, signal);
  return set;
}

[[noreturn]] void end_at_once() {
  const sigset_t set = heard();
  std::signal(SIGINT, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  std::raise(SIGINT);
  std::_Exit(exit_interrupted);
}

void hear_for_ever() {
  const sigset_t set = heard();
  for (bool interrupted = false;;) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0) continue;
    if (signal == SIGUSR1) {
      checkpoint_wanted = true;
      continue;
    }
    if (signal == SIGINT && interrupted) end_at_once();
    interrupted |= signal == SIGINT;
    int none = 0;
    first_to_end.compare_exchange_strong(none, signal);
  }
}

/// Returns whether the command simulates: then the program ends in order after a signal at any
/// time.
bool simulates(const char* command) {
  for (const char* name : {"run", "compare", "sweep"})
    if (std::strcmp(command, name) == 0) return true;
  return false;
}

/// Called by the loader before the constructors of all libraries.  From here on signals wait, in
/// all later threads too.
void hold_signals(int count, char** words, char**) {
  if (count < 2 || !simulates(words[1])) return;
  const sigset_t set = heard();
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const first_of_all)(int, char**,
                                                                         char**) = hold_signals;

}  // namespace

void Signals::listen(const char* command) {
  if (simulates(command)) std::thread(hear_for_ever).detach();
}

void Signals::leave_to_others() {
  const sigset_t set = heard();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

int Signals::status() {
  const int signal = first_to_end.load(std::memory_order_relaxed);
  if (signal == 0) return exit_done;
  return signal == SIGINT ? exit_interrupted : exit_terminated;
}

bool Signals::ask_for_checkpoint() {
  return checkpoint_wanted.load(std::memory_order_relaxed);
}

void Signals::serve_checkpoint() {
  checkpoint_wanted = false;
}

const char* signal_name(int status) {
  return status == exit_interrupted ? "SIGINT" : "SIGTERM";
}

}  // namespace lockstep
