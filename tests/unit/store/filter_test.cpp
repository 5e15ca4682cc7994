#include "store/filter.h"

#include <doctest/doctest.h>

using namespace cachetool;
using namespace cachetool::store;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

struct Sample {
  Interner strings;
  EntryRow row;
  std::int64_t now = 1000 * 86400 * kSecond;

  Sample() {
    row.summary.key = *torch::HashName::parse("f3bcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqra");
    row.summary.device_types = strings.intern("cpu,cuda");
    row.summary.device_indices = strings.intern("1");
    row.summary.operators = strings.intern("addmm, relu");
    row.summary.family = torch::ReleaseFamily::k2_9;
    row.summary.family_last = torch::ReleaseFamily::k2_9;
    row.summary.exact_release = strings.intern("2.9.1");
    row.summary.class_name = strings.intern("torch._inductor.output_code.CompiledFxGraph");
    row.summary.constants = 3;
    row.bytes = 2 << 20;
    row.modified_ns = now - 3 * 86400 * kSecond;
    row.compile_time_ns = 5 * kSecond;
  }

  bool passes(std::string_view text) const {
    const auto filter = Filter::parse(text);
    REQUIRE_MESSAGE(filter, text);
    return filter->matches(row, strings, now);
  }
};

}  // namespace

TEST_CASE("an entry whose fields fit two releases may be of either") {
  Sample sample;
  sample.row.summary.family = torch::ReleaseFamily::k2_10;
  sample.row.summary.family_last = torch::ReleaseFamily::k2_11;
  sample.row.summary.exact_release = 0;
  CHECK(sample.passes("torch=2.10"));
  CHECK(sample.passes("torch=2.11"));
  CHECK_FALSE(sample.passes("torch=2.9"));
  CHECK_FALSE(sample.passes("torch=2.12"));
}

TEST_CASE("each comparison holds where it should") {
  const Sample sample;
  for (const char* text : {"kind=fxgraph",
                           "kind=fx",
                           "kind!=aot",
                           "device=cuda",
                           "device=cuda:1",
                           "device=cpu",
                           "device!=xpu",
                           "op=addmm",
                           "op~=RELU",
                           "torch=2.9",
                           "torch=2.9.1",
                           "class=CompiledFxGraph",
                           "class=torch._inductor.output_code.CompiledFxGraph",
                           "size>1M",
                           "size=2M",
                           "size<=2M",
                           "age<7d",
                           "age>=3d",
                           "time=5s",
                           "constants>=3",
                           "key=f3bc",
                           "state=ok",
                           "op~=\"dmm\"",
                           " kind = fxgraph , size > 1M "}) {
    CHECK_MESSAGE(sample.passes(text), text);
  }
  for (const char* text :
       {"kind=aot", "device=cuda:0", "device!=cpu", "op=add", "op!=addmm", "torch=2.1", "size>2M", "age<3d",
        "time>5s", "constants<3", "key=f4", "state=damaged", "kind=fx,size<1M"}) {
    CHECK_MESSAGE(!sample.passes(text), text);
  }
}

TEST_CASE("what an entry doesn't tell fulfils nothing but !=") {
  Sample sample;
  sample.row.compile_time_ns = -1;
  sample.row.summary.graph_name = 0;
  CHECK(!sample.passes("time>0"));
  CHECK(!sample.passes("time<=5s"));
  CHECK(sample.passes("time!=5s"));
  CHECK(!sample.passes("name=x"));
  CHECK(!sample.passes("name~=x"));
  CHECK(sample.passes("name!=x"));
}

TEST_CASE("quoted values may hold commas and quotes") {
  Sample sample;
  sample.row.summary.graph_name = sample.strings.intern("a,\"b\"");
  CHECK(sample.passes("name=\"a,\"\"b\"\"\",kind=fx"));
}

TEST_CASE("a filter that makes no sense is told so") {
  for (const char* text : {"", "  ", "size", "size>", "size>x", "colour=red", "size~=1", "op<3", "kind=fx,",
                           ",kind=fx", "age>1y2", "name=\"x", "name=\"x\"y", "constants=-1", "kind fx"}) {
    const auto filter = Filter::parse(text);
    CHECK_MESSAGE(!filter, text);
    if (!filter) CHECK(filter.error().code == ErrorCode::kUsage);
  }
}
