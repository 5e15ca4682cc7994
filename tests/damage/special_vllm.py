"""vLLM's directories."""

import ast
import hashlib
import json
import pprint
import re
import shutil

from cases import NOT_ALONE, case
from names import leaf
from special_files import first


def prefix(cache):
    return first(cache, "torch_compile_cache/*/*/*/vllm_compile_cache.py").parent


def rename_to_factors(directory):
    """Renames a hash directory to what its factors give, as vLLM would, with an index that names this place."""
    factors = json.loads((directory / "cache_key_factors.json").read_text())
    environment = hashlib.sha256(json.dumps(factors["env"], sort_keys=True).encode()).hexdigest()
    parts = [environment, factors["config_hash"], factors["code_hash"], factors["compiler_hash"]]
    name = hashlib.sha256(str(parts).encode()).hexdigest()[:10]
    top = directory.parent.parent
    for index in top.glob("*/*/vllm_compile_cache.py"):
        index.write_text(re.sub(rf"'/[^']*/{top.name}/", f"'{top.parent}/{name}/", index.read_text()))
    top.rename(top.with_name(name))


@case("vllm-0.15.1", "vllm.index")
def index_that_is_no_table(cache):
    (prefix(cache) / "vllm_compile_cache.py").write_text("[1, 2, 3]")


@case("vllm-0.15.1", "vllm.artifact-missing")
def artifact_that_is_gone(cache):
    first(prefix(cache), "artifact_*").unlink()


@case("vllm-0.15.1", "vllm.artifact-unlisted")
def artifact_that_no_index_names(cache):
    artifact = first(prefix(cache), "artifact_*_subgraph_0")
    shutil.copyfile(artifact, artifact.with_name(artifact.name.replace("_subgraph_0", "_subgraph_77")))


@case("vllm-0.15.1", "vllm.factors")
def factors_of_another_configuration(cache):
    path = prefix(cache) / "cache_key_factors.json"
    factors = json.loads(path.read_text())
    factors["config_hash"] = "0123456789"
    path.write_text(json.dumps(factors, indent=2, sort_keys=True))


@case("vllm-0.15.1", "vllm.secret")
def key_in_clear(cache):
    """In the directory whose factors had none; it is renamed to what the new factors give."""
    for path in sorted(cache.glob("torch_compile_cache/*/*/*/cache_key_factors.json")):
        factors = json.loads(path.read_text())
        if factors["env"].get("VLLM_API_KEY"):
            continue
        factors["env"]["VLLM_API_KEY"] = "not-a-real-key"
        path.write_text(json.dumps(factors, indent=2, sort_keys=True))
        return rename_to_factors(path.parent)
    raise AssertionError("every directory has a key already")


@case("vllm-0.11.2", "vllm.unpacked-keys")
def unpacked_artifact_with_two_keys(cache):
    entry = next(path for path in sorted(cache.glob("torch_compile_cache/*/*/*/artifact_*/aotautograd/*/*")) if path.is_file())
    shutil.copytree(entry.parent, entry.parent.with_name("a" + leaf(b"another")))


@case("vllm-0.11.2", "vllm.moved")
def index_with_paths_of_another_place(cache):
    """A copy of a directory beside the original: its index leads to the original."""
    index = next(path for path in sorted(cache.glob("torch_compile_cache/*/*/*/vllm_compile_cache.py"))
                 if all(artifact.is_file() for artifact in path.parent.glob("artifact_*")) and next(path.parent.glob("artifact_*"), None))
    new = cache / "torch_compile_cache" / "fedcba9876" / "rank_0_0" / "backbone"
    shutil.copytree(index.parent, new)


@case("vllm-0.33.0", "vllm.model")
def model_that_is_something_else(cache):
    first(cache, "torch_compile_cache/torch_aot_compile/*/*/model").write_bytes(b"\x80\x04]\x94.")


@case("vllm-0.33.0", "vllm.model-digest")
def model_with_an_edited_part(cache):
    """The bytes of a compiled part differ from the digest that they are stored under."""
    for path in sorted(cache.glob("torch_compile_cache/torch_aot_compile/*/*/model")):
        data = path.read_bytes()
        if b"submodule_bytes_store" not in data:
            continue
        at = data.index(b"async_compile")
        path.write_bytes(data[:at] + b"ASYNC" + data[at + 5:])
        return
    raise AssertionError("no model with compiled parts")


@case("vllm-0.15.1", "vllm.artifact-key")
def index_that_names_another_entry(cache):
    """The index as releases from 0.18.1 on write it, with the key of another piece."""
    index = prefix(cache) / "vllm_compile_cache.py"
    table = ast.literal_eval(index.read_text())
    index.write_text(pprint.pformat({key: {"cache_key": "a" + leaf(b"another"), "graph_handle": handle} for key, handle in table.items()}))


NOT_ALONE["vllm.model-empty"] = "the table lies in pickles inside pickles, whose lengths an edit would break"
