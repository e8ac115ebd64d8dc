"""What a submission may ask of the Docker engine. Everything that comes from REST or from a notebook passes here.

The rule is: nothing that a person writes reaches Docker as written. Options are looked up in a closed list, folders are
resolved and compared with what the settings allow, an image must match a pattern, a variable must have a harmless name.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from ...devices.makers.registry import makers
from ...domain.bounds import check_resources
from ...domain.containers.images import refused_image
from ...domain.containers.references import Reference, parse_reference
from ...domain.errors import PaddleGpuError
from ...domain.jobs.job import JobSpec, Resources
from ...domain.sizes import human
from ...runner.ranks import ALONE
from . import folders
from .folders import Mount, is_below
from .settings import DockerSettings

T = TypeVar("T")

OPTIONS = frozenset({"network", "data", "layers", "requirements", "distribution", "python"})
"""All options there are. `network`: a name; `data`: folders; `layers`: `auto` or `none`; `requirements`: packages;
`distribution`: as `NotebookFacts.distribution` has it; `python`: a program name in the image."""
METADATA_KEY = "paddle_gpu"
METADATA_FIELDS = frozenset({"image", "environment", "options"})
WRITTEN_BY_US = frozenset({"job", "files"})
"""Beside them: of which job an executed notebook is, and what files of settings hold for a job's copy."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_RESERVED = re.compile(
    r"(LD_.*|PYTHON(PATH|HOME|STARTUP|EXECUTABLE|USERBASE|INSPECT|PLATLIBDIR)|PATH|HOME|USER|LOGNAME|SHELL|ENV|BASH_ENV|IFS"
    r"|DOCKER_.*|CONTAINER_HOST|PADDLE_GPU_.*|PADDLE_TRAINER.*|PADDLE_RANK.*|PADDLE_LOCAL.*|JUPYTER_.*TOKEN)"
)
_VALUE_LIMIT = 32 * 1024
_PROGRAM = re.compile(r"(?=.{1,128}\Z)(/?(?!\.\.)[A-Za-z0-9._-]+/)*(python|pypy)[0-9.]*")


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """What a job got after all that was requested was checked."""

    image: str
    folder: Mount
    data: tuple[Mount, ...] = ()
    environment: dict[str, str] = {}
    network: str = "bridge"
    layers: bool = True
    requirements: tuple[str, ...] = ()
    distribution: str = "none"
    python: str = ""


def authorize(spec: JobSpec, settings: DockerSettings, metadata: Mapping[str, Any] | None = None) -> Grant:
    """Check everything that a person can write.

    Args:
        metadata: the notebook's metadata; its entry `paddle_gpu` may name image, environment and options, under what
            the submission itself says.

    Raises:
        PaddleGpuError: the first request that is refused, with its reason (400 or 403).
    """
    grant, refused = examine(spec, settings, metadata)
    if grant is None:
        raise refused[0]
    return grant


def examine(
    spec: JobSpec, settings: DockerSettings, metadata: Mapping[str, Any] | None = None
) -> tuple[Grant | None, tuple[PaddleGpuError, ...]]:
    """As `authorize`, with every request that is refused; the grant is None where there is one."""
    refused: list[PaddleGpuError] = []

    def granted(check: Callable[[], T], otherwise: T) -> T:
        try:
            return check()
        except PaddleGpuError as error:
            refused.append(error)
            return otherwise

    nothing: dict[str, Any] = {}
    requested = granted(lambda: _metadata(metadata or nothing), nothing)
    image = spec.image or str(requested.get("image", ""))
    environment = {**requested.get("environment", {}), **spec.environment}
    options = {**requested.get("options", {}), **spec.options}
    refused += _unknown_options(options)
    nowhere = Mount("", "")
    grant = Grant(
        image=granted(lambda: str(check_image(image, settings)) if image else "", ""),
        folder=granted(lambda: folders.own(spec.folder, settings), nowhere),
        data=granted(lambda: folders.data(options.get("data"), settings), ()),
        environment=granted(lambda: check_environment(environment), {}),
        network=granted(lambda: _network(options.get("network"), settings), ""),
        layers=granted(lambda: _choice("layers", options.get("layers", "auto"), ("auto", "none")), "none") == "auto",
        requirements=granted(lambda: _requirements(options.get("requirements", ())), ()),
        distribution=granted(
            lambda: _choice(
                "distribution",
                options.get("distribution") or "none",
                ("none", "data_parallel", "fleet", "launch"),
            ),
            "none",
        ),
        python=granted(lambda: _python(options.get("python", "")), ""),
    )
    granted(lambda: check_resources(spec.resources), None)
    granted(lambda: check_limits(spec.resources, settings), None)
    return None if refused else grant, tuple(refused)


def asked_in(metadata: Mapping[str, Any], settings: DockerSettings) -> tuple[str, dict[str, str]]:
    """Image and variables that a notebook's metadata name for its job; nothing of what `authorize` refuses."""
    image, environment = "", {}
    with contextlib.suppress(PaddleGpuError):
        requested = _metadata(metadata)
        environment = check_environment(requested.get("environment", {}))
        image = str(check_image(requested["image"], settings)) if requested.get("image") else ""
    return image, environment


def _unknown_options(options: Mapping[str, Any]) -> Iterator[PaddleGpuError]:
    for option in sorted(set(options) - OPTIONS, key=str):
        yield PaddleGpuError(
            "option_unknown",
            "The Docker engine has no option “{option}”.",
            hint="It knows: {known}.",
            option=str(option)[:100],
            known=", ".join(sorted(OPTIONS)),
        )


def check_limits(wanted: Resources, settings: DockerSettings) -> None:
    """Refuse (403) more memory or processors than the settings give to one job."""
    asked = (
        ("memory_bytes", wanted.memory_bytes, settings.memory_bytes, human),
        ("cpus", wanted.cpus, settings.cpus, "{:g} processors".format),
    )
    for field, amount, most, say in asked:
        if amount and most and amount > most:
            raise PaddleGpuError(
                "limit_exceeded",
                "The job asks for {asked}; at most {most} is given to a job here.",
                hint="Ask for less, or ask the administrator to raise “docker.{field}” in {file}.",
                status=403,
                field=field,
                file=settings.policy_file,
                asked=say(amount),
                most=say(most),
            )


def check_image(image: str, settings: DockerSettings) -> Reference:
    """The image's name, taken apart. Refuses what is no name (400) and what neither Paddle publishes nor the settings
    allow (403)."""
    reference = parse_reference(image)
    if message := refused_image(reference, settings.allowed_images, settings.policy_file):
        raise PaddleGpuError.of(message, status=403)
    return reference


def check_environment(environment: Mapping[str, Any]) -> dict[str, str]:
    """The variables, where every name and value is harmless (400 otherwise)."""
    for name, value in environment.items():
        if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
            raise PaddleGpuError("variable_name", "“{name}” cannot be the name of a variable.", name=str(name)[:100])
        is_of_one = value == ALONE.get(name)  # an answer that says what is so on one device, and holds on no more
        if (_RESERVED.fullmatch(name) or makers().sets(name)) and not is_of_one:
            raise PaddleGpuError(
                "variable_reserved",
                "The variable {name} is set by the engine and cannot be given.",
                hint="Choose devices, libraries and folders by the job's settings.",
                status=403,
                name=name,
            )
        if not isinstance(value, str) or "\0" in value or len(value) > _VALUE_LIMIT:
            raise PaddleGpuError("variable_value", "The value of {name} is no short text.", name=name)
    return dict(environment)


def _metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    requested = metadata.get(METADATA_KEY) or {}
    if not isinstance(requested, dict):
        requested = {"": requested}
    unknown = sorted(str(name) for name in set(requested) - METADATA_FIELDS - WRITTEN_BY_US)
    if unknown:
        raise PaddleGpuError(
            "metadata_unknown",
            "The notebook's metadata ask for “{field}”, which a notebook cannot ask for.",
            hint="A notebook's metadata may name: {known}.",
            field=unknown[0][:100],
            known=", ".join(sorted(METADATA_FIELDS)),
        )
    for field, kind in (("image", str), ("environment", dict), ("options", dict)):
        if not isinstance(requested.get(field, kind()), kind):
            raise PaddleGpuError("metadata_value", "The notebook's metadata have a wrong “{field}”.", field=field)
    return requested


def check_socket(grant: Grant, host: str) -> None:
    """Refuse (403) a folder in which the daemon's socket lies (rootless Docker, Desktop and others keep it at home):
    with it a job could do on the host whatever the daemon can."""
    if not host.startswith("unix://"):
        return
    socket = os.path.realpath(host.removeprefix("unix://"))
    for mount in (grant.folder, *grant.data):
        if is_below(socket, mount.source):
            raise PaddleGpuError(
                "path_of_socket",
                "The Docker daemon's socket {socket} lies in {path}, which is not given to a container therefore.",
                hint="Put the notebook and its data into a folder of their own.",
                status=403,
                socket=socket,
                path=mount.source,
            )


def _network(wanted: Any, settings: DockerSettings) -> str:
    if wanted is None:
        return settings.networks[0]
    if wanted not in settings.networks:
        raise PaddleGpuError(
            "network_not_allowed",
            "The network “{network}” is not among those that jobs may use.",
            hint="Choose one of: {known}; or ask the administrator to add it to “docker.networks” in {file}.",
            status=403,
            file=settings.policy_file,
            network=str(wanted)[:100],
            known=", ".join(settings.networks),
        )
    return str(wanted)


def _choice(option: str, value: Any, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise PaddleGpuError("option_value", "The option “{option}” has a value it cannot have.", option=option)
    return str(value)


def _requirements(wanted: Any) -> tuple[str, ...]:
    if not isinstance(wanted, (list, tuple)):
        raise PaddleGpuError("option_value", "The option “{option}” has a value it cannot have.", option="requirements")
    for line in wanted:
        if not isinstance(line, str) or not _is_package(line.strip()):
            raise PaddleGpuError(
                "requirement_refused",
                "“{line}” is not the name of a package with a version.",
                hint="Options of pip belong into a requirements.txt beside the notebook.",
                line=str(line)[:100],
            )
    return tuple(line.strip() for line in wanted)


def _is_package(line: str) -> bool:
    """Whether a line is the name of a package, with versions and markers or without (PEP 508), and nothing else."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        # An address is no version; pip replaces `${NAME}` in what it reads from a file.
        return Requirement(line).url is None and "$" not in line and line.isprintable()
    except InvalidRequirement:
        return False


def options_of(requirements: tuple[str, ...], distribution: Any) -> dict[str, Any]:
    """The options that follow from what a notebook says by itself.

    Of its `!pip install` lines only plain packages become layers; the others run where they stand.
    """
    options: dict[str, Any] = {}
    plain = [line.strip() for line in requirements if _is_package(line.strip())]
    if plain:
        options["requirements"] = plain
    if distribution in ("data_parallel", "fleet", "launch"):
        options["distribution"] = distribution
    return options


def _python(value: Any) -> str:
    if value == "":
        return ""
    if not isinstance(value, str) or not _PROGRAM.fullmatch(value):
        raise PaddleGpuError(
            "option_value",
            "The option “{option}” has a value it cannot have.",
            hint="It is the name or path of a Python in the image, for example python3.10 or /opt/conda/bin/python.",
            option="python",
        )
    return value
