// A program without kernels of its own; its first argument says how it ends.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

extern "C" {
int cudaMalloc(void** pointer, std::size_t bytes);
int cudaFree(void* pointer);
int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind);
int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void* stream);
int cudaMemset(void* to, int value, std::size_t bytes);
int cudaMemsetAsync(void* to, int value, std::size_t bytes, void* stream);
int cudaStreamCreate(void** stream);
int cudaStreamSynchronize(void* stream);
int cudaDeviceSynchronize();
}

constexpr std::size_t bytes = 40000;

// Fills memory on the GPU and gets it back; -1 where that is not what comes back.
static int round_trip(int value) {
  void* memory = nullptr;
  std::vector<unsigned char> got(bytes);
  if (cudaMalloc(&memory, bytes) != 0 || cudaMemset(memory, value, bytes) != 0) return -1;
  if (cudaMemcpy(got.data(), memory, bytes, 2) != 0) return -1;
  for (const unsigned char byte : got)
    if (byte != value) return -1;
  return 0;  // the memory leaks
}

static void one_thread(int number, int* status) {
  void *stream = nullptr, *memory = nullptr;
  std::vector<unsigned char> got(bytes);
  *status = cudaStreamCreate(&stream) | cudaMalloc(&memory, bytes);
  for (int round = 0; round < 5; ++round) {
    *status |= cudaMemsetAsync(memory, 10 * number + round, bytes, stream);
    *status |=
        cudaMemcpyAsync(got.data(), memory, bytes, 2, stream) | cudaStreamSynchronize(stream);
    for (const unsigned char byte : got) *status |= byte != 10 * number + round;
  }
}

static int threads() {
  std::vector<std::thread> all;
  int statuses[4] = {};
  for (int i = 0; i < 4; ++i) all.emplace_back(one_thread, i, &statuses[i]);
  for (std::thread& thread : all) thread.join();
  return statuses[0] | statuses[1] | statuses[2] | statuses[3];
}

// A child that does `what`; the parent goes on.
template <class What>
static int with_child(const What& what) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    what();
    std::_Exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return round_trip(2);
}

static int fill_the_disk() {
  std::vector<unsigned> noise(1 << 20);
  unsigned state = 1;
  void* memory = nullptr;
  int status = cudaMalloc(&memory, noise.size() * sizeof(unsigned));
  for (int round = 0; round < 20; ++round) {
    for (unsigned& word : noise) word = state = state * 1664525 + 1013904223;
    status |= cudaMemcpy(memory, noise.data(), noise.size() * sizeof(unsigned), 1);
  }
  return status;
}

// Two properties of the device, whose places differ between versions 12 and 13.
static int properties() {
  int sms = 0, fits = -1;
  std::size_t shared_bytes = 0;
  std::vector<char> structure(2048);
  for (const char* name : {"cudaGetDeviceProperties_v2", "cudaGetDeviceProperties"}) {
    const auto get = reinterpret_cast<int (*)(void*, int)>(dlsym(RTLD_DEFAULT, name));
    if (!get) continue;
    const bool is_older = std::strcmp(name, "cudaGetDeviceProperties") != 0;
    fits = get(structure.data(), 0);
    std::memcpy(&sms, structure.data() + (is_older ? 388 : 384), sizeof sms);
    std::memcpy(&shared_bytes, structure.data() + (is_older ? 640 : 624), sizeof shared_bytes);
  }
  std::printf("%s has %d SMs with %zu bytes\n", structure.data(), sms, shared_bytes);
  return fits;
}

int main(int count, char** arguments) {
  const std::string how = count > 1 ? arguments[1] : "";
  if (round_trip(1) != 0) return 9;
  if (how == "crash") std::raise(SIGSEGV);
  if (how == "abort") std::abort();
  if (how == "exit") std::_Exit(3);
  if (how == "threads") return threads();
  if (how == "fork") return with_child([] { round_trip(3); });
  if (how == "harmless fork") return with_child([] {});
  if (how == "exec") return with_child([&] { execl(arguments[0], arguments[0], "", nullptr); });
  if (how == "properties" && properties() != 0) return 8;
  if (how == "sleep") usleep(60000);
  if (how == "disk") return fill_the_disk();
  return round_trip(2);
}
