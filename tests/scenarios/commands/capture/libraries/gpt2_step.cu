// Steps of training GPT-2: launches and products by cuBLASLt in the order that training programs in
// CUDA have.
//
//   gpt2_step LAYERS BATCH LENGTH CHANNELS HEADS VOCABULARY STEPS [check]
//
// With `check` gradients of each parameter tensor are compared with differences of the loss;
// compile for f32 then: nvcc -DNUMBER=float.
#include <cublasLt.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "gpt2_kernels.cuh"

#define CHECKED(call)                                \
  do {                                               \
    if (const int status = int(call)) {              \
      std::printf("%s: status %d\n", #call, status); \
      std::exit(1);                                  \
    }                                                \
  } while (false)

int blocks(long count, int threads) {
  return int((count + threads - 1) / threads);
}

struct Batch {
  int count = 1;
  int64_t a = 0, b = 0, d = 0;
};
struct Epilogue {
  cublasLtEpilogue_t kind = CUBLASLT_EPILOGUE_DEFAULT;
  const X* bias = nullptr;
  X* aux = nullptr;
};

class Products {
 public:
  Products() { CHECKED(cublasLtCreate(&handle_)); }
  ~Products() { cublasLtDestroy(handle_); }
  // D of m x n, or D + D's former content.
  void operator()(X* d, const X* a, const X* b, int m, int n, int k, bool turn_a, bool turn_b,
                  Epilogue epilogue = {}, bool accumulate = false, Batch batch = {}) const {
    cublasLtMatmulDesc_t operation;
    CHECKED(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    const auto set = [&](cublasLtMatmulDescAttributes_t attribute, auto value) {
      CHECKED(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value));
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, turn_a ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, turn_b ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue.kind);
    if (epilogue.bias) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, epilogue.bias);
    if (epilogue.aux) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, epilogue.aux);
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t(m));
    }
    const auto layout_a = layout(turn_a ? k : m, turn_a ? m : k, batch.count, batch.a);
    const auto layout_b = layout(turn_b ? n : k, turn_b ? k : n, batch.count, batch.b);
    const auto layout_d = layout(m, n, batch.count, batch.d);
    cublasLtMatmulPreference_t preference;
    CHECKED(cublasLtMatmulPreferenceCreate(&preference));
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    CHECKED(cublasLtMatmulAlgoGetHeuristic(handle_, operation, layout_a, layout_b, layout_d,
                                           layout_d, preference, 1, &found, &count));
    const float alpha = 1, beta = accumulate ? 1 : 0;
    CHECKED(cublasLtMatmul(handle_, operation, &alpha, a, layout_a, b, layout_b, &beta, d, layout_d,
                           d, layout_d, &found.algo, nullptr, 0, nullptr));
    cublasLtMatmulPreferenceDestroy(preference);
    for (const auto made : {layout_a, layout_b, layout_d}) cublasLtMatrixLayoutDestroy(made);
    cublasLtMatmulDescDestroy(operation);
  }
  // Of (rows, inputs) with weights (outputs, inputs).
  void forward(X* out, const X* in, const X* weight, int rows, int inputs, int outputs,
               Epilogue epilogue) const {
    (*this)(out, weight, in, outputs, rows, inputs, true, false, epilogue);
  }
  void backward(X* in_gradient, X* weight_gradient, X* bias_gradient, const X* out_gradient,
                const X* in, const X* weight, int rows, int inputs, int outputs,
                X* before_gelu = nullptr) const {
    const Epilogue of_gelu{CUBLASLT_EPILOGUE_DGELU, nullptr, before_gelu};
    (*this)(in_gradient, weight, out_gradient, inputs, rows, outputs, false, false,
            before_gelu ? of_gelu : Epilogue{});
    const Epilogue of_bias{CUBLASLT_EPILOGUE_BGRADB, bias_gradient, nullptr};
    (*this)(weight_gradient, in, out_gradient, inputs, outputs, rows, false, true,
            bias_gradient ? of_bias : Epilogue{}, true);
  }

 private:
  static cublasLtMatrixLayout_t layout(int rows, int columns, int batch, int64_t stride) {
    cublasLtMatrixLayout_t made;
    const cudaDataType type = sizeof(X) == 2 ? CUDA_R_16BF : CUDA_R_32F;
    CHECKED(cublasLtMatrixLayoutCreate(&made, type, rows, columns, rows));
    CHECKED(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                             sizeof batch));
    CHECKED(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                             &stride, sizeof stride));
    return made;
  }
  cublasLtHandle_t handle_;
};

template <class T>
T* memory(long count) {
  T* made = nullptr;
  CHECKED(cudaMalloc(&made, count * sizeof(T)));
  return made;
}

enum Tensor {
  wte,
  wpe,
  ln1w,
  ln1b,
  qkvw,
  qkvb,
  projw,
  projb,
  ln2w,
  ln2b,
  fcw,
  fcb,
  fcprojw,
  fcprojb,
  lnfw,
  lnfb,
  tensors
};

struct Model {
  int layers, batch, length, channels, heads, vocabulary, padded;
  long sizes[tensors] = {}, first[tensors + 1] = {};  // sizes: of a layer
  X *parameters = nullptr, *gradients = nullptr;
  float *m = nullptr, *v = nullptr;

  bool of_layers(int t) const { return t >= ln1w && t <= fcprojb; }
  bool is_matrix(int t) const {
    return t <= wpe || t == qkvw || t == projw || t == fcw || t == fcprojw;
  }
  bool is_weight_of_norm(int t) const { return t == ln1w || t == ln2w || t == lnfw; }
  long count(int t) const { return first[t + 1] - first[t]; }
  X* of(X* base, int t, int layer = 0) const { return base + first[t] + sizes[t] * layer; }

  void make() {
    const long c = channels, all[] = {long(padded) * c,
                                      long(length) * c,
                                      c,
                                      c,
                                      3 * c * c,
                                      3 * c,
                                      c * c,
                                      c,
                                      c,
                                      c,
                                      4 * c * c,
                                      4 * c,
                                      4 * c * c,
                                      c,
                                      c,
                                      c};
    for (int t = 0; t < tensors; ++t) {
      sizes[t] = all[t];
      first[t + 1] = first[t] + all[t] * (of_layers(t) ? layers : 1);
    }
    parameters = memory<X>(first[tensors]);
    gradients = memory<X>(first[tensors]);
    std::uint64_t state = 42;
    const auto normal = [&] {  // near enough
      float sum = 0;
      for (int i = 0; i < 4; ++i) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        sum += float(state >> 40) / float(1 << 24) - 0.5F;
      }
      return sum * 1.7320508F;
    };
    for (int t = 0; t < tensors; ++t) {
      const bool into_residual = t == projw || t == fcprojw;
      const float scale = into_residual ? 0.02F / std::sqrt(2.0F * layers) : 0.02F;
      std::vector<X> values(sizes[t]);
      for (int layer = 0; layer < (of_layers(t) ? layers : 1); ++layer) {
        const long drawn = t == wte ? long(vocabulary) * channels : sizes[t];
        for (long i = 0; i < sizes[t]; ++i)
          values[i] = X(is_weight_of_norm(t)        ? 1.0F
                        : is_matrix(t) && i < drawn ? scale * normal()
                                                    : 0.0F);
        CHECKED(cudaMemcpy(of(parameters, t, layer), values.data(), values.size() * sizeof(X),
                           cudaMemcpyHostToDevice));
      }
    }
  }
};

struct Layer {
  X *ln1, *q, *scores, *attended, *residual2, *ln2, *fch, *fch_gelu, *residual3;
  float *mean1, *slope1, *mean2, *slope2;
};

class Training {
 public:
  explicit Training(Model& model) : m(model), rows(m.batch * m.length), c(m.channels) {
    const long n = long(rows) * c, scores = long(m.batch) * m.heads * m.length * m.length;
    encoded = memory<X>(n);
    lnf = memory<X>(n);
    meanf = memory<float>(rows);
    slopef = memory<float>(rows);
    layers.resize(m.layers);
    for (Layer& l : layers)
      l = {memory<X>(n),       memory<X>(3 * n),    memory<X>(scores),   memory<X>(n),
           memory<X>(n),       memory<X>(n),        memory<X>(4 * n),    memory<X>(4 * n),
           memory<X>(n),       memory<float>(rows), memory<float>(rows), memory<float>(rows),
           memory<float>(rows)};
    output = memory<X>(std::max({long(rows) * m.padded, 4 * n, scores}));
    residual_gradient = memory<X>(n);
    wide = memory<X>(4 * n);
    wide2 = memory<X>(4 * n);
    narrow = memory<X>(n);
    losses = memory<float>(rows);
    parts = memory<float>(1024);
    tokens = memory<int>(rows);
    targets = memory<int>(rows);
    places = memory<int>(rows);
    buckets = memory<int4>(rows);
  }

  void give(const std::vector<int>& inputs, const std::vector<int>& wanted) {
    CHECKED(cudaMemcpy(tokens, inputs.data(), rows * sizeof(int), cudaMemcpyHostToDevice));
    CHECKED(cudaMemcpy(targets, wanted.data(), rows * sizeof(int), cudaMemcpyHostToDevice));
    std::map<int, std::vector<int>> where;
    for (int i = 0; i < rows; ++i) where[inputs[i]].push_back(i);
    std::vector<int> all;
    std::vector<int4> of_tokens;
    for (const auto& [token, its] : where) {
      of_tokens.push_back({token, int(all.size()), int(its.size()), 0});
      all.insert(all.end(), its.begin(), its.end());
    }
    used_tokens = int(of_tokens.size());
    CHECKED(cudaMemcpy(places, all.data(), all.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECKED(cudaMemcpy(buckets, of_tokens.data(), of_tokens.size() * sizeof(int4),
                       cudaMemcpyHostToDevice));
  }

  float loss(bool with_gradients) {
    forward();
    classify<<<rows, 1024>>>(output, losses, targets, 1.0F / rows, m.vocabulary, m.padded,
                             with_gradients);
    std::vector<float> all(rows);
    CHECKED(cudaMemcpy(all.data(), losses, rows * sizeof(float), cudaMemcpyDeviceToHost));
    double sum = 0;
    for (const float one : all) sum += one;
    return float(sum / rows);
  }

  void backward() {
    CHECKED(cudaMemset(m.gradients, 0, m.first[tensors] * sizeof(X)));
    CHECKED(cudaMemset(residual_gradient, 0, long(rows) * c * sizeof(X)));
    products.backward(wide, g(wte), nullptr, output, lnf, p(wte), rows, c, m.padded);
    unnormalise(g(lnfw), g(lnfb), wide, layers.back().residual3, p(lnfw), meanf, slopef);
    for (int l = m.layers - 1; l >= 0; --l) backward_layer(l);
    encode_backward_tokens<<<used_tokens, 256>>>(g(wte), buckets, places, residual_gradient, c);
    encode_backward_positions<<<blocks(long(m.length) * c, 256), 256>>>(g(wpe), residual_gradient,
                                                                        m.batch, m.length, c);
  }

  float norm(long first, long count) {
    const int grid = std::min(blocks(count, 512), 432);
    sum_squares<<<grid, 512>>>(parts, m.gradients + first, count);
    add_parts<<<1, 1024>>>(losses, parts, grid);
    float sum = 0;
    CHECKED(cudaMemcpy(&sum, losses, sizeof sum, cudaMemcpyDeviceToHost));
    return sum;
  }

  void step(int number, float squares) {
    if (!m.m) {
      m.m = memory<float>(m.first[tensors]);
      m.v = memory<float>(m.first[tensors]);
      CHECKED(cudaMemset(m.m, 0, m.first[tensors] * sizeof(float)));
      CHECKED(cudaMemset(m.v, 0, m.first[tensors] * sizeof(float)));
    }
    const float norm = std::sqrt(squares);
    for (int t = 0; t < tensors; ++t) {
      const Rates rates{3e-4F,
                        0.9F,
                        0.95F,
                        1 - std::pow(0.9F, float(number)),
                        1 - std::pow(0.95F, float(number)),
                        1e-8F,
                        m.is_matrix(t) ? 0.1F : 0.0F,
                        norm > 1 ? 1 / norm : 1};
      update<<<blocks(m.count(t), 512), 512>>>(p(t), g(t), m.m + m.first[t], m.v + m.first[t],
                                               m.count(t), rates);
    }
    CHECKED(cudaDeviceSynchronize());
  }

 private:
  X* p(int t, int layer = 0) const { return m.of(m.parameters, t, layer); }
  X* g(int t, int layer = 0) const { return m.of(m.gradients, t, layer); }
  Heads shape() const { return {m.batch, m.length, m.heads, c / m.heads}; }
  Batch batch(long a, long b, long d) const { return {m.batch * m.heads, a, b, d}; }

  void normal(X* out, float* means, float* slopes, X* sums, const X* in, const X* more,
              const X* weight, const X* bias) {
    normalise<<<blocks(long(rows) * warp, 256), 256>>>(out, means, slopes, sums, in, more, weight,
                                                       bias, rows, c);
  }
  void unnormalise(X* weight, X* bias, const X* out, const X* in, const X* by, const float* means,
                   const float* slopes) {
    normalise_backward_weights<<<blocks(c, warp), 256>>>(weight, bias, out, in, means, slopes, rows,
                                                         c);
    normalise_backward<<<blocks(long(rows) * warp, 256), 256>>>(residual_gradient, out, in, by,
                                                                means, slopes, rows, c);
  }

  void forward() {
    encode<<<blocks(long(rows) * c / Pack::size, 256), 256>>>(encoded, tokens, p(wte), p(wpe),
                                                              rows * c, m.length, c);
    normal(layers[0].ln1, layers[0].mean1, layers[0].slope1, nullptr, encoded, nullptr, p(ln1w),
           p(ln1b));
    for (int l = 0; l < m.layers; ++l) {
      Layer& a = layers[l];
      products.forward(output, a.ln1, p(qkvw, l), rows, c, 3 * c,
                       {CUBLASLT_EPILOGUE_BIAS, p(qkvb, l), nullptr});
      attend(a);
      products.forward(output, a.attended, p(projw, l), rows, c, c,
                       {CUBLASLT_EPILOGUE_BIAS, p(projb, l), nullptr});
      normal(a.ln2, a.mean2, a.slope2, a.residual2, l ? layers[l - 1].residual3 : encoded, output,
             p(ln2w, l), p(ln2b, l));
      products.forward(a.fch_gelu, a.ln2, p(fcw, l), rows, c, 4 * c,
                       {CUBLASLT_EPILOGUE_GELU_AUX_BIAS, p(fcb, l), a.fch});
      products.forward(output, a.fch_gelu, p(fcprojw, l), rows, 4 * c, c,
                       {CUBLASLT_EPILOGUE_BIAS, p(fcprojb, l), nullptr});
      if (l + 1 < m.layers)
        normal(layers[l + 1].ln1, layers[l + 1].mean1, layers[l + 1].slope1, a.residual3,
               a.residual2, output, p(ln1w, l + 1), p(ln1b, l + 1));
      else
        normal(lnf, meanf, slopef, a.residual3, a.residual2, output, p(lnfw), p(lnfb));
    }
    products.forward(output, lnf, p(wte), rows, c, m.padded, {});
  }
  void attend(Layer& a) {
    const Heads s = shape();
    const int t = m.length, h = s.size, grid = blocks(s.count(), 256);
    const long part = long(rows) * c;
    X *q = a.q, *k = q + part, *v = k + part;
    take_apart<<<grid, 256>>>(q, k, v, output, s);
    products(output, k, q, t, t, h, true, false, {}, false, batch(t * h, t * h, t * t));
    const int all = m.batch * m.heads * t;
    soften<<<blocks(long(all) * warp, 256), 256>>>(a.scores, output, 1 / std::sqrt(float(h)), all,
                                                   t);
    products(output, v, a.scores, h, t, t, false, false, {}, false, batch(t * h, t * t, t * h));
    join_heads<<<grid, 256>>>(a.attended, output, s);
  }

  void backward_layer(int l) {
    Layer& a = layers[l];
    products.backward(wide, g(fcprojw, l), g(fcprojb, l), residual_gradient, a.fch_gelu,
                      p(fcprojw, l), rows, 4 * c, c, a.fch);
    products.backward(narrow, g(fcw, l), g(fcb, l), wide, a.ln2, p(fcw, l), rows, c, 4 * c);
    unnormalise(g(ln2w, l), g(ln2b, l), narrow, a.residual2, p(ln2w, l), a.mean2, a.slope2);
    products.backward(narrow, g(projw, l), g(projb, l), residual_gradient, a.attended, p(projw, l),
                      rows, c, c);
    attend_backward(a);
    products.backward(narrow, g(qkvw, l), g(qkvb, l), wide, a.ln1, p(qkvw, l), rows, c, 3 * c);
    unnormalise(g(ln1w, l), g(ln1b, l), narrow, l ? layers[l - 1].residual3 : encoded, p(ln1w, l),
                a.mean1, a.slope1);
  }
  // From the gradient in `narrow` to that of q, k and v beside each other in `wide`.
  void attend_backward(Layer& a) {
    const Heads s = shape();
    const int t = m.length, h = s.size, grid = blocks(s.count(), 256), all = m.batch * m.heads * t;
    const long part = long(rows) * c;
    const X *q = a.q, *k = q + part, *v = k + part;
    X *dq = wide2, *dk = dq + part, *dv = dk + part, *apart = dv + part, *scores = output;
    part_heads<<<grid, 256>>>(apart, narrow, s);
    products(scores, v, apart, t, t, h, true, false, {}, false, batch(t * h, t * h, t * t));
    products(dv, apart, a.scores, h, t, t, false, true, {}, false, batch(t * h, t * t, t * h));
    soften_backward<<<blocks(long(all) * warp, 256), 256>>>(scores, a.scores,
                                                            1 / std::sqrt(float(h)), all, t);
    products(dq, k, scores, h, t, t, false, false, {}, false, batch(t * h, t * t, t * h));
    products(dk, q, scores, h, t, t, false, true, {}, false, batch(t * h, t * t, t * h));
    put_together<<<grid, 256>>>(wide, dq, dk, dv, s);
  }

  Model& m;
  const int rows, c;
  Products products;
  std::vector<Layer> layers;
  X *encoded, *lnf, *output, *residual_gradient, *wide, *wide2, *narrow;
  float *meanf, *slopef, *losses, *parts;
  int *tokens, *targets, *places;
  int4* buckets;
  int used_tokens = 0;
};

// Whether the loss changes along the gradient of each tensor as much as its length says.
bool gradients_are_right(Model& model, Training& training) {
  training.loss(true);
  training.backward();
  bool right = true;
  for (int t = 0; t < tensors; ++t) {
    const float squares = training.norm(model.first[t], model.count(t));
    const float distance = 0.02F / squares;  // the loss changes by 0.02
    const auto go = [&](float by) {
      move<<<blocks(model.count(t), 256), 256>>>(model.of(model.parameters, t),
                                                 model.of(model.gradients, t), model.count(t), by);
    };
    go(distance);
    const float above = training.loss(false);
    go(-2 * distance);
    const float below = training.loss(false);
    go(distance);
    const float got = (above - below) / 0.04F;
    if (!(std::fabs(got - 1) < 0.05F)) {
      std::printf("tensor %d: the loss changes %g times as much as its gradient says\n", t, got);
      right = false;
    }
  }
  return right;
}

int main(int count, char** words) {
  if (count < 8) return 1;
  const auto number = [&](int i) { return std::atoi(words[i]); };
  Model model{number(1),
              number(2),
              number(3),
              number(4),
              number(5),
              number(6),
              (number(6) + 127) / 128 * 128};
  model.make();
  Training training(model);
  const int rows = model.batch * model.length;
  std::vector<int> inputs(rows), wanted(rows);
  std::uint64_t state = 7;
  for (int i = 0; i < rows; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    inputs[i] = int((state >> 33) % model.vocabulary);
    wanted[i] = (inputs[i] * 5 + 3) % model.vocabulary;
  }
  training.give(inputs, wanted);
  if (count > 8 && !std::strcmp(words[8], "check")) {
    std::puts(gradients_are_right(model, training) ? "right" : "wrong");
    return 0;
  }
  for (int i = 1; i <= number(7); ++i) {
    const float loss = training.loss(true);
    training.backward();
    const float squares = training.norm(0, model.first[tensors]);
    training.step(i, squares);
    std::printf("step %d: loss %f, norm of gradients %f\n", i, loss, std::sqrt(squares));
  }
  CHECKED(cudaGetLastError());
  return 0;
}
