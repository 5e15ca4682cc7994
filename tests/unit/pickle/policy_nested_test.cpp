// Pickles inside pickles, states and persistent ids, as the policy sees them.

#include <doctest/doctest.h>

#include "pickle/policy.h"
#include "unit/pickle/pickle_bytes.h"

using namespace cachetool;
using namespace cachetool::pickle;

namespace {

std::string name(std::string_view module, std::string_view global) {
  return short_text(module) + short_text(global) + "\x93";
}
std::string bytes(std::string_view value) {
  return "B" + little(value.size(), 4) + std::string(value);
}
std::string whole(const std::string& body) {
  return "\x80\x04" + body + ".";
}

const std::string kEntry = name("torch._inductor.output_code", "CompiledFxGraph") + ")\x81";
const std::string kHostile = whole(name("os", "system") + short_text("id") + "\x85R");

PolicyReport judged(const std::string& pickle) {
  Budget budget = Budget::for_input(pickle.size());
  const PartialDocument part = parse_partly(pickle, budget);
  return judge(part.document, budget);
}

Verdict verdict(const std::string& body) {
  return judged(whole(body)).verdict;
}

std::string storage_stream(std::string_view content) {
  return raw("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e\x80\x02M\xe9\x03.\x80\x02}."
             "\x80\x02(") +
         "X" + little(7, 4) + "storagectorch\nByteStorage\nX" + little(1, 4) + "1X" + little(3, 4) + "cpuJ" +
         little(content.size(), 4) + "NtQ." + raw("\x80\x02]X") + little(1, 4) + "1a." +
         little(content.size(), 8) + std::string(content);
}

}  // namespace

TEST_SUITE("pickle/policy nested") {
  TEST_CASE("every way to keep a pickle is looked into") {
    CHECK(verdict(bytes(kHostile)) == Verdict::kDangerous);
    CHECK(verdict(raw("\x96") + little(kHostile.size(), 8) + kHostile) == Verdict::kDangerous);
    CHECK(verdict(raw("\x96") + little(kHostile.size(), 8) + kHostile + "\x98") == Verdict::kDangerous);
    CHECK(verdict(bytes("cos\nsystem\n(S'id'\ntR.")) == Verdict::kDangerous);
    CHECK(verdict(short_text("cos\nsystem\n(S'id'\ntR.")) == Verdict::kDangerous);
    CHECK(verdict(short_text("(\xc2\x80\x04" + kHostile.substr(2))) == Verdict::kData);  // not at the start
    CHECK(verdict(bytes(whole("N") + kHostile)) == Verdict::kDangerous);  // the next pickle.load gets it
    std::string latin1;
    for (const char c : kHostile) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x80) {
        latin1 += c;
      } else {
        latin1 += static_cast<char>(0xc0 | byte >> 6);
        latin1 += static_cast<char>(0x80 | (byte & 0x3f));
      }
    }
    CHECK(verdict(short_text(latin1)) == Verdict::kDangerous);
  }

  TEST_CASE("plain text and bytes stay data") {
    for (const char* text : {"cuda", "class A:\n  def f(self):\n    pass.\n", "(no pickle).", "I am text.\n",
                             "{\"a\": 1}", "c\n\n."}) {
      CAPTURE(text);
      CHECK(verdict(bytes(text)) == Verdict::kData);
      CHECK(verdict(short_text(text)) == Verdict::kData);
    }
  }

  TEST_CASE("a broken pickle acts before it breaks") {
    const std::string cut = kHostile.substr(0, kHostile.size() - 1);
    CHECK(judged(cut).verdict == Verdict::kDangerous);
    CHECK(judged(cut + "\xff").verdict == Verdict::kDangerous);
    CHECK(verdict(bytes(cut)) == Verdict::kDangerous);
    CHECK(verdict(bytes("\x80\x04N\xff")) == Verdict::kData);  // does nothing
    Budget budget = Budget::for_input(cut.size());
    const PartialDocument part = parse_partly(cut, budget);
    REQUIRE(part.error);
    CHECK(part.error->code == ErrorCode::kTruncated);
    CHECK(part.document.globals().size() == 1);
    CHECK(part.document.calls().size() == 1);
    CHECK(part.document.root().is_none());
  }

  TEST_CASE("storages are looked into, and have to be all there") {
    const std::string load = name("torch.storage", "_load_from_bytes");
    const PolicyReport good = judged(whole(load + bytes(storage_stream("numbers!")) + "\x85R"));
    CHECK(good.verdict == Verdict::kData);
    CHECK(good.nested_pickles == 5);
    CHECK(verdict(load + bytes(storage_stream(kHostile)) + "\x85R") == Verdict::kDangerous);
    std::string cut = storage_stream("numbers!");
    cut.pop_back();
    CHECK(verdict(load + bytes(cut) + "\x85R") == Verdict::kUnknown);
  }

  TEST_CASE("bytes that are applied in two ways are judged in both") {
    // A magic number that isn't spelled as torch does: one pickle for pickle.loads, five for torch.load.
    const std::string stream = "L119547037146038801333356L\n.I1001\n.(d.cos\nsystem\n(S'id'\ntR.(l.";
    const std::string both = bytes(stream) + "\x94" + "0" + name("pickle", "loads") + raw("h\0\x85R0") +
                             name("torch.storage", "_load_from_bytes") + raw("h\0\x85R");
    CHECK(verdict(both) == Verdict::kDangerous);
  }

  TEST_CASE("states can't change what an object does") {
    const auto state = [](std::string_view attribute, const std::string& value) {
      return kEntry + "}" + short_text(attribute) + value + "sb";
    };
    CHECK(verdict(state("source_code", short_text("x"))) == Verdict::kData);
    CHECK(verdict(state("__setstate__", "N")) == Verdict::kDangerous);
    CHECK(verdict(state("_sympy_", "N")) == Verdict::kDangerous);
    CHECK(verdict(state("a.b", "N")) == Verdict::kDangerous);
    CHECK(verdict(kEntry + "}K\x01Nsb") == Verdict::kDangerous);
    CHECK(verdict(state("a", "N") + "}b") == Verdict::kUnknown);                          // a second one
    CHECK(verdict(kEntry + "Nb") == Verdict::kUnknown);                                   // no dict
    CHECK(verdict(kEntry + "}\x94" + "b0" + kEntry + raw("h\0b")) == Verdict::kUnknown);  // shared
    const std::string cache = name("torch._inductor.runtime.autotune_cache", "AutotuneCache") + ")\x81";
    const std::string save = name("builtins", "getattr") + cache + short_text("save") + "\x86R";
    const std::string tuner =
        name("torch._inductor.runtime.triton_heuristics", "CachingAutotuner") + ")\x81}";
    CHECK(verdict(tuner + short_text("save_cache_hook") + save + "sb") == Verdict::kData);
    CHECK(verdict(tuner + short_text("close") + save + "sb") == Verdict::kUnknown);
  }

  TEST_CASE("persistent ids have a meaning only where torch gives them one") {
    CHECK(verdict(short_text("unpickle_state") + "Q") == Verdict::kUnknown);
    CHECK(verdict(bytes(whole(short_text("unpickle_state") + "Q"))) == Verdict::kData);
    CHECK(verdict(bytes(whole(short_text("other") + "Q"))) == Verdict::kUnknown);
  }

  TEST_CASE("old protocols import other names than they write") {
    CHECK(judged("\x80\x02"
                 "c__builtin__\nset\n]\x85R.")
              .verdict == Verdict::kData);
    CHECK(judged("\x80\x02"
                 "c__builtin__\ntuple\n]\x85R.")
              .verdict == Verdict::kData);
    CHECK(verdict(name("__builtin__", "tuple") + "]\x85R") == Verdict::kUnknown);
    CHECK(judged("c__builtin__\neval\n(S'1'\ntR.").verdict == Verdict::kDangerous);
    CHECK(judged("ccommands\ngetoutput\n(S'id'\ntR.").verdict == Verdict::kDangerous);
    CHECK(judged("\x80\x04"
                 "N0\x80\x02"
                 "c__builtin__\ntuple\n]\x85R.")
              .verdict != Verdict::kData);
  }

  TEST_CASE("calls that no pickler of Python 3 writes") {
    CHECK(judged("(i"
                 "collections\nOrderedDict\n.")
              .verdict == Verdict::kUnknown);
    CHECK(judged("(ccollections\nOrderedDict\no.").verdict == Verdict::kUnknown);
  }

  TEST_CASE("fields that become paths or code") {
    const auto state = [](std::string_view module, std::string_view class_name, std::string_view attribute,
                          const std::string& value) {
      return verdict(name(module, class_name) + ")\x81}" + short_text(attribute) + value + "sb");
    };
    const char* bundler = "torch._inductor.triton_bundler";
    CHECK(state(bundler, "TritonKernelArtifact", "filename", short_text("k.cubin")) == Verdict::kData);
    CHECK(state(bundler, "TritonKernelArtifact", "filename", short_text("../k.cubin")) ==
          Verdict::kDangerous);
    CHECK(state(bundler, "TritonKernelArtifacts", "kernel_hash", short_text("ABC-_x")) == Verdict::kData);
    CHECK(state(bundler, "TritonKernelArtifacts", "kernel_hash", short_text("/etc")) == Verdict::kDangerous);
    CHECK(state(bundler, "TritonKernelArtifacts", "artifacts", "]Na") == Verdict::kDangerous);
    const char* launcher = "torch._inductor.runtime.static_triton_launcher";
    const char* kernel = "StaticallyLaunchedCudaKernel";
    CHECK(state(launcher, kernel, "cubin_path", "N") == Verdict::kData);
    CHECK(state(launcher, kernel, "cubin_path", short_text("/tmp/x.cubin")) == Verdict::kDangerous);
    CHECK(state(launcher, kernel, "arg_names", "](" + short_text("in_ptr0") + "e") == Verdict::kData);
    CHECK(state(launcher, kernel, "arg_names", "](" + short_text("x=exit()") + "e") == Verdict::kDangerous);
    CHECK(state("triton.runtime.autotuner", "Config", "kwargs", "}" + short_text("XBLOCK") + "K\x08s") ==
          Verdict::kData);
    CHECK(state("triton.runtime.autotuner", "Config", "kwargs", "}" + short_text("X): pass") + "K\x08s") ==
          Verdict::kDangerous);
  }

  TEST_CASE("text of stored graphs is names") {
    const auto made = [](std::string_view module, std::string_view class_name, std::string_view attribute,
                         std::string_view value) {
      return name(module, class_name) + ")\x81}" + short_text(attribute) + short_text(value) + "sb";
    };
    CHECK(verdict(made("torch.fx._graph_pickler", "_OpStrPickleData", "name", "l_x_")) == Verdict::kData);
    CHECK(verdict(made("torch.fx._graph_pickler", "_OpStrPickleData", "name", "x=print(1)")) ==
          Verdict::kDangerous);
    CHECK(verdict(made("torch.fx.graph", "CodeGen", "_func_name", "forward")) == Verdict::kData);
    CHECK(verdict(made("torch.fx.graph", "CodeGen", "_func_name", "f(): pass\nimport os\ndef g")) ==
          Verdict::kDangerous);
    CHECK(verdict(made("torch.fx._graph_pickler", "_OpOverloadPacketPickleData", "name",
                       "torch.ops.demo.attention")) == Verdict::kData);
    CHECK(verdict(made("torch.fx._graph_pickler", "_OpOverloadPacketPickleData", "name",
                       "torch.ops.load_library")) == Verdict::kDangerous);
  }
}
