"""What Docker's own configuration knows of a registry: `docker login`, credential helpers, credential stores."""

from __future__ import annotations

from ....domain.messages import Message
from .faults import refusal, registry_of

HEADER = "X-Registry-Auth"


def credentials_for(reference: str) -> dict[str, str] | None:
    """The header for a request that is about this image; None where nothing is known of its registry.

    Read each time: whoever was refused logs in and tries again, and the SDK would know the old ones still.

    Raises:
        PaddleGpuError: `credentials_unreadable`, where a helper or store that is configured does not answer.
    """
    from docker import auth, errors  # takes a while, and images are mostly here

    registry, _ = auth.resolve_repository_name(reference)
    try:
        known = auth.load_config().resolve_authconfig(registry)
    except (errors.DockerException, OSError, ValueError) as error:
        raise refusal(
            Message(
                code="credentials_unreadable",
                text="Docker's credentials for {registry} cannot be read: {detail}",
                hint="`docker login {registry}` as the user who runs Jupyter writes them anew; a helper that is not "
                "installed can be taken out of ~/.docker/config.json (credsStore, credHelpers).",
                params={"registry": registry_of(reference), "detail": str(error)[:300]},
            )
        ) from error
    return {HEADER: auth.encode_header(known).decode("ascii")} if known else None
