#include "jobs/supervise/stop_signals.hpp"

#include <csignal>

#include "jobs/options.hpp"

namespace lockstep {
namespace {

volatile std::sig_atomic_t first_signal = 0;

void remember(int signal) {
  if (first_signal == 0) first_signal = signal;
}

void answer(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignals::StopSignals() {
  for (const int signal : {SIGINT, SIGTERM}) answer(signal, remember, SA_RESETHAND | SA_RESTART);
}

StopSignals::~StopSignals() {
  for (const int signal : {SIGINT, SIGTERM}) answer(signal, SIG_DFL, 0);
}

int StopSignals::status() {
  if (first_signal == 0) return exit_done;
  return first_signal == SIGINT ? exit_interrupted : exit_terminated;
}

const char* stop_signal_name(int status) {
  return status == exit_interrupted ? "SIGINT" : "SIGTERM";
}

}  // namespace lockstep
