"""picture.py - PNG files as numbers, and how far apart two of them look; nothing but the standard library."""
import struct
import zlib


def _paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def _unfilter(kind, line, above, step):
    if kind == 1:
        for i in range(step, len(line)):
            line[i] = (line[i] + line[i - step]) & 255
    elif kind == 2:
        for i, up in enumerate(above):
            line[i] = (line[i] + up) & 255
    elif kind == 3:
        for i, up in enumerate(above):
            line[i] = (line[i] + ((line[i - step] if i >= step else 0) + up) // 2) & 255
    elif kind == 4:
        for i, up in enumerate(above):
            left = line[i - step] if i >= step else 0
            line[i] = (line[i] + _paeth(left, up, above[i - step] if i >= step else 0)) & 255


def decode(data):
    """(width, height, rows of RGB bytes) of a PNG with 8 bits a channel that is not interlaced."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("not a PNG")
    place, body = 8, b""
    while place < len(data):
        size, = struct.unpack(">I", data[place:place + 4])
        kind, piece = data[place + 4:place + 8], data[place + 8:place + 8 + size]
        place += 12 + size
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", piece)
            if depth != 8 or colour not in (2, 6) or interlaced:
                raise ValueError("a PNG of another kind than Chromium makes")
        elif kind == b"IDAT":
            body += piece
    step = 3 if colour == 2 else 4
    raw, rows, above, stride = zlib.decompress(body), [], bytearray(width * step), width * step
    for y in range(height):
        line = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        _unfilter(raw[y * (stride + 1)], line, above, step)
        above = line
        rows.append(bytes(line) if step == 3 else bytes(v for i, v in enumerate(line) if i % 4 != 3))
    return width, height, rows


def encode(width, rows):
    """A small PNG: in 32 steps a channel, each line as its difference from the one above."""
    rows = [bytes(min(255, (v + 4) // 8 * 8) for v in row) for row in rows]
    body, above = b"", bytes(3 * width)
    for row in rows:
        body += b"\2" + bytes((a - b) & 255 for a, b in zip(row, above))
        above = row

    def chunk(kind, piece):
        return struct.pack(">I", len(piece)) + kind + piece + struct.pack(">I", zlib.crc32(kind + piece))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, len(rows), 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(body, 9)) + chunk(b"IEND", b""))


def cells(picture, count):
    """The mean colour of each of count x count fields: what is left when one does not look at letters."""
    width, height, rows = picture
    columns = [x * width // count for x in range(count + 1)]
    means = []
    for cy in range(count):
        top, bottom = cy * height // count, max(cy * height // count + 1, (cy + 1) * height // count)
        for left, right in zip(columns, columns[1:]):
            right = max(right, left + 1)
            total, size = [0, 0, 0], (bottom - top) * (right - left)
            for row in rows[top:bottom]:
                piece = row[3 * left:3 * right]
                for channel in range(3):
                    total[channel] += sum(piece[channel::3])
            means.append(tuple(t / size for t in total))
    return means


def differences(a, b, count):
    """The distance between the colours of each field, of 255; ascending. Weights of the redmean distance (Riemersma)."""
    far = []
    for (r1, g1, b1), (r2, g2, b2) in zip(cells(a, count), cells(b, count)):
        red = (r1 + r2) / 2
        far.append(((2 + red / 256) * (r1 - r2) ** 2 + 4 * (g1 - g2) ** 2 + (2 + (255 - red) / 256) * (b1 - b2) ** 2) ** 0.5 / 3)
    return sorted(far)
