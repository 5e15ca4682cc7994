"""Checks the rules that hold between source files (docs/architecture.md, "Rules that a test keeps").

Usage: source_rules.py [ROOT]. Prints one line per violation and exits 1 if there is any.
"""

import pathlib
import re
import sys

# A part of lib/ includes itself and the parts before it.
LIB_PARTS = ["base", "container", "pickle", "torch", "store", "change", "verify", "explain", "prune", "replay",
             "archive", "remote", "report"]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)

# Comments, string and character literals: what they hold is no code. An apostrophe between digits is none of them.
NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])*\'',
    re.DOTALL)

# Everything under lib/ reaches files through base/file_system.h; these are the ways around it.
FILE_HEADERS = {"fcntl.h", "dirent.h", "fstream", "filesystem", "ftw.h", "fts.h", "glob.h", "sys/stat.h", "sys/file.h",
                "sys/mman.h", "sys/sendfile.h", "sys/inotify.h"}
FILE_CALLS = ("open|openat|openat2|creat|fopen|fdopen|freopen|opendir|fdopendir|readdir|scandir|nftw|ftw|glob|stat|fstat|lstat|"
              "fstatat|statx|access|faccessat|rename|renameat|renameat2|unlink|unlinkat|rmdir|mkdir|mkdirat|mkstemp|"
              "mkostemp|mkdtemp|tmpfile|link|linkat|symlink|symlinkat|readlink|readlinkat|realpath|truncate|ftruncate|"
              "chmod|fchmod|fchmodat|chown|fchown|fchownat|utimensat|futimens|flock|mmap|pread|pwrite|elf_begin|"
              "archive_read_open_filename|archive_read_open_filenames|archive_read_open_file|archive_read_open_fd|archive_read_open_FILE")
FILE_CALL = re.compile(rf"(?:(?<![\w>:.])::|\bstd::|(?<![\w:.~]))({FILE_CALLS})\s*\(")
FILE_TYPES = re.compile(r"\bstd::(filesystem|basic_[io]?fstream|[io]?fstream)\b|\bstd::remove\s*\(\s*[^,()]*\)|\bFILE\s*\*")
FILE_ACCESS_ALLOWED = re.compile(r"^lib/base/\w*file_system\w*\.(cpp|h)$")

# Only commands/ and lib/report/ print.
PRINTING = re.compile(r"\bstd::(cout|cerr|clog|puts|printf|fprintf|vprintf|putchar)\b|"
                      r"(?<![\w:.>])(printf|fprintf|vfprintf|puts|fputs|putchar|perror)\s*\(|\bfmt::print(ln)?\s*\(")
PRINTING_ALLOWED = re.compile(r"^(commands|app|lib/report)/")

EXPRESSION_WORDS = {"return", "throw", "else", "do", "case", "co_return", "co_await", "co_yield", "not", "and", "or"}


def code_only(text):
    """Blanks comments and literals, keeping line numbers."""
    return NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def is_declaration(code, start):
    """Whether the name at start follows a type, as in `Expected<File> open(`: a declaration and no call."""
    before = code[:start].rstrip()
    if before.endswith(">") and not before.endswith("->"):
        return True
    if before.endswith(("*", "&")) and not before.endswith("&&"):
        return re.search(r"[\w>]\s*[*&]$", before) is not None
    word = re.search(r"(\w+)$", before)
    return word is not None and word.group(1) not in EXPRESSION_WORDS


def declared_names(code):
    """Names of FILE_CALLS that this code declares as its own functions, such as a method link()."""
    return {match.group(1) for match in FILE_CALL.finditer(code) if is_declaration(code, match.start())}


def own_names(root, text):
    """The same for a file and the headers of lib/ that it includes."""
    names = declared_names(code_only(text))
    for match in INCLUDE.finditer(text):
        header = root / "lib" / (match.group(1) or "")
        if match.group(1) and header.is_file():
            names |= declared_names(code_only(header.read_text(encoding="utf-8")))
    return names


def is_member_call(code, start):
    return code[:start].rstrip().endswith((".", "->"))


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def include_problem(path, quoted, system):
    """What is wrong with one include of the file at path (relative, with /), or None."""
    place = path.split("/")[0]
    if system is not None:
        if system.startswith("CLI/") and place != "commands":
            return f"<{system}> belongs in commands/ only"
        if place == "lib" and system in FILE_HEADERS and not FILE_ACCESS_ALLOWED.match(path):
            return f"<{system}> reaches around base/file_system.h"
        return None
    target = quoted.split("/")[0]
    if place == "lib":
        if target not in LIB_PARTS:
            return f'"{quoted}" is not under a part of lib/ (write paths from lib/)'
        own = path.split("/")[1]
        if LIB_PARTS.index(target) > LIB_PARTS.index(own):
            return f'"{quoted}": {own} comes before {target}'
    elif place == "commands" and target not in ["commands", *LIB_PARTS]:
        return f'"{quoted}" is neither in commands/ nor in a part of lib/'
    elif place == "app" and target not in ["commands", *LIB_PARTS]:
        return f'"{quoted}" is neither in commands/ nor in a part of lib/'
    return None


def check_file(root, file):
    """Yields (line, sentence) for each violation in one file."""
    path = file.relative_to(root).as_posix()
    text = file.read_text(encoding="utf-8")
    code = code_only(text)
    parts = path.split("/")
    if parts[0] == "lib" and (len(parts) < 3 or parts[1] not in LIB_PARTS):
        yield 1, "is in no known part of lib/"
        return
    for match in INCLUDE.finditer(text):
        if code[match.start() : match.end()].strip() == "":
            continue  # inside a comment or literal
        problem = include_problem(path, match.group(1), match.group(2))
        if problem:
            yield line_of(text, match.start()), problem
    if parts[0] == "lib" and not FILE_ACCESS_ALLOWED.match(path):
        for match in FILE_TYPES.finditer(code):
            yield line_of(text, match.start()), f"{match.group().strip()} reaches around base/file_system.h"
        own = own_names(root, text)
        for match in FILE_CALL.finditer(code):
            qualified = match.group().startswith(("::", "std::"))
            is_own = not qualified and match.group(1) in own
            if not is_own and not is_declaration(code, match.start()) and not is_member_call(code, match.start()):
                yield line_of(text, match.start()), f"{match.group(1)}() reaches around base/file_system.h"
    if not PRINTING_ALLOWED.match(path):
        for match in PRINTING.finditer(code):
            yield line_of(text, match.start()), f"{match.group().rstrip('( ')} prints below commands/ and lib/report/"


def check_tree(root):
    """Returns every violation below root as "path:line: sentence" and the number of files read."""
    files = sorted(file for place in ("app", "commands", "lib") for file in (root / place).rglob("*")
                   if file.suffix in (".h", ".cpp"))
    violations = [f"{file.relative_to(root).as_posix()}:{line}: {sentence}"
                  for file in files for line, sentence in check_file(root, file)]
    return violations, len(files)


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    violations, count = check_tree(root)
    print("".join(f"{violation}\n" for violation in violations), end="")
    print(f"source rules: {count} files, {len(violations)} violations")
    return 1 if violations or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
