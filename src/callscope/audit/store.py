"""An audit folder: its items as sampled, who may review, and what each reviewer answered, kept answer by answer.

    AUDIT_DIR/
      audit.json         the design: seed, strata, source, hashes of the two files below
      items.jsonl        what reviewers see; may be handed out
      sealed.jsonl       what they do not: where each item comes from, what the judge said
      answers/NAME.jsonl one reviewer's answers, append-only; the last line of an item stands
      reviewers.json     the token of each reviewer's link (readable by the owner alone)
      agreement.json     derived

Every answer is on the disk before it is confirmed. What is asked and drawn is `designs`' and `sample`'s.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from callscope._version import __version__
from callscope.audit.designs import question
from callscope.audit.items import Answer, Audit, AuditItem, Sealed
from callscope.audit.material import Material
from callscope.audit.sample import Drawn
from callscope.canonical import sha256_hex
from callscope.capture.folder import write_atomically
from callscope.capture.log import RecordLog, lines_of, repair_tail
from callscope.errors import CallscopeError, EnvironmentProblem, InputError, RunFolderError
from callscope.jsontext import MAX_DEPTH, JsonFault, dump_faithful, parse_json

__all__ = ["ADJUDICATOR", "AnswerLog", "AuditFolder", "check_names", "write_new_folder"]

ADJUDICATOR = "adjudicator"
"""The name under which disputed items are decided. Not a reviewer: no agreement counts it."""

AUDIT, ITEMS, SEALED, ANSWERS, LINKS, AGREEMENT = (
    "audit.json",
    "items.jsonl",
    "sealed.jsonl",
    "answers",
    "reviewers.json",
    "agreement.json",
)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
T = TypeVar("T")


def check_names(names: Sequence[str], *, field: str, there: Iterable[str] = ()) -> None:
    """Raise InputError where a reviewer's name cannot name a file, or two differ by case alone: two of `names`, or one
    of them and the adjudicator or somebody who is `there` already."""
    seen: set[str] = set()
    kept = {ADJUDICATOR: ADJUDICATOR} | {each.casefold(): each for each in there}
    for name in names:
        if not _NAME.fullmatch(name):
            expected = "up to 40 of A-Z a-z 0-9 _ -, a letter or digit first"
            raise InputError("this cannot be a reviewer's name", field=field, found=name, expected=expected)
        if name.casefold() in seen:
            raise InputError("two reviewers have one name", field=field, found=name)
        seen.add(name.casefold())
        if name != kept.get(name.casefold(), name):
            known = kept[name.casefold()]
            raise InputError("differs from a known reviewer by case alone", field=field, found=name, expected=known)


class AuditFolder:
    """An existing audit folder. `lock` must be held to add answers; reading needs none."""

    def __init__(self, path: Path, about: Audit, items: tuple[AuditItem, ...], sealed: tuple[Sealed, ...]) -> None:
        self.path, self.about, self.items, self.sealed = path, about, items, sealed

    # -------------------------------------------------------------------------------------------- making and opening

    @classmethod
    def create(cls, path: Path, material: Material, drawn: Drawn, seed: int, per_class: Any = None) -> AuditFolder:
        """Write what was drawn into a new folder. The same material and seed give the same bytes.

        Raises InputError where the folder holds something, EnvironmentProblem where it cannot be written.
        """
        made = [material.make(unit) for unit in drawn.units]
        items, sealed = tuple(item for item, _ in made), tuple(kept for _, kept in made)
        files = {ITEMS: _lines(items), SEALED: _lines(sealed)}
        about = Audit(
            schema="callscope/audit/1",
            callscope=__version__,
            design=material.design,
            seed=seed,
            per_class=per_class,
            strata=dict(drawn.strata),
            left_out=dict(material.left_out),
            source=material.source,
            items_sha256=sha256_hex(files[ITEMS]),
            sealed_sha256=sha256_hex(files[SEALED]),
        )
        files[AUDIT] = msgspec.json.format(msgspec.json.encode(about), indent=2) + b"\n"
        write_new_folder(path, files, what="the audit", folders=(ANSWERS,))
        return cls(path, about, items, sealed)

    @classmethod
    def open(cls, path: Path) -> AuditFolder:
        """Open an audit folder. Raises InputError: it is none, or a file of it has changed or cannot be read."""
        file = path / AUDIT
        try:
            about = msgspec.json.decode(file.read_bytes(), type=Audit)
        except OSError as error:
            what = "is no audit folder (no audit.json)" if not file.exists() else f"cannot be read: {error.strerror}"
            raise InputError(what, file=path, hint="`callscope audit sample` makes one") from None
        except (msgspec.DecodeError, RecursionError) as error:
            raise InputError(f"is no audit that this version reads: {error}", file=file) from None
        items = _read(path / ITEMS, AuditItem, about.items_sha256)
        sealed = _read(path / SEALED, Sealed, about.sealed_sha256)
        return cls(path, about, tuple(items), tuple(sealed))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """The exclusive right to add answers (`flock`: it ends with its process, however that ends).

        Raises InputError where another process has it.
        """
        try:
            handle = os.open(self.path / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise EnvironmentProblem(f"{self.path}: cannot be locked: {error.strerror}") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            hint = "End the `callscope audit serve` of this folder first"
            raise InputError("another process is writing to this audit", file=self.path, hint=hint) from None
        try:
            yield
        finally:
            os.close(handle)

    # ------------------------------------------------------------------------------------------------------- answers

    @cached_property
    def by_id(self) -> Mapping[str, AuditItem]:
        """Item id -> item."""
        return {item.id: item for item in self.items}

    @cached_property
    def sealed_by_id(self) -> Mapping[str, Sealed]:
        """Item id -> what is kept from reviewers."""
        return {kept.item: kept for kept in self.sealed}

    def known_names(self) -> frozenset[str]:
        """Everyone who has a file of answers here, the adjudicator too."""
        stems = (file.stem for file in (self.path / ANSWERS).glob("*.jsonl"))
        return frozenset(stem for stem in stems if _NAME.fullmatch(stem))

    def reviewers(self) -> tuple[str, ...]:
        """Everyone who has answered something, by name; the adjudicator is none of them."""
        names = sorted(self.known_names() - {ADJUDICATOR})
        return tuple(name for name in names if self.answers(name))

    def answers(self, name: str) -> dict[str, Answer]:
        """Item id -> what this reviewer last said of it; items that are back to nothing are left out.

        A torn last line, as a kill leaves it, is passed over. Raises InputError on any other line that is no answer.
        """
        path = self.path / ANSWERS / f"{name}.jsonl"
        last: dict[str, Answer] = {}
        for line in lines_of(path):
            answer = _decoded(line.data, Answer, path, line.number)
            if answer.item not in self.by_id:
                raise InputError("no item of this audit", file=path, line=line.number, field="item", found=answer.item)
            for asked, given in answer.answers.items():
                if asked not in self.by_id[answer.item].asked or given not in question(asked).answers:
                    message = "this item is asked no such question, or has no such answer"
                    raise InputError(message, file=path, line=line.number, field=asked, found=given)
            last[answer.item] = answer
        return {item: answer for item, answer in last.items() if not answer.same(None)}

    def log(self, name: str) -> AnswerLog:
        """The appender of one reviewer's answers; the lock must be held."""
        return AnswerLog(self.path / ANSWERS / f"{name}.jsonl")

    def tokens(self, names: Sequence[str]) -> dict[str, str]:
        """A secret token for each name: the one it had, so that links outlive the server, else a new random one."""
        file = self.path / LINKS
        try:
            stored = file.read_bytes() if file.exists() else b""
            known = msgspec.json.decode(stored, type=dict[str, str]) if stored else {}
            wanted = {name: known.get(name) or secrets.token_urlsafe(24) for name in names}
            if known | wanted != known:
                _write_secret(file, json.dumps(known | wanted, indent=2).encode() + b"\n")
        except (OSError, msgspec.DecodeError) as error:
            raise EnvironmentProblem(
                f"{file}: cannot be used: {_said(error)}", hint="Delete it for new links"
            ) from None
        return wanted


def write_new_folder(path: Path, files: Mapping[str, bytes], *, what: str, folders: Sequence[str] = ()) -> None:
    """Make a folder of these files, the last of which makes it what it is. What cannot be written whole is taken away.

    Raises InputError where something is there already, EnvironmentProblem where it cannot be written.
    """
    made: list[Path] = []
    try:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise InputError("is there already, and not empty", field="--out", found=str(path))
        for folder in (path, *(path / name for name in folders)):
            made += [each for each in (folder, *folder.parents) if not each.exists()][::-1]
            folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            made.append(path / name)
            write_atomically(path / name, data)
    except (OSError, RunFolderError) as error:
        for each in reversed(made):
            with suppress(OSError):
                each.rmdir() if each.is_dir() else each.unlink()
        why = _said(error).removeprefix("cannot be written: ")
        raise EnvironmentProblem(f"{path}: {what} cannot be written: {why}") from None


def _write_secret(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, at no moment readable by anybody but its owner. Raises OSError."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # of mode 600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)


class AnswerLog:
    """One reviewer's answers being written. A torn last line of an earlier process is set aside on opening."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = self._kept(lambda: (repair_tail(path), RecordLog(path))[1])

    def append(self, answer: Answer) -> None:
        """Write an answer; it is on the disk on return. Raises EnvironmentProblem where it was not saved."""
        line = dump_faithful(msgspec.to_builtins(answer)) + b"\n"
        self._kept(lambda: self._log.append(line))
        self._kept(self._log.sync)

    def close(self) -> None:
        """Close the file."""
        self._kept(self._log.close)

    def _kept(self, act: Callable[[], T]) -> T:
        try:
            return act()
        except RunFolderError as error:
            why = str(error).partition(". ")[0]
            raise EnvironmentProblem(f"the answer was not saved: {why}", hint="Mend that, then answer again") from None


def _lines(values: Iterable[Any]) -> bytes:
    return b"".join(dump_faithful(msgspec.to_builtins(value)) + b"\n" for value in values)


def _read(path: Path, kind: type[T], digest: str) -> list[T]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None
    if sha256_hex(data) != digest:
        hint = "An audit is of what was sampled: restore the file, or sample again into a new folder"
        raise InputError("has changed since it was sampled", file=path, hint=hint)
    return [_decoded(line, kind, path, number) for number, line in enumerate(data.splitlines(), 1)]


def _decoded(line: bytes, kind: type[T], path: Path, number: int) -> T:
    try:
        return msgspec.convert(parse_json(line, max_depth=2 * MAX_DEPTH).value, kind)
    except (JsonFault, msgspec.ValidationError) as error:
        what = "answer" if kind is Answer else "item" if kind is AuditItem else "entry"
        raise InputError(f"is no {what} that this version reads: {error}", file=path, line=number) from None


def _said(error: Exception) -> str:
    if isinstance(error, CallscopeError):
        return str(error).partition(": ")[2] or str(error)
    return getattr(error, "strerror", None) or str(error)
