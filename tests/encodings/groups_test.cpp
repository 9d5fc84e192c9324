// Tests the gradient of a batch that is divided into groups, for every encoding.
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "harness/check/double_precision/certificate.h"
#include "harness/check/double_precision/fixture.h"
#include "model/training_step.h"
#include "tests/catch.h"
#include "tests/encodings/all_specs.h"

using namespace posbench;

namespace {

constexpr int kSequences = 7;

/// A model of one encoding and a batch, longest sequences first, as training draws it.
struct Net {
  Net(const Spec& spec, const ModelConfig& config)
      : encoding(make_encoding(spec, config, layout)),
        model(config, layout, *encoding),
        parameters(initialize(layout, 1)) {
    Rng rng = make_rng(1, "groups");
    for (int n = 0; n < kSequences; ++n) add(/*length=*/11 - n / 2, rng);
    for (Index n = 0; n < parameters.flat.size(); ++n) parameters.flat(n) += 0.1 * normal(rng);
    encoding->constrain(parameters);
  }

  void add(int length, Rng& rng) {
    Sequence s;
    s.training = true;
    s.tokens = uniform_tokens(rng, length, 0, kCertificateVocabulary - 1);
    s.digit_positions = uniform_tokens(rng, length, 0, 3);
    s.coordinates = board_coordinates(length);
    for (int t = 0; t < length; ++t) {
      s.segments.push_back(t / 3);
      if (t % 3 != 1) s.target_positions.push_back(t);
    }
    s.positions = encoding->positions(s, rng);
    targets.push_back(uniform_tokens(rng, static_cast<int>(s.target_positions.size()), 0, 6));
    sequences.push_back(std::move(s));
  }

  struct Result {
    double loss;
    Vector gradient;
  };
  Result gradient(int groups, int threads) const {
    IdleCores cores(threads - 1);
    ThreadPool pool(threads, cores);
    TrainingWorkspace workspace(layout, groups, pool);
    std::vector<LabeledSequence> batch;
    for (size_t n = 0; n < sequences.size(); ++n) batch.push_back({sequences[n], targets[n]});
    const auto dropout = [](size_t n) { return make_rng(3, "dropout", n); };
    double loss = 0;
    for (int repetition = 0; repetition < 2; ++repetition)  // the second in used memory
      loss = loss_and_gradient(model, parameters, batch, 0.5, dropout, workspace);
    return {loss, workspace.gradients.flat};
  }

  ParameterLayout layout;
  std::unique_ptr<PositionEncoding> encoding;
  Transformer model;
  Parameters parameters;
  std::vector<Sequence> sequences;
  std::vector<std::vector<int>> targets;
};

bool same_bytes(const Net::Result& a, const Net::Result& b) {
  const auto bytes = static_cast<size_t>(a.gradient.size()) * sizeof(Real);
  return a.loss == b.loss && std::memcmp(a.gradient.data(), b.gradient.data(), bytes) == 0;
}

}  // namespace

TEST_CASE("the gradient in groups is the sum of theirs, and its bytes do not depend on the number of threads") {
  for (const std::string& text : all_specs()) {
    CAPTURE(text);
    const Spec spec = Spec::parse(text);
    ModelConfig config = fitted(spec, small_config(2, true, true));
    config.dropout = 0.2;
    const Net net(spec, config);
    const Net::Result whole = net.gradient(1, 1);
    CHECK(same_bytes(whole, net.gradient(1, 3)));
    for (const int groups : {2, 3, 50}) {
      CAPTURE(groups);
      const Net::Result one = net.gradient(groups, 1);
      CHECK(one.loss == Approx(whole.loss).epsilon(1e-12));
      CHECK((one.gradient - whole.gradient).norm() <= 1e-11 * whole.gradient.norm());
      CHECK(same_bytes(one, net.gradient(groups, 2)));
      CHECK(same_bytes(one, net.gradient(groups, 3)));
    }
    CHECK(same_bytes(net.gradient(kSequences, 1), net.gradient(50, 1)));
  }
}
