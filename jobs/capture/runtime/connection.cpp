#include "jobs/capture/runtime/connection.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "jobs/capture/channel.hpp"

namespace lockstep::capture {
namespace {

thread_local Error kept_error = success;

[[noreturn]] void end(const char* what) {
  std::fprintf(stderr, "lockstep capture: %s\n", what);
  std::_Exit(1);
}

constexpr const char* gone = "`lockstep capture` is no longer there, so the program ends";

/// Touches pages. Memory that a system call cannot reach ends the program as it would end there on
/// hardware: with the signal that the access gives.
void touch_pages(const void* pointer, std::size_t bytes, bool writes) {
  constexpr std::size_t page = 4096;
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  for (std::uintptr_t at = begin; at < begin + bytes; at = (at / page + 1) * page) {
    auto* const place = reinterpret_cast<volatile char*>(at);
    const char content = *place;
    if (writes) *place = content;
  }
}

/// Returns the first begin at which the program has no memory; the check needs a page there.
std::uint64_t free_address() {
  for (const std::uint64_t address : first_addresses) {
    void* const wanted = reinterpret_cast<void*>(address);
    void* const got =
        ::mmap(wanted, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != MAP_FAILED) ::munmap(got, 4096);
    if (got == wanted) return address;
  }
  end("the program has no address free for the memory of the GPU - build it without what maps "
      "memory at fixed addresses");
}

}  // namespace

Error noted(Error error) {
  if (error != success && error != not_ready) kept_error = error;
  return error;
}

Error last_error(bool forget) {
  const Error error = kept_error;
  if (forget) kept_error = success;
  return error;
}

Error unsupported(const char* name) {
  Connection::get().ask(Operation::unsupported, {}, bytes_of(name));
  return noted(not_supported);
}

Connection& Connection::get() {
  static auto* connection = new Connection;  // outlives the program's own static objects
  return *connection;
}

void Connection::refuse_child(const char* what) const {
  const char mark = 1;
  [[maybe_unused]] const ssize_t told = ::pwrite(memory_, &mark, 1, child_mark);
  end(what);
}

Connection::Connection() : process_(getpid()) {
  const char* channel = std::getenv(channel_variable);
  if (!channel || std::sscanf(channel, "%d,%d", &socket_, &memory_) != 2)
    end("this CUDA runtime only works below `lockstep capture -- PROGRAM` - "
        "take its folder out of LD_LIBRARY_PATH");
  struct flock mine {};
  mine.l_type = F_WRLCK;
  mine.l_start = child_mark;
  mine.l_len = 1;
  if (::fcntl(memory_, F_SETLK, &mine) != 0)
    refuse_child("two processes of the program use CUDA - capture each on its own");
  first_address_ = free_address();
  const Reply reply = ask(Operation::hello, {static_cast<std::uint64_t>(process_), first_address_});
  if (reply.status != success) std::_Exit(1);  // the recording process has said why
  if (reply.bytes.size() != sizeof device_)
    end("this CUDA runtime is none of the `lockstep capture` that started the program - "
        "build the whole program: cmake --build --preset release");
  std::memcpy(&device_, reply.bytes.data(), sizeof device_);
}

void Connection::send(const void* from, std::size_t bytes) const {
  if (send_all(socket_, from, bytes)) return;
  if (errno == EFAULT) touch_pages(from, bytes, false);
  end(gone);
}

void Connection::receive(void* to, std::size_t bytes) const {
  if (receive_all(socket_, to, bytes)) return;
  if (errno == EFAULT) touch_pages(to, bytes, true);
  end(gone);
}

Answer Connection::exchange(Operation operation, std::initializer_list<std::uint64_t> numbers,
                            std::span<const char> bytes) const {
  if (getpid() != process_)
    refuse_child(
        "a child that the program forked calls CUDA - capture a program that does not fork");
  Request request;
  request.operation = operation;
  std::copy(numbers.begin(), numbers.end(), request.numbers);
  request.bytes = bytes.size();
  send(&request, sizeof request);
  send(bytes.data(), bytes.size());
  Answer answer;
  receive(&answer, sizeof answer);
  return answer;
}

void Connection::print(std::size_t bytes) const {
  if (bytes == 0) return;
  std::string text(bytes, '\0');
  receive(text.data(), bytes);
  std::fwrite(text.data(), 1, bytes, stdout);
}

Connection::Reply Connection::ask(Operation operation, std::initializer_list<std::uint64_t> numbers,
                                  std::span<const char> bytes) {
  const std::lock_guard lock(mutex_);
  const Answer answer = exchange(operation, numbers, bytes);
  Reply reply{answer.status, {answer.numbers[0], answer.numbers[1]}, {}};
  reply.bytes.resize(answer.bytes);
  receive(reply.bytes.data(), reply.bytes.size());
  print(answer.printed);
  return reply;
}

Error Connection::ask_into(Operation operation, std::initializer_list<std::uint64_t> numbers,
                           void* to) {
  const std::lock_guard lock(mutex_);
  const Answer answer = exchange(operation, numbers, {});
  receive(to, answer.bytes);
  print(answer.printed);
  return answer.status;
}

}  // namespace lockstep::capture
