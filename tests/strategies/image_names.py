"""Names of images as people, notebooks and attackers write them, for Hypothesis."""

from __future__ import annotations

from hypothesis import strategies

PIECES = (
    "..", ".", "/", "//", "/../", "%2e%2e", "%2F", "%00", ":", "::", "@", "_", "__", "___", "-", "--", "*", "?", "\\",
    "a", "b1", "team", "device", "evil", "library", "paddle", "latest", "1", "5000", "80", "cafe", "0" * 64, "ab" * 32,
    "sha256:", "sha512:", "@sha256:" + "0" * 64, "@sha256:" + "0F" * 32, "registry.example", "docker.io",
    "index.docker.io", "localhost", "127.0.0.1", "[::1]", "[fe80::1]", "Team", "REGISTRY.example", "a" * 128, "b" * 130,
    "é", "ß", "ı", "ﬁ", "．", "․", "٣", "\u200b", "\u202e", " ", "\t", "\n", "\r", "\0", "$", "'", '"', "#", "~",
)  # fmt: skip
"""What is put together: parts that are fine, and every part that somebody could mean to get past a check with."""

HOSTS = ("registry.example", "registry.example:5000", "localhost", "127.0.0.1:80", "HUB.example", "docker.io")
WORDS = ("team", "a", "b1", "paddle", "x-y", "x__y", "x.y", "device", "0", "v2")

_wild = strategies.lists(strategies.sampled_from(PIECES), min_size=1, max_size=7).map("".join)
_paths = strategies.lists(strategies.sampled_from(WORDS), min_size=1, max_size=4).map("/".join)
_rest = strategies.sampled_from(("", ":1", ":latest", ":V1_2.3-x", "@sha256:" + "0" * 64, ":1@sha256:" + "ab" * 32))
_hosts = strategies.sampled_from(("", *(f"{host}/" for host in HOSTS)))
_plain = strategies.builds(lambda host, path, rest: host + path + rest, _hosts, _paths, _rest)


def _spoiled(name: str, at: int, piece: str) -> str:
    cut = at % (len(name) + 1)
    return name[:cut] + piece + name[cut:]


NAMES = strategies.one_of(
    _plain,
    strategies.builds(_spoiled, _plain, strategies.integers(0, 80), strategies.sampled_from(PIECES)),
    _wild,
    strategies.text(max_size=20),
)
