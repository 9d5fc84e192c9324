#include "encodings/parts/composition.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

/// The constants of a composition. The values of its tables are views of the values of these, one after another.
struct MemberTables {
  std::vector<Tables> tables;
};

}  // namespace

std::vector<Spec> composed(const std::string& of) {
  std::vector<Spec> specs;
  for (const std::string& text : split_specs(of)) specs.push_back(Spec::parse(text));
  return specs;
}

std::vector<Spec> require_several(const std::string& name, const std::string& of, std::vector<Spec> members,
                                  const std::string& example) {
  if (members.size() > 1) return members;
  throw InputError(
      fmt::format("encoding '{}': of is '{}', expected two or more encodings, as in of=({})", name, of, example));
}

Composition::Composition(const std::string& name, const std::vector<Spec>& members, const ModelConfig& config,
                         const std::vector<ModelConfig>& configs, ParameterLayout& layout)
    : PositionEncoding(config) {
  const std::string prefix = layout.prefix();
  size_t states = 0;
  for (size_t n = 0; n < members.size(); ++n) {
    const int expectations = layout.expectations();
    layout.set_prefix(fmt::format("{}{}.{}.", prefix, name, n));
    Member member{members[n], encodings().find(members[n].name).replaces(members[n]),
                  make_encoding(members[n], configs[n], layout), states, 0};
    layout.set_prefix(prefix);
    member.num_states = static_cast<size_t>(member.encoding->recurrent_states());
    states += member.num_states;
    if (layout.expectations() > expectations &&
        (configs[n].layers < config.layers || configs[n].heads < config.heads)) {
      throw InputError(
          fmt::format("encoding '{}': '{}' reads the projections of all layers and heads; "
                      "expected an encoding that reads only its own parameters",
                      name, members[n].text()));
    }
    members_.push_back(std::move(member));
  }
}

int Composition::recurrent_states() const {
  return static_cast<int>(members_.back().first_state + members_.back().num_states);
}

void Composition::constrain(Parameters& p) const {
  for (const Member& m : members_) m.encoding->constrain(p);
}

void Composition::refuse_embeddings(const std::string& name, const std::string& readers) const {
  for (const Member& m : members_) {
    if (!m.replaces.embed) continue;
    throw InputError(fmt::format(
        "encoding '{}': '{}' enters at the embeddings, which {} read; expected encodings that enter in "
        "attention alone, or take sum",
        name, m.spec.text(), readers));
  }
}

const Positions& Composition::positions_of(const Positions& all, size_t member) {
  return all.members.empty() ? all : all.members[member];
}

Positions Composition::positions(const Sequence& s, Rng& rng) const {
  Positions positions = PositionEncoding::positions(s, rng);
  if (std::none_of(members_.begin(), members_.end(), [](const Member& m) { return m.replaces.positions; }))
    return positions;
  std::vector<Positions> of_members;
  for (const Member& m : members_) of_members.push_back(m.encoding->positions(s, rng));
  const auto is_same = [&](const Positions& p) { return p == positions; };
  if (!std::ranges::all_of(of_members, is_same)) positions.members = std::move(of_members);
  return positions;
}

const Sequence& Composition::sequence_of(const Sequence& s, size_t member, Sequence& copy) const {
  if (s.positions.members.empty()) return s;
  copy = s;
  copy.positions = Positions(s.positions.members[member]);
  return copy;
}

void Composition::tables(const Parameters& p, const Positions& positions, Tables& tables) const {
  auto& [parts] = tables.constants<MemberTables>();
  parts.resize(members_.size());
  size_t count = 0;
  for (size_t n = 0; n < members_.size(); ++n) {
    members_[n].encoding->tables(p, positions_of(positions, n), parts[n]);
    count += parts[n].values.size();
  }
  tables.values.clear();
  tables.values.resize(count);
  size_t next = 0;
  for (const Tables& part : parts) {
    for (const Matrix& values : part.values) tables.values[next++].refer_to(values);
  }
}

const Tables& Composition::tables_of(const Tables& tables, size_t member) {
  return tables.constants<MemberTables>().tables[member];
}

void Composition::refer_to_tables(const Tables& tables, size_t member, const Matrices& all, Matrices& views) {
  const std::vector<Tables>& parts = tables.constants<MemberTables>().tables;
  size_t first = 0;
  for (size_t n = 0; n < member; ++n) first += parts[n].values.size();
  refer_to(all, first, parts[member].values.size(), views);
}

void Composition::tables_backward(const Parameters& p, const Positions& positions, const Tables& tables,
                                  const Matrices& d_values, Gradients& d) const {
  Matrices d_member;
  for (size_t n = 0; n < members_.size(); ++n) {
    refer_to_tables(tables, n, d_values, d_member);
    members_[n].encoding->tables_backward(p, positions_of(positions, n), tables_of(tables, n), d_member, d);
  }
}

}  // namespace posbench::inline POSBENCH_REAL
