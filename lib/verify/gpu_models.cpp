#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"
#include "verify/target_machine.h"

namespace cachetool::verify {
namespace {

struct Model {
  std::string_view word;  ///< a whole word of the name; "*" at its end stands for the rest of the word
  std::uint32_t architecture;
};

// NVIDIA's table "CUDA GPU Compute Capability". The first that fits counts.
constexpr Model kModels[] = {
    {"GB300", 103}, {"B300", 103}, {"GB200", 100}, {"B200", 100}, {"B100", 100}, {"GB10", 121}, {"Thor", 110},
    {"GH200", 90},  {"H200", 90},  {"H20", 90},    {"H100", 90},  {"H800", 90},  {"A100*", 80}, {"A800*", 80},
    {"A30", 80},    {"L40*", 89},  {"L4", 89},     {"L20", 89},   {"L2", 89},    {"A40", 86},   {"A10*", 86},
    {"A16", 86},    {"A2", 86},    {"Orin", 87},   {"V100*", 70}, {"T4*", 75},   {"P100*", 60}, {"P40", 61},
    {"P4", 61},     {"A2000", 86}, {"A4000", 86},  {"A4500", 86}, {"A5000", 86}, {"A5500", 86}, {"A6000", 86},
};

/// Words of the model's name that are letters and digits: "NVIDIA H100 80GB HBM3", "Tesla V100-SXM2-16GB".
template <class Visit>
void for_each_word(std::string_view model, Visit visit) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= model.size(); ++at) {
    const char c = at < model.size() ? model[at] : ' ';
    const bool word = is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (word) continue;
    if (at > begin) visit(model.substr(begin, at - begin));
    begin = at + 1;
  }
}

bool has_word(std::string_view model, std::string_view wanted) {
  bool found = false;
  for_each_word(model, [&](std::string_view word) { found = found || word == wanted; });
  return found;
}

/// GeForce numbers: the first digits name the generation.
std::uint32_t geforce_architecture(std::string_view model) {
  std::uint32_t architecture = 0;
  for_each_word(model, [&](std::string_view word) {
    if (word.size() != 4 || !is_digit(word[0]) || !is_digit(word[3])) return;
    const std::string_view generation = word.substr(0, 2);
    if (generation == "50") architecture = 120;
    if (generation == "40") architecture = 89;
    if (generation == "30") architecture = 86;
    if (generation == "20" || generation == "16") architecture = 75;
    if (generation == "10") architecture = 61;
  });
  return architecture;
}

std::uint32_t architecture_number(std::string_view model) {
  if (has_word(model, "GeForce")) return geforce_architecture(model);
  const bool ada = has_word(model, "Ada");
  if (has_word(model, "Blackwell")) return 120;  // workstation and server cards: RTX PRO 6000 Blackwell
  if (has_word(model, "RTX") && ada) return 89;
  std::uint32_t architecture = 0;
  for (const Model& known : kModels) {
    const bool open = known.word.ends_with('*');
    const std::string_view name = known.word.substr(0, known.word.size() - (open ? 1 : 0));
    for_each_word(model, [&](std::string_view word) {
      if (architecture == 0 && (open ? word.starts_with(name) : word == name))
        architecture = known.architecture;
    });
  }
  return architecture;
}

}  // namespace

std::optional<container::CudaTarget> gpu_architecture(std::string_view model) {
  const std::uint32_t number = architecture_number(model);
  if (number == 0) return std::nullopt;
  return container::CudaTarget{number, container::CudaVariant::kPlain};
}

}  // namespace cachetool::verify
