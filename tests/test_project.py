"""The project itself: who imports whom, the stub, sizes of files, examples in the docs."""

import ast
import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bpe_compat

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "bpe_compat"
FOLDERS = {"converters": ROOT / "converters"} | {
    name: PACKAGE / name for name in ("comparing", "dialects", "hf", "training")
}
MODULES = sorted(p.stem for p in PACKAGE.glob("*.py") if not p.stem.startswith("__"))

# Which modules of the package a module may import; ARCHITECTURE.md draws the same picture.
BASE = {"errors", "flat", "spec", "bytelevel", "dialects", "patterns"}
LIBRARY = BASE | {"_core", "ranks", "texts", "threads", "progress"}
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "atomic": set(),
    "flat": {"_core"},
    "bytelevel": {"flat"},
    "texts": set(),
    "threads": set(),
    "progress": set(),
    "kinds": set(),
    "spec": {"flat", "errors", "kinds"},
    "dialects": {"_core", "errors"},
    "patterns": {"dialects", "errors", "spec"},
    "arrow": {"errors"},
    "models": {"_core", "spec"},
    "remembered": {"spec"},
    "ranks": {"_core", "flat", "models", "remembered", "spec"},
    "charsmap": {"errors"},
    "converters": BASE | {"atomic", "charsmap", "kinds", "ranks", "remembered"},
    "pipeline": BASE | {"_core", "charsmap"},
    "alignment": {"charsmap", "dialects", "spec"},
    "offsets": {"_core", "alignment", "pipeline", "spec"},
    "plan": {"_core", "dialects", "patterns", "spec"},
    "engine": BASE | {"_core", "models", "offsets", "pipeline", "plan", "texts"},
    "specials": {"errors", "spec", "engine"},
    "decoding": {"bytelevel", "spec"},
    "unstable": {"engine", "spec"},
    "tiktoken_methods": LIBRARY | {"engine", "specials", "decoding", "unstable"},
    "encoded_files": {"atomic", "errors", "progress"},
    "bulk_methods": LIBRARY | {"arrow", "encoded_files", "tiktoken_methods"},
    "tokenizer": LIBRARY
    | {"bulk_methods", "converters", "decoding", "engine", "offsets", "specials"},
    "training": LIBRARY | {"arrow", "atomic", "kinds", "pipeline", "tokenizer"},
    "libraries": set(),
    "registry": {"converters", "errors", "tokenizer"},
    "comparing": {"_core", "dialects", "engine", "flat", "patterns", "plan", "ranks", "spec"}
    | {"tokenizer"},
    "verify": {"flat", "comparing", "errors", "libraries", "models", "spec", "progress", "ranks"}
    | {"converters", "tokenizer"},
    "summary": {"converters", "errors", "patterns", "plan", "ranks", "spec"},
    "hf": {"_core", "arrow", "bytelevel", "converters", "decoding", "errors", "offsets", "pipeline"}
    | {"spec", "texts", "threads", "tokenizer", "training"},
    "cli": {
        "__version__",
        "comparing",
        "converters",
        "errors",
        "patterns",
        "registry",
        "summary",
        "tokenizer",
        "training",
        "verify",
    },
}


def imported(path: Path, *, top_level: bool) -> set[str]:
    """Names of the package's modules that a file imports, or of all others."""
    found: set[str] = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and not top_level:
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and top_level and node.level:
            found |= {node.module.split(".")[0]} if node.module else {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and not top_level and not node.level:
            found.add((node.module or "").split(".")[0])
    return found


@pytest.mark.parametrize("module", MODULES)
def test_modules_import_only_what_they_may(module: str) -> None:
    assert imported(PACKAGE / f"{module}.py", top_level=True) <= MAY_IMPORT[module]


def test_the_rules_name_every_module() -> None:
    assert set(MAY_IMPORT) == {*MODULES, *FOLDERS}


@pytest.mark.parametrize("folder", FOLDERS)
def test_folders_import_only_what_they_may(folder: str) -> None:
    for path in FOLDERS[folder].rglob("*.py"):
        # Dots that lead out of the folder.
        depth = len(path.relative_to(FOLDERS[folder].parent).parents)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level == depth:
                names = {node.module} if node.module else {a.name for a in node.names}
                assert {name.split(".")[0] for name in names} <= MAY_IMPORT[folder], path


def test_only_the_plug_in_imports_transformers_and_only_the_bindings_nanobind() -> None:
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "converters").rglob("*.py")]:
        if PACKAGE / "hf" not in path.parents:
            assert "transformers" not in imported(path, top_level=False), path
    for path in (ROOT / "native").rglob("*.[hc]*"):
        if path.parent.name != "bindings" and path.name != "CMakeLists.txt":
            assert "nanobind" not in path.read_text(encoding="utf-8"), path
            assert "Python.h" not in path.read_text(encoding="utf-8"), path


def test_importing_the_package_is_light() -> None:
    script = (
        "import sys, bpe_compat\n"
        "heavy = {'transformers', 'tokenizers', 'tiktoken', 'datasets', 'pyarrow', 'torch'}\n"
        "print(heavy & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


def test_public_names() -> None:
    assert sorted(bpe_compat.__all__) == bpe_compat.__all__
    for name in bpe_compat.__all__:
        assert hasattr(bpe_compat, name)


def test_no_file_is_too_long() -> None:
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    if not files:
        pytest.skip("not a git checkout")
    for name in files:
        path = ROOT / name
        generated = path.suffix == ".inc"
        if (
            path.suffix in (".py", ".pyi", ".cpp", ".h", ".inl")
            and not generated
            and path.is_file()
        ):
            assert len(path.read_text(encoding="utf-8").splitlines()) <= 400, name


def test_the_stub_is_that_of_the_compiled_module(tmp_path: Path) -> None:
    stubgen = pytest.importorskip("nanobind.stubgen", reason="needs nanobind")
    assert stubgen
    made = tmp_path / "_core.pyi"
    command = [
        sys.executable,
        "-m",
        "nanobind.stubgen",
        "-q",
        "-m",
        "bpe_compat._core",
        "-o",
        str(made),
    ]
    subprocess.run(command, check=True, cwd=tmp_path)
    assert made.read_text() == (PACKAGE / "_core.pyi").read_text(), "run `make stub`"


# Examples


CONVERTERS = [
    ".".join(["bpe_compat", *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(
        ".__init__"
    )
    for path in sorted((ROOT / "converters").rglob("*.py"))
]

COMPARING = [f"comparing.{path.stem}" for path in sorted(FOLDERS["comparing"].glob("[a-z]*.py"))]


@pytest.mark.filterwarnings("ignore:the text has only")
@pytest.mark.parametrize(
    "name", ["bpe_compat", *(f"bpe_compat.{m}" for m in [*MODULES, *COMPARING]), *CONVERTERS]
)
def test_examples_in_docstrings(name: str) -> None:
    flags = doctest.IGNORE_EXCEPTION_DETAIL | doctest.NORMALIZE_WHITESPACE
    assert doctest.testmod(importlib.import_module(name), optionflags=flags).failed == 0


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize("name", ["README.md"])
def test_examples_in_the_docs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python block runs, in the order of the page, in one namespace."""
    monkeypatch.chdir(tmp_path)
    examples = blocks(ROOT / name, "python")
    assert examples
    namespace: dict[str, object] = {}
    for example in examples:
        exec(compile(example, name, "exec"), namespace)


def test_the_first_commands_of_the_readme_are_make_targets() -> None:
    shell = blocks(ROOT / "README.md", "sh")
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    assert {"setup", "demo", "test", "lint", "type", "bench", "sanitize"} <= targets
    assert shell[0].split() == ["make", "demo", "make", "test"]


def test_no_path_of_a_machine_is_committed() -> None:
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout
    for name in files.split():
        path = ROOT / name
        if path.is_file() and path.name != Path(__file__).name:
            text = path.read_text(encoding="utf-8", errors="replace")
            for forbidden in ("/work/", "/root/", "/opt/"):
                assert forbidden not in text, (name, forbidden)


def test_the_architecture_names_every_module_and_nothing_else() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = {name.rsplit("/", 1)[-1] for name in re.findall(r"`([\w/.]+\.(?:py|h|cpp))`", page)}
    folders = [ROOT / name for name in ("bpe_compat", "converters", "native", "scripts", "tests")]
    files = {path.name for folder in folders for path in folder.rglob("*.*")}
    assert named <= files
    files = {path.name for path in PACKAGE.rglob("*.py") if not path.stem.startswith("__")}
    assert files - {path.name for path in (ROOT / "converters").rglob("*.py")} <= named
    assert {path.name for path in (ROOT / "converters").glob("*.py")} <= named
    for folder in (path for path in (ROOT / "native").iterdir() if path.is_dir()):
        assert f"`native/{folder.name}/`" in page
