# SPDX-License-Identifier: Apache-2.0
"""make_icon.py TARGET.ico PICTURE.png...: the pictures, one a size, as one icon of Windows. They stay
PNG, which Windows reads since Vista."""
import struct
import sys


def entry(png, offset):
    width, height = struct.unpack(">II", png[16:24])
    if png[:8] != b"\x89PNG\r\n\x1a\n" or not 0 < width <= 256 or not 0 < height <= 256:
        sys.exit("make_icon.py: expected PNG pictures of at most 256 x 256 pixels")
    # 0 stands for 256; one plane, 32 bits a pixel.
    return struct.pack("<BBBBHHII", width % 256, height % 256, 0, 0, 1, 32, len(png), offset)


def main():
    target, *names = sys.argv[1:]
    pictures = []
    for name in names:
        with open(name, "rb") as file:
            pictures.append(file.read())
    offset = 6 + 16 * len(pictures)
    icon = struct.pack("<HHH", 0, 1, len(pictures))
    for png in pictures:
        icon += entry(png, offset)
        offset += len(png)
    with open(target, "wb") as file:
        file.write(icon + b"".join(pictures))


if __name__ == "__main__":
    main()
