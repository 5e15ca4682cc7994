"""Strings that torch would give to Python's eval as guards or strides, and what Python makes of them."""

import ast
import itertools
import math

# What reaches beyond numbers, each in the place of a guard.
HOSTILE = [
    "__import__('os').system('id')", "__import__", "exec('1')", "eval('1')", "open('/etc/passwd')", "print(1)", "getattr(1, 'a')",
    "lambda: 1", "(lambda: __import__('os'))()", "(x := 1)", "[x for x in (1,)]", "{1: 2}", "{1}", "[1]", "(1, 2)", "1,", "()", "f'{1}'",
    "'a'", '"a"', "b'a'", "L", "L['t0'].__class__", "L['t0']['t1']", "L[0]", "L['x']", "L['t0' if 1 else 't1']", "L['t' '0']", "L.get('t0')",
    "L['t']", "L['t0x']", "L[\"t0\"]", "L ['t0']", "L['t\u0660']", "s0.__class__", "s0.real", "s0()", "s0[0]", "(s0)(1)", "(max)(1, 2)",
    "max.__self__", "max", "max(1, 2).__class__", "max(*L)", "max(1, key=print)", "max(1, 2, key=lambda x: x)", "int('1')", "int(s0, 16)",
    "math.__loader__", "math.__dict__", "math", "torch", "torch.os.system('id')", "torch.load('x')", "torch.hub.load('a', 'b')",
    "torch.sym_max.__globals__", "torch.sym_max (1, 2).x", "torch.ops.load_library('x')", "torch.sym_max[0]", "torch . os", "torch.Tensor",
    "torch.compile(1)", "torch.zeros(9)", "math.factorial(99999999)", "math.comb(9, 9)", "math.perm(9)", "math.prod(1)", "math.dist(1, 2)",
    "True.__class__", "None", "...", "NotImplemented", "__builtins__", "__name__", "1 if 1", "1; 2", "1\n2", "1\\\n+2", "#", "1 # a", "1 @ 2",
    "~1", "1 -> 2", "1 is 1", "1 in L", "not", "await s0", "yield", "yield 1", "s0 = 1", "s0 == 1 and __import__('os')",
    "s0 == 1 or exec('1')", "1 if s0 else exec('1')", "min(1, exec('1'))", "-exec('1')", "not exec('1')", "(exec('1'))",
    "s0 == 1 \u2212 1", "\uff4dax(1, 2)", "m\u0430x(1, 2)", "\u04550 == 1", "s\u00b9 == 1", "s\uff10 == 1", "\u2460", "1\u00a0+\u00a02", "1\u3000+ 2",
    "1_000", "0x10", "0o7", "0b1", "1j", "1e", "1.real", "1..real", "1.__class__", "1 .__class__", "00", "01", "1L", "1if 1else 2",
    "s0\0", "\0", "s0\ufeff", "\ufeffs0", "s0\x0c", "s0\r", "s0\x1c", "9**9**9**9", "1<<9**9**9", "9**(9**(9**9))", "(9**999)**9999",
    "(" * 101 + "1" + ")" * 101, "(" * 100_000 + "1", "-" * 100_000 + "1", "not " * 10_000 + "1", "max(" * 101 + "1, 2" + ")" * 101,
    "s0 == " + "1" * 1_048_577, "1" * 50, "exec('" + "a" * 1_000_000 + "')", "s0 + " * 150_000 + "exec('1')", "e", "E", "_", "__", "a", "S0", "s",
    "0s0", "s0s1 s2", "s0 s1", "1 2", "max(1 2)", "max(1,,2)", "max(,1)", "max()", "min", "abs()", "abs(1, 2)", "math.floor()", "cos(1)", "sqrt(4)",
    "open1('x')", "s0 if s1 else", "if s0 else s1", "s0 <> 1", "s0 === 1", "s0 ! 1", "s0 & & 1", "s0 && 1", "s0 || 1", "!s0", "s0 ? 1 : 2", "$", "`1`",
    "L['t0']]", "[L['t0']", "(1", "1)", ")", "(", "", " ", "\t", "\n",
]

# Real ones and near ones: they are numbers and nothing else.
HARMLESS = [
    "True", "L['t0'] == 8", "2 <= L['t0'] and L['t0'] <= 1024", "L['t0']*L['t1'] < 2147483648", "(L['t0'] // 4) * 4 == L['t0']",
    "Mod(s0, 8) == 0", "FloorDiv(s0, 2)", "s27*s77", "((s0 + 1)//2)**2", "max(1, s0)", "min(s0, s1, 3)", "math.ceil(s0 / 2)", "-s0", "not (s0 == 1)",
    "1 if s0 > 2 else 3", "torch.sym_max(s0, 2)", "torch.sym_min(s0, 2)", "u0 >= 0", "zuf0", "abs(s0 - 1)", "s0 % 8 == 0", "1.5*s0", "2**s0",
    "IsNonOverlappingAndDenseIndicator(s0, 1)", "cast_symbool_to_symint_guardless(s0 == 1)", "math.floor(s0**0.5)", "int(s0)", "float(s0)",
]

TOKENS = ("L['t0']", "L['t1']", "s0", "u1", "1", "2", "0", "3.5", "True", "+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "(", ")", ",",
          "<", "<=", "==", "!=", ">", ">=", "and", "or", "not", "if", "else", "max(", "min(", "abs(", "int(", "math.floor(", "torch.sym_max(",
          "FloorDiv(", "Mod(", ".", "[", "]", "'", ":", "=", "exec", "__class__", "lambda", "for", "in", "is", "L", "math", "torch", "\n", "#", "{", "}",
          ":=", "~", "@", "f''", "_", "x")


def random_text(rng):
    kind = rng.randrange(3)
    if kind == 0:
        return rng.choice(("", " ")).join(rng.choice(TOKENS) for _ in range(rng.randrange(1, 12)))
    base = rng.choice(HARMLESS) if kind == 1 else rng.choice(HOSTILE)[:200]
    at = rng.randrange(len(base) + 1)
    return base[:at] + rng.choice(TOKENS) + base[at + rng.randrange(3):]


NODES = (ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift,
         ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor, ast.UnaryOp, ast.USub, ast.UAdd, ast.Not, ast.Compare, ast.Lt, ast.LtE, ast.Eq, ast.NotEq,
         ast.Gt, ast.GtE, ast.IfExp, ast.Load)
FUNCTIONS = {"min", "max", "abs", "round", "int", "float", "bool", "IsNonOverlappingAndDenseIndicator", "cast_symbool_to_symint_guardless"}
SYMPY = {"Min", "Max", "Abs", "FloorDiv", "CleanDiv", "CeilDiv", "Mod", "PythonMod", "ModularIndexing", "IntTrueDiv", "FloatTrueDiv", "PowByNatural",
         "FloatPow", "LShift", "RShift", "ToFloat", "FloorToInt", "CeilToInt", "TruncToInt", "RoundToInt", "RoundDecimal", "floor", "ceiling", "Identity",
         "Where"}


def is_symbol(name):
    stem = name.rstrip("0123456789")
    return stem and stem != name and all(c.islower() and c.isascii() or c == "_" for c in stem) and stem[0] != "_"


def objection(text):
    """What Python would do with an accepted text that isn't arithmetic, or None."""
    try:
        tree = ast.parse(text.strip(" \t"), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None  # eval raises the same, before anything runs
    open_nodes = [tree]
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, NODES):
            open_nodes.extend(child for child in ast.iter_child_nodes(node) if not isinstance(child, (ast.expr_context,)))
        elif isinstance(node, ast.Constant):
            if type(node.value) not in (int, float, bool):
                return f"a {type(node.value).__name__}"
        elif isinstance(node, ast.Name):
            if not is_symbol(node.id):
                return f"the name {node.id}"
        elif isinstance(node, ast.Attribute):
            if ast.unparse(node) not in ("math.inf", "math.nan"):
                return ast.unparse(node)
        elif isinstance(node, ast.Subscript):
            index = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if not (isinstance(node.value, ast.Name) and node.value.id == "L" and isinstance(index, str) and index[:1] == "t" and
                    index[1:].isdigit() and index.isascii()):
                return ast.unparse(node)
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            root, _, function = name.partition(".")
            known = name in FUNCTIONS or name in SYMPY or root == "math" and hasattr(math, function) and "_" not in function or (
                root == "torch" and function.startswith(("sym_", "_sym_")) and "." not in function)
            if not known or node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
                return f"a call of {name}"
            open_nodes.extend(node.args)
        else:
            return type(node).__name__
    return None


def random_texts(rng, count):
    return itertools.islice(iter(lambda: random_text(rng), None), count)
