import errno
from pathlib import Path

import pytest

from scripts.errors import InputError
from scripts.files import replacing, write_text


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


def test_full_disk_is_told_in_one_line(tmp_path: Path) -> None:
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
