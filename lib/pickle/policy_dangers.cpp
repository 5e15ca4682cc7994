// Names that are known to do harm. Nothing depends on this list: what isn't allowed is a finding without it.

#include "pickle/policy_rules.h"

namespace cachetool::pickle {
namespace {

struct Danger {
  std::string_view reason;
  std::string_view modules;  // with everything below them
};

constexpr std::string_view kRunsPrograms = "runs other programs or acts on the system";
constexpr std::string_view kRunsPython = "runs Python code from text or files";
constexpr std::string_view kLoads = "loads other pickles or code objects";
constexpr std::string_view kNetwork = "reaches the network";
constexpr std::string_view kFiles = "opens files";
constexpr std::string_view kCalls = "looks up or calls whatever it is told to";
constexpr std::string_view kCompiles = "loads or compiles code";

constexpr Danger kDangers[] = {
    {kRunsPrograms,
     "os posix nt subprocess _posixsubprocess _winapi pty commands popen2 shutil multiprocessing concurrent "
     "asyncio threading _thread thread signal ctypes cffi _ctypes resource faulthandler mmap fcntl platform "
     "uuid pip setuptools distutils ensurepip venv readline curses tkinter Tkinter turtledemo ossaudiodev "
     "crypt nis getpass antigravity numpy.distutils torch.multiprocessing torch.distributed "
     "torch.utils.collect_env"},
    {kRunsPython,
     "importlib _frozen_importlib _frozen_importlib_external imp _imp runpy code codeop pdb bdb doctest "
     "timeit trace profile cProfile pydoc zipimport zipapp pkgutil site atexit sched idlelib lib2to3 ast "
     "compileall py_compile unittest test cmd rlcompleter cgitb sysconfig jinja2 numpy.testing numpy.f2py "
     "sympy.core.sympify sympy.parsing sympy.utilities sympy.printing torch.utils.bottleneck torch.testing "
     "torch.onnx torch._dynamo.test_case"},
    {kLoads,
     "pickle _pickle cPickle dill cloudpickle joblib marshal shelve types jsonpickle yaml copyreg copy_reg "
     "torch.serialization torch.storage torch.package torch.export"},
    {kNetwork,
     "socket _socket ssl http httplib urllib urllib2 urllib3 requests ftplib smtplib telnetlib poplib "
     "imaplib "
     "nntplib webbrowser xmlrpc aiohttp httpx socketserver SocketServer wsgiref netrc torch.hub"},
    {kFiles,
     "io _io codecs pathlib tempfile fileinput glob linecache sqlite3 _sqlite3 dbm tarfile zipfile gzip bz2 "
     "lzma "
     "mailcap configparser"},
    {kCalls, "operator _operator _functools sys gc inspect weakref logging.config logging.handlers"},
    {kCompiles,
     "torch.jit torch.ops torch._ops torch.classes torch.utils.cpp_extension torch.fx.graph_module "
     "torch.fx._symbolic_trace torch._inductor.runtime.compile_tasks "
     "torch._inductor.async_compile torch._inductor.cpp_builder torch._inductor.package "
     "torch._inductor.aoti_eager torch._inductor.standalone_compile torch._inductor.compile_worker "
     "torch._dynamo.bytecode_transformation triton.runtime.build triton.compiler triton.backends"},
};

struct DangerousNames {
  std::string_view module;
  std::string_view reason;
  std::string_view names;  // with everything below them
};

constexpr std::string_view kBuiltins =
    "eval exec execfile compile __import__ reload open file input raw_input breakpoint getattr setattr "
    "delattr "
    "globals locals vars map filter apply memoryview print help exit quit";

constexpr DangerousNames kNames[] = {
    {"builtins", "evaluates code or reaches any attribute", kBuiltins},
    {"__builtin__", "evaluates code or reaches any attribute", kBuiltins},
    {"functools", kCalls, "reduce partialmethod cached_property singledispatch"},
    {"itertools", kCalls, "starmap accumulate"},
    {"contextlib", kCalls, "ExitStack"},
    {"logging", kFiles, "FileHandler basicConfig"},
    {"numpy", kLoads, "load fromfile memmap"},
    {"pandas", kLoads, "read_pickle eval"},
    {"sympy", kRunsPython, "sympify parse_expr lambdify S"},
    {"torch._inductor.codecache", kCompiles,
     "PyCodeCache CppCodeCache CppPythonBindingsCodeCache CppWrapperCodeCache HalideCodeCache CUDACodeCache "
     "CUTLASSCodeCache ROCmCodeCache AotCodeCompiler DLLWrapper FxGraphCache TritonFuture LambdaFuture "
     "compile_file custom_op_wrapper write write_atomic"},
    {"torch", kLoads, "load hub jit ops classes compile package os sys importlib builtins"},
};

/// True for a module of `modules` and for what is below one.
bool is_below(std::string_view modules, std::string_view module) {
  for (std::size_t end = module.find('.');; end = module.find('.', end + 1)) {
    if (has_word(modules, module.substr(0, end))) return true;
    if (end == std::string_view::npos) return false;
  }
}

}  // namespace

std::string_view danger_of(std::string_view module, std::string_view name) {
  constexpr auto kNone = std::string_view::npos;
  if (module.empty() || module.find(' ') != kNone || name.find(' ') != kNone) return {};
  for (const DangerousNames& dangerous : kNames) {
    if (dangerous.module == module && has_word(dangerous.names, name.substr(0, name.find('.'))))
      return dangerous.reason;
  }
  for (const Danger& danger : kDangers) {
    if (is_below(danger.modules, module)) return danger.reason;
  }
  return {};
}

}  // namespace cachetool::pickle
