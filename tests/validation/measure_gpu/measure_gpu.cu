// The microbenchmarks of rows.yaml on a real GPU: prints one YAML file, which `lockstep calibrate` reads.
//
// Kernels and launches are those of ../micro, so that simulated and measured rows mean the same.  Each row is the median
// of several runs.  Clocks must be fixed for it to mean anything: nvidia-smi -lgc 1380 (here and below, as root).
// Build: nvcc -O3 -fmad=false -arch=native measure_gpu.cu -o measure_gpu     Run: ./measure_gpu > measured.yaml
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// Kernels have C names, and these two are the C library's.
#define link link_chain
#define read read_stream
#include "../micro/arithmetic.cu"
#include "../micro/caches.cu"
#include "../micro/stream.cu"

namespace {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "measure_gpu: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) : count_(count) {
    check(cudaMalloc(&data_, count * sizeof(T)), "cudaMalloc");
    check(cudaMemset(data_, 0, count * sizeof(T)), "cudaMemset");
  }
  Buffer(const Buffer&) = delete;
  ~Buffer() { cudaFree(data_); }
  T* get() const { return data_; }
  T largest() const {
    std::vector<T> host(count_);
    check(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "a kernel");
    return *std::max_element(host.begin(), host.end());
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

template <class Run>
double median_of(Run&& run) {
  std::vector<double> values(7);
  for (double& value : values) value = run();
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Seconds that work in the default stream takes.
template <class Work>
double seconds(Work&& work) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  check(cudaEventRecord(begin), "cudaEventRecord");
  work();
  check(cudaEventRecord(end), "cudaEventRecord");
  check(cudaEventSynchronize(end), "a kernel");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return milliseconds * 1e-3;
}

class Measurements {
 public:
  Measurements() {
    check(cudaGetDeviceProperties(&device_, 0), "no GPU was found");
    check(cudaDeviceGetAttribute(&kilohertz_, cudaDevAttrClockRate, 0), "cudaDeviceGetAttribute");
  }
  int sms() const { return device_.multiProcessorCount; }
  /// As long as the clock is the one that the device names as its highest.
  double hertz() const { return kilohertz_ * 1e3; }

  void begin() const {
    std::printf("# By measure_gpu.  Clock: the device's highest; write the one that nvidia-smi had fixed.\n");
    std::printf("gpu: {name: \"%s\", sms: %d, compute_capability: %d.%d}\n", device_.name, sms(), device_.major,
                device_.minor);
    std::printf("clock: %dMHz\nmeasurements:\n", kilohertz_ / 1000);
  }
  void add(const char* item, double value, const char* unit) const {
    std::printf("  - {item: \"%s\", value: %.4g, unit: %s}\n", item, value, unit);
    std::fflush(stdout);
  }

 private:
  cudaDeviceProp device_{};
  int kilohertz_ = 0;
};

template <class T, class Kernel>
void operation(const Measurements& all, const char* item, Kernel kernel, T x, T y, int threads = 1) {
  Buffer<long long> cycles(1);
  Buffer<T> sink(1);
  all.add(item, median_of([&] {
            kernel<<<1, threads>>>(cycles.get(), sink.get(), x, y);
            return cycles.largest() / 128.0;
          }),
          "cycles");
}

void operations(const Measurements& all) {
  operation(all, "add.s32", add_s32, 1, 3);
  operation(all, "fma.f32", fma_f32, 1.5f, 0.5f);
  operation(all, "fma.f64", fma_f64, 1.5, 0.5);
  operation(all, "ex2.approx.f32", ex2_f32, 0.5f, 0.0f);
  operation(all, "fma.f16x2", fma_f16, 1006648320u, 939538432u);
  operation(all, "popc", popc_b32, 77, 0);
  operation(all, "brev", brev_b32, 77, 0);
  operation(all, "mul.hi.s32", mul_hi_s32, 2147483647, 2147483647);
  operation(all, "div.s32", div_s32, 1000, 1000003);
  operation(all, "float divided by a constant", div_constant_f32, 123.456f, 0.0f);
  operation(all, "root of a sum of floats", sqrt_sum_f32, 123.456f, 0.0f);
  operation(all, "float to integer and back", cvt_f32, 123.456f, 0.0f);
  operation(all, "div.rn.f64", div_rn_f64, 1.5, 1.0001);
  operation(all, "shared load", load_shared, 0, 0, 32);
}

/// Cycles of a hop through `slots` lines.
double chain_hop(int slots, int step, int warm_up, int hops) {
  Buffer<Address> chain(std::size_t{16} * slots);
  Buffer<long long> cycles(1);
  return median_of([&] {
    link<<<std::min(160, (slots + 255) / 256), 256>>>(chain.get(), slots, 16, step);
    follow<<<1, 1>>>(chain.get(), cycles.get(), warm_up, hops);
    return static_cast<double>(cycles.largest()) / hops;
  });
}

/// Cycles of a hop through so many places in no order, 64 bytes each.
double drawn_hop(int slots, int bits) {
  Buffer<Address> chain(std::size_t{8} * slots);
  Buffer<long long> cycles(1);
  return median_of([&] {
    draw<<<std::min(160, (slots + 255) / 256), 256>>>(chain.get(), slots, 8, bits);
    follow<<<1, 1>>>(chain.get(), cycles.get(), slots, 2 * slots);
    return cycles.largest() / (2.0 * slots);
  });
}

/// Bytes a cycle of all blocks together.
double summed(int n, int apart, int blocks, int rounds) {
  Buffer<double> data(n + std::size_t(apart) * (blocks - 1)), out(std::size_t{1024} * blocks);
  Buffer<long long> cycles(blocks);
  return median_of([&] {
    sums<<<blocks, 1024>>>(data.get(), out.get(), cycles.get(), n, apart, rounds);
    return 8.0 * n * rounds * blocks / cycles.largest();
  });
}

void caches(const Measurements& all) {
  const double nanosecond = all.hertz() * 1e-9;
  all.add("L1 hit", chain_hop(64, 1, 64, 512), "cycles");
  all.add("L1 chain of 144 KiB", drawn_hop(2304, 12), "cycles");
  all.add("L2 hit", chain_hop(16384, 5, 16384, 4096) / nanosecond, "ns");
  all.add("DRAM, chain of 32 MiB", chain_hop(262144, 4099, 512, 2048) / nanosecond, "ns");
  all.add("L1 bandwidth", summed(8192, 0, 1, 8), "B/clk/SM");
  all.add("L2 bandwidth, all SMs the same", summed(65536, 0, all.sms(), 2) * all.hertz() * 1e-9, "GB/s");
  for (const int stride : {2, 3, 4, 17, 31, 32}) {
    Buffer<Address> data(std::size_t{32} * stride + 16), out(1024);
    Buffer<long long> cycles(1);
    all.add(("L1 hits " + std::to_string(stride) + " words apart").c_str(), median_of([&] {
              strided<<<1, 1024>>>(data.get(), out.get(), cycles.get(), 4, 64, stride, 0, 16);
              return cycles.largest() / 4096.0;
            }),
            "cycles/warp");
  }
}

void streams(const Measurements& all) {
  constexpr int n = 1 << 27, room = 49152;  // two blocks an SM on a V100
  Buffer<double> a(n), b(n + 2), c(n);
  for (const int block : {64, 256, 1024}) {
    const auto add = [&](const char* name, int arrays, auto&& launch) {
      const std::string item = std::string("stream ") + name + ", " + std::to_string(block) + " threads";
      all.add(item.c_str(), median_of([&] { return 8e-9 * arrays * n / seconds(launch); }), "GB/s");
    };
    const int blocks = n / block;
    add("init", 1, [&] { init<<<blocks, block, room>>>(a.get(), n); });
    add("read", 1, [&] { read<<<blocks, block, room>>>(a.get(), b.get(), n); });
    add("scale", 2, [&] { scale<<<blocks, block, room>>>(a.get(), b.get(), n); });
    add("triad", 3, [&] { triad<<<blocks, block, room>>>(a.get(), b.get(), c.get(), n); });
    add("points", 2, [&] { points<<<blocks, block, room>>>(a.get(), b.get(), n); });
  }
}

void small_kernels(const Measurements& all) {
  constexpr int n = 3840, launches = 1000;
  Buffer<double> a(n), b(n);
  const auto launch = [&] {
    for (int i = 0; i < launches; ++i) scale<<<n / 256, 256>>>(a.get(), b.get(), n);
  };
  all.add("61 kB kernel, period", median_of([&] { return seconds(launch) / launches * 1e6; }), "us");
}

}  // namespace

int main() {
  const Measurements all;
  all.begin();
  operations(all);
  caches(all);
  small_kernels(all);
  streams(all);
}
