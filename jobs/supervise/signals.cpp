#include "jobs/supervise/signals.hpp"

#include <csignal>

#include "jobs/options.hpp"

namespace lockstep {
namespace {

volatile std::sig_atomic_t first_to_end = 0;
volatile std::sig_atomic_t checkpoint_wanted = 0;

void remember_end(int signal) {
  if (first_to_end == 0) first_to_end = signal;
}

void remember_checkpoint(int) {
  checkpoint_wanted = 1;
}

void answer(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

}  // namespace

void Signals::listen() {
  answer(SIGINT, remember_end, SA_RESETHAND | SA_RESTART);
  answer(SIGTERM, remember_end, SA_RESTART);
  answer(SIGUSR1, remember_checkpoint, SA_RESTART);
}

int Signals::status() {
  if (first_to_end == 0) return exit_done;
  return first_to_end == SIGINT ? exit_interrupted : exit_terminated;
}

bool Signals::ask_for_checkpoint() {
  return checkpoint_wanted != 0;
}

void Signals::serve_checkpoint() {
  checkpoint_wanted = 0;
}

const char* signal_name(int status) {
  return status == exit_interrupted ? "SIGINT" : "SIGTERM";
}

}  // namespace lockstep
