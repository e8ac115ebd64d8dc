"""A SentencePiece file that is made up, byte for byte as protocol buffers have it."""

from __future__ import annotations

from jupyter_paddle_gpu.estimator.tracer.patches.data.sentencepieces import model


def test_a_file_is_its_pieces_and_what_they_stand_for():
    assert model(["<unk>"], ["<unk>", "a"]) == (
        b"\x0a\x0e\x0a\x05<unk>\x15\xcd\xcc\x4c\xbe\x18\x02"
        b"\x0a\x0a\x0a\x01a\x15\x00\x00\x80\xbf\x18\x01"
        b"\x12\x0c\x18\x01\x20\x02\xea\x02\x05<unk>"
        b"\x1a\x0a\x0a\x08identity"
    )


def test_where_no_special_piece_is_the_unknown_one_more_is():
    made = model(["[CLS]"], ["[CLS]", "a", "b"])
    assert b"<unk>" in made and b"\x01b\x15" not in made


def test_lengths_beyond_seven_bits_take_more_bytes():
    assert model([], ["a", "b" * 200])[:4] == b"\x0a\x0e\x0a\x05"
    assert b"\x0a\xd2\x01\x0a\xc8\x01bbb" in model(["<unk>"], ["<unk>", "b" * 200])
