"""The file of a SentencePiece model with a vocabulary that is made up, which SentencePiece itself reads.

A unigram model in protocol buffers: its pieces, and which of them stand for no text. Letters are not among them, so
that a word that is no piece is one unknown behind its space: two tokens, where a real model has one or a few.
Source: `sentencepiece_model.proto` in google/sentencepiece.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

SPACE = "\u2581"
_UNKNOWN = "<unk>"
_NORMAL_KIND, _UNKNOWN_KIND, _CONTROL_KIND = 1, 2, 3
_UNIGRAM = 1


def model(special: list[str], pieces: Iterable[str]) -> bytes:
    """The file of these pieces, of which the special ones stand for no text; one of them is the unknown."""
    unknown = next((token for token in special if "unk" in token.lower()), _UNKNOWN)
    known, held = frozenset(special), list(pieces)
    rows = [] if unknown in known else [_piece(unknown, _UNKNOWN_KIND)]
    for piece in held[: len(held) - len(rows)]:
        kind = _UNKNOWN_KIND if piece == unknown else _CONTROL_KIND if piece in known else _NORMAL_KIND
        rows.append(_piece(piece, kind))
    trained = _number(3, _UNIGRAM) + _number(4, len(rows)) + _bytes(45, unknown.encode())
    return b"".join(rows) + _bytes(2, trained) + _bytes(3, _bytes(1, b"identity"))


def _piece(piece: str, kind: int) -> bytes:
    """With a score by which a longer piece is taken before the shorter ones of the same text."""
    score = struct.pack("<f", -1.0 / len(piece))
    return _bytes(1, _bytes(1, piece.encode()) + _key(2, 5) + score + _number(3, kind))


def _key(field: int, wire: int) -> bytes:
    return _varint(field << 3 | wire)


def _number(field: int, value: int) -> bytes:
    return _key(field, 0) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _key(field, 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first, each but the last with its highest bit set."""
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*made, value])
