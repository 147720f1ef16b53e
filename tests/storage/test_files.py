import errno
import os
from pathlib import Path

import pytest

from scripts.storage.errors import InputError
from scripts.storage.files import locked, opened, read_csv, read_text, replacing, write_text


def test_text_is_written_into_new_folders(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "page.html"
    write_text(path, "1 × 2\n")
    assert path.read_bytes() == "1 × 2\n".encode()
    assert path.stat().st_mode & 0o777 == 0o644


def test_error_keeps_the_old_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    def stop_half_way() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half a")
            raise RuntimeError("half way")

    path = tmp_path / "table.csv"
    write_text(path, "old")
    with pytest.raises(RuntimeError, match="half way"):
        stop_half_way()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_file_is_not_there_before_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    with replacing(path) as temporary:
        temporary.write_text("whole")
        assert not path.exists()
        assert temporary.parent == path.parent, "a rename across disks would copy"
        assert temporary.suffix == ".parquet"
    assert path.read_text() == "whole"


def test_full_disk_is_said_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    with pytest.raises(InputError, match=r"table\.csv: cannot be written: No space left"), replacing(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["file/below", "folder"])
def test_impossible_place_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=f"{place}: cannot be written"):
        write_text(tmp_path / place, "text")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_rows_of_a_csv_come_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('name,source\nk80,"a page, read"\np100,"two\nlines"\n\nt4,\n')
    assert read_csv(path, ["name", "source"]) == [
        (f"{path}:2", {"name": "k80", "source": "a page, read"}),
        (f"{path}:4", {"name": "p100", "source": "two\nlines"}),
        (f"{path}:6", {"name": "t4", "source": ""}),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, ": No such file or directory"),
        (b"", ":1: the columns must be name,source"),
        (b"source,name\n", ":1: the columns must be name,source"),
        (b"name,source\nk80\n", ":2: this row does not have 2 values"),
        (b"name,source\nk80,a\nt4,b,c\n", ":3: this row does not have 2 values"),
        (b'name,source\nk80,"a\n', ":2: not CSV: unexpected end of data"),
        (b"name,source\n\xff\n", ": not CSV: 'utf-8' codec can't decode"),
    ],
)
def test_what_is_no_such_csv_is_one_line_with_its_place(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "a.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as fault:
        read_csv(path, ["name", "source"])
    assert str(fault.value).startswith(f"{path}{message}")
    assert "\n" not in str(fault.value)


def test_what_is_not_a_file_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/null"), tmp_path):
        with pytest.raises(InputError, match="cannot be written: it is not a file"):
            write_text(path, "text")
    assert pipe.is_fifo()
    assert Path("/dev/null").is_char_device()


def test_what_a_killed_process_left_goes_with_the_next_write(tmp_path: Path) -> None:
    """A stray is nobody's; the file that a living process is writing, and those of an editor, are left alone."""
    stray, other, editor = (
        tmp_path / name for name in (".runs.csv.abcd_123.csv", ".epochs.csv.abcd_123.csv", ".runs.csv.swp")
    )
    for file in (stray, other, editor):
        file.write_text("half")
        os.utime(file, (1, 1))
    with replacing(tmp_path / "runs.csv") as temporary:
        temporary.write_text("whole")
        os.utime(temporary, (1, 1))
        write_text(tmp_path / "runs.csv", "of another process")
        assert temporary.exists()
    assert (tmp_path / "runs.csv").read_text() == "whole"
    assert {path.name for path in tmp_path.iterdir()} == {"runs.csv", other.name, editor.name}


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file of somebody, outside of the folder that is written into."""
    file = tmp_path / "secret"
    file.write_text("untouched")
    return file


@pytest.mark.parametrize("name", ["../secret", "a/../../secret", "/etc/hosts", "link/secret", "a/.."])
def test_what_lies_outside_its_folder_is_not_written(tmp_path: Path, secret: Path, name: str) -> None:
    folder = tmp_path / "charts"
    (folder / "a").mkdir(parents=True)
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(InputError, match=r"lies outside .*charts: nothing is written there"):
        write_text(folder / name, "text", within=folder)
    assert secret.read_text() == "untouched"


def test_what_is_written_is_synced_before_it_has_its_name_and_its_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what the system is asked for: a power cut leaves the old file, or the new one."""
    done: list[tuple[str, str]] = []
    sync, rename = os.fsync, Path.replace

    def synced(handle: int) -> None:
        done.append(("sync", Path(f"/proc/self/fd/{handle}").readlink().name))
        sync(handle)

    def renamed(path: Path, target: Path) -> Path:
        done.append(("rename", target.name))
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    write_text(tmp_path / "a.csv", "text")
    assert [what for what, _ in done] == ["sync", "rename", "sync"]
    assert done[0][1].startswith(".a.csv.")
    assert done[1:] == [("rename", "a.csv"), ("sync", tmp_path.name)]


def test_a_link_that_is_put_there_while_a_file_is_written_leads_nowhere(tmp_path: Path) -> None:
    """The folder that was checked is the one that is written into, whatever its name leads to by now."""
    folder, elsewhere = tmp_path / "results", tmp_path / "elsewhere"
    elsewhere.mkdir()
    with replacing(folder / "cell" / "run.json", within=folder) as temporary:
        temporary.write_text("half")
        (folder / "cell").rename(folder / "moved")
        (folder / "cell").symlink_to(elsewhere)
        temporary.write_text("whole")
    assert list(elsewhere.iterdir()) == []
    assert [path.name for path in (folder / "moved").iterdir()] == ["run.json"]
    with pytest.raises(InputError, match="lies outside"):
        write_text(folder / "cell" / "run.json", "text", within=folder)
    assert list(elsewhere.iterdir()) == []


def test_what_lies_in_its_folder_is_written_also_where_that_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "results").symlink_to(tmp_path / "disk")
    write_text(tmp_path / "results" / "study" / "a.csv", "text", within=tmp_path / "results")
    assert (tmp_path / "disk" / "study" / "a.csv").read_text() == "text"


def test_a_link_is_replaced_and_not_followed(tmp_path: Path, secret: Path) -> None:
    path = tmp_path / "page.html"
    path.symlink_to(secret)
    write_text(path, "page")
    assert (path.read_text(), path.is_symlink(), secret.read_text()) == ("page", False, "untouched")


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_permissions_of_the_umask(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        write_text(tmp_path / "new", "text")
        with opened(tmp_path / "log") as log:
            log.write(b"line")
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("new", "log")] == [mode, mode]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_a_file_that_is_written_over_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("old")
    path.chmod(mode)
    with replacing(path) as temporary:
        assert temporary.stat().st_mode & 0o777 == 0o600, "written by this user, and read by nobody else"
        temporary.write_text("new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", mode)


def test_a_lock_empties_no_file_and_follows_no_link(tmp_path: Path, secret: Path) -> None:
    (tmp_path / "lock").symlink_to(secret)
    with pytest.raises(InputError, match="lock: cannot be written: it is a link"), locked(tmp_path / "lock"):
        pass
    with locked(secret):
        pass
    assert secret.read_text() == "untouched"


def test_a_lock_is_one_holders_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "new" / "lock"
    with locked(path) as first, locked(path, wait=False) as second:
        assert isinstance(first, int)
        assert second is None
    with locked(path, wait=False) as third:
        assert third is not None


def test_a_file_that_grows_is_added_to_or_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "new" / "log"
    for text, empty in ((b"one", False), (b"two", False), (b"three", True)):
        with opened(path, empty) as log:
            log.write(text)
    assert path.read_bytes() == b"three"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="it is not a file"), opened(tmp_path / "pipe"):
        pass


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    """A folder stands for a pipe here, which would never end."""
    (tmp_path / "a.json").mkdir()
    with pytest.raises(InputError, match=r"a\.json: is not a file"):
        read_text(tmp_path / "a.json")
