#pragma once

#include "torch/aot_entry.h"
#include "torch/output_code.h"
#include "torch/record_reader.h"
#include "torch/triton_bundle.h"

namespace cachetool::torch {

// Readers of the large records, shared by the files of this folder.

/// True when `cls` is one of the classes that read_output_code decodes.
bool is_output_code_class(const pickle::GlobalNode& cls);

/// A compiled graph of any class; UnknownOutputCode (and an unrecognised field at `path` unless it is the
/// root) for others.
OutputCode read_output_code(Reading& reading, const Path& path, const pickle::Value& value);

void read_triton_bundle(Reading& reading, const Path& path, const pickle::Value& value,
                        Field<TritonBundle>& out);

/// The class of an AOTAutograd entry, or nothing.
std::optional<AotEntryClass> aot_entry_class(const pickle::GlobalNode& cls);

AotAutogradEntry read_aot_entry(Reading& reading, const Path& path, const pickle::Value& value,
                                AotEntryClass entry_class);

/// Debug lines of a key: a list of str.
void read_key_details(Reading& reading, const Path& path, const pickle::Value& value, Field<KeyDetails>& out);

}  // namespace cachetool::torch
