"""Claims about the project as a whole: what may stand in it, its locks, its version, its documents."""

import ast
import importlib.metadata
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import callscope

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src" / "callscope"
DECISIONS = ROOT / "docs" / "decisions"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = {kind: ROOT / "requirements" / f"{kind}.lock" for kind in ("run", "dev")}

MODULES = sorted(SRC.rglob("*.py"))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

UNWANTED = {
    "a package index": r"(?<![\w-])(?:pypi|pythonhosted|npmjs)\.(?:org|io|com)\b",
    "an index option": r"^\s*--(?:extra-)?index-url",
    "the address of a package file": r"https?://[^\s\"')]+\.(?:whl|tgz|tar\.gz)\b",
    "a lock's registry": r"registry = \"http|\"resolved\": \"http",
    "a path of one machine": r"(?<![\w.~/:-])/(?:home|root|work|Users)/\w",
}
LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


def project_files() -> list[Path]:
    """Every file that is tracked, or would be by `git add .`."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def locked(kind: str) -> dict[str, set[str]]:
    """The versions a lock pins, by normalised name (several where Python versions need different ones)."""
    found: dict[str, set[str]] = {}
    for name, version in LOCKED.findall(LOCKS[kind].read_text(encoding="utf-8")):
        found.setdefault(normal(name), set()).add(version)
    return found


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements(*groups: list[object]) -> list[Requirement]:
    return [Requirement(line) for group in groups for line in group if isinstance(line, str)]


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


# ------------------------------------------------------------------------------------------------------ what may stand


@pytest.mark.parametrize("what", UNWANTED)
def test_no_file_names(what: str) -> None:
    pattern = re.compile(UNWANTED[what], re.MULTILINE)
    found = []
    for path in project_files():
        text = path.read_bytes().decode("utf-8", "replace")
        found += [f"{relative(path)}: {match.group()}" for match in pattern.finditer(text)]
    assert found == []


@pytest.mark.parametrize("module", MODULES, ids=relative)
def test_a_module_opens_by_saying_what_it_is_for(module: Path) -> None:
    assert ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))


@pytest.mark.parametrize("module", MODULES, ids=relative)
def test_a_module_is_one_idea_and_at_most_400_lines(module: Path) -> None:
    assert len(module.read_text(encoding="utf-8").splitlines()) <= 400


def test_the_public_face_is_exactly_what_all_lists() -> None:
    assert len(set(callscope.__all__)) == len(callscope.__all__)
    for name in callscope.__all__:
        assert getattr(callscope, name) is not None
    with pytest.raises(AttributeError):
        _ = callscope.no_such_name
    promised = {"__version__", "arun", "evaluate", "load_suite", "normalize", "run"}
    assert promised <= set(callscope.__all__)


# --------------------------------------------------------------------------------------------------------------- locks


@pytest.mark.parametrize("kind", LOCKS)
def test_a_lock_pins_every_package_by_hash_and_says_nothing_of_where_from(kind: str) -> None:
    text = LOCKS[kind].read_text(encoding="utf-8")
    entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)
    assert entries[0] == ""
    for entry in entries[1:]:
        assert LOCKED.match(entry), entry
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry), entry
    assert "://" not in text
    assert not re.search(r"^\s*-(?!-hash=)", text, re.MULTILINE)


def test_the_dev_lock_holds_the_run_lock_so_one_environment_serves_both() -> None:
    dev = locked("dev")
    assert {name: versions for name, versions in locked("run").items() if not versions <= dev.get(name, set())} == {}


@pytest.mark.parametrize("kind", LOCKS)
def test_a_lock_satisfies_what_pyproject_asks_for(kind: str) -> None:
    project, groups = PYPROJECT["project"], PYPROJECT["dependency-groups"]
    extras = project["optional-dependencies"]
    asked = {
        "run": [project["dependencies"], extras["local"], groups["build"]],
        "dev": [project["dependencies"], *extras.values(), *groups.values()],
    }
    pins = locked(kind)
    for wanted in requirements(*asked[kind]):
        versions = pins.get(normal(wanted.name), set())
        assert versions, f"{wanted.name} is not locked: run make lock"
        assert all(wanted.specifier.contains(version) for version in versions), f"{wanted}: run make lock"


def test_the_build_backend_is_the_locked_one() -> None:
    assert PYPROJECT["build-system"]["requires"] == PYPROJECT["dependency-groups"]["build"]


# ------------------------------------------------------------------------------------------------- version, documents


def test_the_version_is_the_same_everywhere() -> None:
    assert importlib.metadata.version("callscope") == callscope.__version__
    newest = re.search(r"^## \[([^\]]+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None
    assert newest.group(1) == callscope.__version__


def test_every_make_target_is_explained_and_phony() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = set(re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE).group(1).split())
    explained = set(re.findall(r"^([a-z-]+):.*## ", text, re.MULTILINE))
    targets = set(re.findall(r"^([a-z-]+):(?!=)", text, re.MULTILINE))
    assert targets == phony
    assert targets - explained == {"env-run", "env-dev", "system"}


def test_the_index_of_decisions_lists_every_record_in_order() -> None:
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    records = sorted(path.name for path in DECISIONS.glob("[0-9]*.md"))
    assert re.findall(r"\]\((\d{4}-[^)]+\.md)\)", index) == records
    assert [int(name[:4]) for name in records] == list(range(1, len(records) + 1))


@pytest.mark.parametrize("record", sorted(DECISIONS.glob("[0-9]*.md")), ids=lambda path: path.stem)
def test_a_decision_says_why_what_and_what_follows(record: Path) -> None:
    headings = re.findall(r"^## (.+)$", record.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == ["Context", "Decision", "Consequences"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=relative)
def test_links_between_documents_resolve(document: Path) -> None:
    text = re.sub(r"^```.*?^```|<!--.*?-->", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        path = (document.parent / file).resolve() if file else document
        if not path.exists() or (anchor and anchor not in anchors(path)):
            broken.append(target)
    assert broken == []


def anchors(path: Path) -> set[str]:
    """The anchors a Markdown file's headings have: lower case, punctuation dropped, spaces as hyphens."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
