"""Unpacks a .tar.gz of a model: plain files and folders that stay inside, and no more than fits on the disk."""

from __future__ import annotations

import shutil
import tarfile
import zlib
from pathlib import Path, PurePosixPath

from memora_cli.models.extra import Report, first_line, refuse

SUFFIXES = (".tar.gz", ".tgz")
MOST_MEMBERS = 10_000
REMEDY = "give an archive of one model folder"


def is_archive(path: Path) -> bool:
    """Whether the name is that of an archive."""
    return path.name.lower().endswith(SUFFIXES)


def unpack(path: Path, into: Path, report: Report) -> Path:
    """Unpack the archive below `into`; the folder of the model in it, which is the archive's one folder or its root.

    Raises ModelUnusable for a member that is no file or folder, or leads out, and for an archive that is damaged or
    larger than the disk.
    """
    name = path.name
    room = shutil.disk_usage(into).free
    try:
        with tarfile.open(path, "r:gz") as archive:
            members = []
            for member in archive:
                parts = PurePosixPath(member.name).parts
                if not (member.isreg() or member.isdir()):
                    refuse(name, f"{member.name} in it is a link or a device, which is never unpacked", REMEDY)
                if PurePosixPath(member.name).is_absolute() or ".." in parts or "\\" in member.name:
                    refuse(name, f"{member.name} in it leads out of the archive", REMEDY)
                room -= member.size
                if room < 0:
                    refuse(name, "there is not enough room on the disk to unpack it", f"make room below {into.parent}")
                members.append(member)
                if len(members) > MOST_MEMBERS:
                    refuse(name, f"it has more than {MOST_MEMBERS:,} files", REMEDY)
            for done, member in enumerate(members):
                report("unpack", done, len(members))
                archive.extract(member, into, filter="data")
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        refuse(name, f"it cannot be unpacked ({first_line(error)})", REMEDY, error)
    inside = [entry for entry in into.iterdir() if not entry.name.startswith(".")]
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else into
