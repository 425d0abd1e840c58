# SPDX-License-Identifier: Apache-2.0
"""Writes the source of the Windows installer (for wixl) of a folder of programs: for one user, without
administrator rights, below %LOCALAPPDATA%\\Programs\\Belfry, with an entry in the Start menu for the
window, or for the command line where no window is there. A newer version takes the place of an older
one. Chats and settings lie elsewhere (QStandardPaths) and are not touched. Every id comes from what it
stands for, so that the same folder gives the same text. wixl wants names relative to that text: it has
to lie beside the folder."""
import argparse
import os
import pathlib
import uuid
from xml.sax.saxutils import quoteattr

# What tells Windows that two versions are one program: never to be changed.
UPGRADE_CODE = "6B1C6A53-5C0D-4E0E-9B0B-3D7E4C1F2A68"
NAMESPACE = uuid.UUID(UPGRADE_CODE)


def guid(text):
    return str(uuid.uuid5(NAMESPACE, text)).upper()


def identifier(kind, text):
    # Ids may not be longer than 72 characters, nor hold what file names may.
    return kind + uuid.uuid5(NAMESPACE, text).hex


def element(indent, name, attributes, children=None):
    text = " " * indent + "<" + name
    for key, value in attributes.items():
        text += f" {key}={quoteattr(str(value))}"
    if not children:
        return [text + "/>"]
    return [text + ">", *children, " " * indent + f"</{name}>"]


def shortcut(name, file, icon):
    return element(12, "Shortcut", {
        "Id": identifier("s", file), "Directory": "ProgramMenuFolder", "Name": name,
        "WorkingDirectory": "INSTALLFOLDER", "Icon": icon, "Advertise": "no",
        "Target": f"[INSTALLFOLDER]{file}"})


def component(path, root, start, components):
    """One component for one file: its key path, as Windows Installer repairs by components."""
    relative = path.relative_to(root).as_posix()
    name = identifier("c", relative)
    components.append(name)
    children = element(10, "File", {"Id": identifier("f", relative), "Name": path.name,
                                    "Source": f"{root.name}/{relative}", "KeyPath": "yes"})
    if relative == start:
        children += shortcut("Belfry", relative, "belfry.ico")
    return element(8, "Component", {"Id": name, "Guid": guid(relative), "Win64": "yes"}, children)


def folder_content(folder, root, start, components):
    lines = []
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            relative = path.relative_to(root).as_posix()
            lines += element(8, "Directory", {"Id": identifier("d", relative), "Name": path.name},
                             folder_content(path, root, start, components))
        else:
            lines += component(path, root, start, components)
    return lines


def product(root, version, icon):
    start = next(name for name in ("belfry.exe", "belfry-cli.exe") if (root / name).is_file())
    components = []
    files = folder_content(root, root, start, components)
    install = element(6, "Directory", {"Id": "INSTALLFOLDER", "Name": "Belfry"}, files)
    programs = element(5, "Directory", {"Id": "Programs", "Name": "Programs"}, install)
    local = element(4, "Directory", {"Id": "LocalAppDataFolder"}, programs)
    menu = element(4, "Directory", {"Id": "ProgramMenuFolder"})
    body = element(2, "Package", {
        "InstallerVersion": "500", "Compressed": "yes", "InstallScope": "perUser",
        "Description": "Belfry", "Manufacturer": "Belfry"})
    body += element(2, "Media", {"Id": "1", "Cabinet": "belfry.cab", "EmbedCab": "yes"})
    body += element(2, "Icon", {"Id": "belfry.ico", "SourceFile": icon})
    body += element(2, "Property", {"Id": "ARPPRODUCTICON", "Value": "belfry.ico"})
    body += element(2, "Upgrade", {"Id": UPGRADE_CODE}, element(4, "UpgradeVersion", {
        "Minimum": "0.0.0", "IncludeMinimum": "yes", "Maximum": version, "IncludeMaximum": "no",
        "Property": "OLDER_VERSION"}))
    body += element(2, "InstallExecuteSequence", {}, element(4, "RemoveExistingProducts", {
        "After": "InstallInitialize"}))
    body += element(2, "Directory", {"Id": "TARGETDIR", "Name": "SourceDir"}, local + menu)
    body += element(2, "Feature", {"Id": "Belfry", "Level": "1", "Title": "Belfry"}, [
        line for name in components for line in element(4, "ComponentRef", {"Id": name})])
    return element(0, "Wix", {"xmlns": "http://schemas.microsoft.com/wix/2006/wi"}, element(
        1, "Product", {"Name": "Belfry", "Id": guid(f"product {version}"), "Version": version,
                       "Manufacturer": "Belfry", "Language": "1033", "UpgradeCode": UPGRADE_CODE},
        body))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("version")
    arguments.add_argument("icon", type=pathlib.Path)
    words = arguments.parse_args()
    print('<?xml version="1.0" encoding="utf-8"?>')
    root = words.folder.resolve()
    icon = os.path.relpath(words.icon.resolve(), root.parent)
    print("\n".join(product(root, words.version, icon)))


if __name__ == "__main__":
    main()
