#pragma once

#include "base/file_system.h"
#include "base/output.h"
#include "commands/terminal.h"
#include "store/environment.h"

namespace cachetool::commands {

/// What a command works with besides its options.
struct Context {
  FileSystem& files;
  OutputSink& out;    ///< results
  OutputSink& error;  ///< diagnostics, one line each
  Terminal terminal;
  store::Environment environment;
};

}  // namespace cachetool::commands
