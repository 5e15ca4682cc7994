"""Callables that run code, touch files or reach the network, most of them absent from scanners' deny lists.

One line per module: its name, then attributes. A pickle that names or calls any of them is dangerous; after a question
mark, or at least unknown.
"""

_TEXT = """
os system popen execv execve execl execvp spawnl spawnlp spawnv spawnve posix_spawn startfile fork kill remove unlink rmdir rename putenv chmod symlink mkfifo fdopen open write dup2 _exit abort add_dll_directory
os.path join expanduser exists
posix system popen execv fork open unlink rename posix_spawn
nt system startfile
pty spawn fork
subprocess Popen run call check_call check_output getoutput getstatusoutput
commands getoutput getstatusoutput
popen2 popen2 Popen3
_posixsubprocess fork_exec
_winapi CreateProcess
builtins eval exec compile __import__ open input breakpoint getattr setattr delattr globals locals vars map filter print help exit quit memoryview
__builtin__ eval exec compile __import__ open file execfile apply reload getattr setattr raw_input
importlib import_module reload __import__
importlib.util module_from_spec spec_from_file_location
importlib.machinery SourceFileLoader SourcelessFileLoader ExtensionFileLoader
importlib.resources path
_frozen_importlib _find_and_load
_frozen_importlib_external SourceFileLoader ExtensionFileLoader
imp load_source load_compiled load_dynamic load_module
_imp create_dynamic exec_dynamic
zipimport zipimporter
pkgutil get_loader find_loader get_data resolve_name
runpy run_path run_module _run_code
code interact InteractiveInterpreter InteractiveConsole
codeop compile_command
pdb run runeval runcall set_trace
bdb Bdb Bdb.run
cProfile run runctx Profile.run
profile run runctx Profile.runctx
trace Trace Trace.run
timeit timeit repeat main Timer Timer.timeit
doctest debug_src debug_script testfile run_docstring_examples
pydoc locate safeimport importfile pipepager tempfilepager
unittest main
unittest.mock _importer patch
test.support.script_helper assert_python_ok
idlelib.pyshell ModifiedInterpreter.runcommand
idlelib.run Executive.runcode
idlelib.debugobj ObjectTreeItem
idlelib.calltip get_entity
idlelib.autocomplete AutoComplete.get_entity
lib2to3.pgen2.pgen ParserGenerator
lib2to3.main main
distutils.core run_setup
distutils.file_util write_file copy_file
distutils.spawn spawn
setuptools setup
setuptools.sandbox run_setup
pip main
pip._internal main
ensurepip bootstrap _run_pip
venv create EnvBuilder
compileall compile_file
py_compile compile
ast literal_eval parse
site addsitedir main execsitecustomize
atexit register
sched scheduler
signal signal set_wakeup_fd
threading Thread Timer
_thread start_new_thread
thread start_new_thread
multiprocessing Process Pool
multiprocessing.util spawnv_passfds
multiprocessing.pool Pool
multiprocessing.reduction _reduce_socket
concurrent.futures ThreadPoolExecutor ProcessPoolExecutor
asyncio run create_subprocess_shell create_subprocess_exec
asyncio.unix_events _UnixSubprocessTransport._start
asyncio.subprocess create_subprocess_shell
ctypes CDLL PyDLL LibraryLoader.LoadLibrary cast memmove string_at CFUNCTYPE pythonapi
ctypes.util find_library _findLib_gcc
_ctypes dlopen dlsym call_function
cffi FFI
types FunctionType CodeType MethodType ModuleType
marshal loads load
pickle loads load Unpickler
_pickle load Unpickler
cPickle loads load
shelve open Shelf
dbm open
dill loads load
dill._dill _create_function _create_code _import_module
cloudpickle loads load
cloudpickle.cloudpickle _make_function subimport _builtin_type
joblib load
jsonpickle decode
copyreg _reconstructor __newobj__ add_extension
copy_reg _reconstructor __newobj__
operator attrgetter methodcaller itemgetter call
_operator attrgetter methodcaller call
functools reduce partialmethod cached_property singledispatch
_functools reduce
itertools starmap accumulate
inspect getsource getmodule
gc get_objects get_referrers
sys setprofile settrace addaudithook exit _getframe modules breakpointhook
weakref finalize
? contextlib ExitStack
io open FileIO open_code
_io open FileIO open_code
codecs open
fileinput input FileInput
pathlib Path Path.write_text Path.unlink PosixPath
tempfile mktemp NamedTemporaryFile TemporaryFile
shutil rmtree copyfile move copytree unpack_archive make_archive chown
glob glob
linecache getlines updatecache
tarfile open TarFile.open TarFile.extractall
zipfile ZipFile ZipFile.extractall
zipapp create_archive
gzip open
bz2 open
lzma open
sqlite3 connect
_sqlite3 connect
mmap mmap
fcntl fcntl flock ioctl
resource setrlimit
faulthandler enable dump_traceback_later
socket socket create_connection socketpair
_socket socket
ssl get_server_certificate wrap_socket
http.client HTTPConnection HTTPSConnection
http.server HTTPServer test
http.cookiejar MozillaCookieJar
httplib HTTPConnection
urllib urlopen urlretrieve
urllib.request urlopen urlretrieve Request build_opener
urllib2 urlopen
urllib3 PoolManager request
requests get post Session
httpx get
aiohttp ClientSession
ftplib FTP FTP.retrbinary
smtplib SMTP SMTP.sendmail
telnetlib Telnet
poplib POP3
imaplib IMAP4 IMAP4_stream
nntplib NNTP
xmlrpc.client ServerProxy
xmlrpc.server SimpleXMLRPCServer
socketserver TCPServer
SocketServer TCPServer
webbrowser open get GenericBrowser
logging.config listen fileConfig dictConfig
logging.handlers SMTPHandler SocketHandler HTTPHandler
logging FileHandler basicConfig
? configparser ConfigParser
netrc netrc
mailcap findmatch
cgitb enable
readline read_history_file
rlcompleter Completer
? cmd Cmd
turtledemo.__main__ DemoWindow
tkinter Tk
Tkinter Tk
curses wrapper
wsgiref.simple_server make_server
uuid _get_command_stdout
platform popen _syscmd_file
sysconfig get_config_vars _generate_posix_vars
ossaudiodev open
crypt crypt
nis cat
antigravity geohash
getpass getpass
numpy load fromfile memmap
numpy.testing measure
numpy.testing._private.utils runstring
? numpy.core._multiarray_umath _load_from_filelike
numpy.distutils.exec_command exec_command
numpy.f2py compile
? numpy.lib.npyio load
pandas read_pickle eval
? pandas.io.common get_handle
? scipy.io loadmat
sympy sympify parse_expr lambdify
sympy.core.sympify sympify
sympy.parsing.sympy_parser parse_expr eval_expr
sympy.utilities.lambdify lambdify
sympy.utilities.codegen codegen
sympy.printing.preview preview
jinja2 Template
yaml load unsafe_load
torch load compile
torch.serialization load _load _legacy_load
torch.hub load load_state_dict_from_url download_url_to_file _import_module
torch.jit load
torch.jit._serialization load
torch.ops load_library
torch._ops _Ops.load_library
torch.classes load_library
torch.package PackageImporter
torch.utils.cpp_extension load load_inline _jit_compile
? torch.utils.data.datapipes.utils.decoder basichandlers
torch.utils.bottleneck.__main__ run_cprofile
torch.utils.collect_env run get_pretty_env_info
torch.distributed.launch main
torch.distributed.elastic.multiprocessing start_processes
torch.distributed.rpc rpc_sync
torch.distributed.rpc.internal PythonUDF _internal_rpc_pickler
torch.multiprocessing spawn
torch.testing._internal.common_utils run_tests
torch.fx.graph_module _exec_with_source _forward_from_src reduce_package_graph_module reduce_deploy_graph_module
torch.fx._symbolic_trace symbolic_trace
torch._inductor.codecache PyCodeCache.load PyCodeCache.load_by_key_path CppCodeCache.load DLLWrapper CUDACodeCache.load ROCmCodeCache.load AotCodeCompiler.compile write_atomic
torch._inductor.runtime.compile_tasks _reload_python_module _module_to_triton_kernel
torch._inductor.async_compile AsyncCompile.triton
torch._inductor.cpp_builder run_compile_cmd
torch._inductor.package load_package
? torch._inductor.runtime.runtime_utils get_first_attr
torch._inductor.aoti_eager load_aoti_eager_cache
torch._inductor.standalone_compile CompiledArtifact.load
torch._inductor.compile_worker.subproc_pool SubprocPool
? torch._dynamo.package DynamoCache.load
torch._dynamo.bytecode_transformation transform_code_object
? torch._dynamo.convert_frame compile_frame
? torch._dynamo.guards GuardsStatePickler._unpickle_python_module GuardsStatePickler._unpickle_module
torch._dynamo.test_case run_tests
torch.storage _load_from_bytes.__globals__
torch.export load
torch.onnx.utils _export
? torch.cuda._nvrtc run
? triton.runtime.jit JITFunction.run JITFunction.preload
triton.runtime.build compile_module_from_src _build
triton.compiler compile
triton.backends.nvidia.driver compile_module_from_src
? vllm.compilation.caching VllmSerializableFunction.deserialize_compile_artifacts
? vllm.utils import_from_path
? transformers pipeline
setuptools.command.easy_install main
"""



def _read():
    for line in _TEXT.strip().splitlines():
        words = line.split()
        known = words[0] != "?"
        module, *attributes = words if known else words[1:]
        for attribute in attributes:
            yield module, attribute, known


CALLABLES = list(_read())  # (module, attribute, whether it must be called dangerous)
