# SPDX-License-Identifier: Apache-2.0
"""xwd_to_png.py FROM.xwd TO.png: a picture of the display as xwd writes it (24 or 32 bits a pixel) as PNG."""
import pathlib
import struct
import sys
import zlib


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def main():
    data = pathlib.Path(sys.argv[1]).read_bytes()
    head = struct.unpack(">25I", data[:100])
    width, height, is_big, bits, line, colours = head[4], head[5], head[7], head[11], head[12], head[19]
    if bits not in (24, 32):
        sys.exit(f"{sys.argv[1]}: expected 24 or 32 bits a pixel, found {bits}")
    step = bits // 8
    at = head[0] + 12 * colours
    rows = []
    for y in range(height):
        row = data[at + y * line : at + y * line + step * width]
        order = (step - 3, step - 2, step - 1) if is_big else (2, 1, 0)
        pixels = bytearray(3 * width)
        for i, byte in enumerate(order):
            pixels[i::3] = row[byte::step]
        rows.append(b"\0" + bytes(pixels))
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0))
    png += chunk(b"IDAT", zlib.compress(b"".join(rows))) + chunk(b"IEND", b"")
    pathlib.Path(sys.argv[2]).write_bytes(png)


if __name__ == "__main__":
    main()
