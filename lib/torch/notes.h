#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pickle/value.h"

namespace cachetool::torch {

/// Something in an entry that doesn't fit the record: "fx_kwargs.static_input_idxs", "expected list of int,
/// found str".
struct Note {
  std::string path;
  std::string message;
  std::uint64_t offset = 0;  ///< of the value in the entry's bytes, 0 when it has none
};

/// A field that no studied release has, or an instance of an unknown class where a known one was expected.
struct Unrecognised {
  std::string path;
  pickle::Value value;
};

struct Notes {
  std::vector<Note> notes;
  std::vector<Unrecognised> unrecognised;
};

}  // namespace cachetool::torch
