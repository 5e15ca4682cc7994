"""Plants violations of the source rules and clean look-alikes, and checks that exactly the violations are found."""

import pathlib
import tempfile
import unittest

import source_rules


def violations(path, text):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / path
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
        return source_rules.check_tree(pathlib.Path(folder))[0]


class Includes(unittest.TestCase):
    def test_a_part_includes_itself_and_what_comes_before(self):
        self.assertEqual([], violations("lib/torch/a.cpp", '#include "torch/a.h"\n#include "pickle/value.h"\n#include "base/error.h"\n'))

    def test_a_part_does_not_include_what_comes_after(self):
        self.assertEqual(['lib/pickle/a.h:2: "torch/key.h": pickle comes before torch'],
                         violations("lib/pickle/a.h", '#pragma once\n#include "torch/key.h"\n'))

    def test_lib_includes_no_commands(self):
        self.assertEqual(1, len(violations("lib/store/a.cpp", '#include "commands/cli.h"\n')))

    def test_paths_start_at_lib(self):
        self.assertEqual(1, len(violations("lib/pickle/a.cpp", '#include "value.h"\n')))
        self.assertEqual(1, len(violations("lib/pickle/a.cpp", '#include "../base/error.h"\n')))

    def test_an_unknown_part_is_named(self):
        self.assertEqual(["lib/misc/a.h:1: is in no known part of lib/"], violations("lib/misc/a.h", ""))

    def test_cli11_stays_in_commands(self):
        self.assertEqual([], violations("commands/a.cpp", "#include <CLI/CLI.hpp>\n"))
        self.assertEqual(1, len(violations("app/main.cpp", "#include <CLI/CLI.hpp>\n")))
        self.assertEqual(1, len(violations("lib/report/a.cpp", "#include <CLI/CLI.hpp>\n")))

    def test_a_comment_is_no_include(self):
        self.assertEqual([], violations("lib/base/a.h", '/*\n#include "torch/key.h"\n*/\n// #include <fstream>\n'))


class FileAccess(unittest.TestCase):
    def test_ways_around_the_interface(self):
        for line in ("#include <fcntl.h>", "#include <filesystem>", "int f = open(path, 0);", "if (::unlink(p) != 0) {}",
                     "return fopen(p, mode);", "std::ifstream in(p);", "std::rename(a, b);", "f(!x && stat(p, &s));",
                     "std::remove(path);", "auto* m = mmap(nullptr, n, 1, 1, fd, 0);", "archive_read_open_filename(a, p, 1);",
                     "x = a > 0 ? openat(d, n, 0) : -1;", "FILE* file;"):
            with self.subTest(line):
                self.assertEqual(1, len(violations("lib/store/a.cpp", line + "\n")))

    def test_only_the_file_system_implementation_may(self):
        text = "#include <fcntl.h>\nint f(const char* p) { return ::open(p, 0); }\n"
        self.assertEqual([], violations("lib/base/posix_file_system.cpp", text))
        self.assertEqual(2, len(violations("lib/base/other.cpp", text)))
        self.assertEqual(2, len(violations("lib/store/posix_file_system.cpp", text)))

    def test_methods_declarations_and_text_are_no_calls(self):
        text = ("Expected<File> open(const Name& name);\n"
                "virtual Status rename(Name from, Name to) = 0;\n"
                "const Stat& stat(Id id);\n"
                "auto file = file_system.open(name);\n"
                "directory->unlink(name);\n"
                "auto e = std::remove(begin, end, value);\n"
                'fail("could not open(x)");  // then open(it) again\n'
                "auto big = 1'000'000; reopen(file); is_open(file); Source::open(name);\n")
        self.assertEqual([], violations("lib/store/a.cpp", text))

    def test_an_own_function_may_share_a_name(self):
        self.assertEqual([], violations("lib/store/a.cpp", "void link(int from);\nvoid f() { link(1); }\n"))
        self.assertEqual(1, len(violations("lib/store/a.cpp", "void link(int from);\nvoid f() { ::link(a, b); }\n")))


class Printing(unittest.TestCase):
    def test_below_commands_and_report_nothing_prints(self):
        for line in ("std::cout << x;", 'printf("x");', 'fmt::print("x");', 'std::fprintf(f, "x");'):
            with self.subTest(line):
                self.assertEqual(1, len(violations("lib/torch/a.cpp", line + "\n")))
                self.assertEqual([], violations("commands/a.cpp", line + "\n"))
                self.assertEqual([], violations("lib/report/a.cpp", line + "\n"))

    def test_formatting_is_no_printing(self):
        self.assertEqual([], violations("lib/torch/a.cpp", 'auto s = fmt::format("x"); std::snprintf(b, 1, "x"); w.print(x);\n'))


if __name__ == "__main__":
    unittest.main()
