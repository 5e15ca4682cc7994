// Everything that commands do with an entry, on any bytes: parse, decode, summarise, write.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/budget.h"
#include "base/interner.h"
#include "base/json_writer.h"
#include "torch/decode.h"
#include "torch/json_value.h"
#include "torch/wrapper_scan.h"

namespace {

using namespace cachetool;

/// Forgets what is written.
class NullSink final : public OutputSink {
 public:
  void write(std::string_view) override {}
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Budget budget = Budget::for_input(size);
  const auto decoded = torch::decode_entry(bytes, budget);
  if (!decoded) return 0;
  Interner interner;
  (void)torch::summarize(*decoded, {}, {}, interner);
  NullSink sink;
  JsonWriter json(sink);
  torch::JsonValueOptions options;
  options.max_nodes = 20000;
  torch::write_fields(json, decoded->document.root(), options);
  json.flush();
  if (const torch::CompiledFxGraph* graph = decoded->fx_graph()) {
    (void)torch::scan_wrapper(graph->source_code.value_or({}));
  }
  return 0;
}
