"""Jobs: submit, list, look, annotate, cancel, delete, run again, compare, read log and curves, fetch the notebook."""

from __future__ import annotations

from urllib.parse import quote

from ..domain.errors import PaddleGpuError
from ..domain.jobs.job import Job
from .base import PaddleGpuHandler, encode_plain, permitted
from .bodies import CancelBody, HoldBody, MoveBody, NoteBody, RerunBody, SubmitBody
from .panel_words import page_translator

LOG_PAGE = 1_000
"""Lines of a log page where the client names no limit."""
LOG_PAGE_HIGHEST = 10_000
MOST_RANKS = 9999
FILE_CHUNK = 256 << 10
"""Bytes of a log file that are sent at a time."""


class JobsHandler(PaddleGpuHandler):
    """GET and POST jobs."""

    _track_activity = False

    @permitted("read")
    async def get(self) -> None:
        """Answer `{jobs}`, the newest first."""
        jobs, rows, translate = self.services.jobs, self.context.broadcast.rows, self.translate
        self.answer_bytes(await self.context.call(lambda: encode_plain({"jobs": rows(jobs.list(), translate)})))

    @permitted("execute")
    async def post(self) -> None:
        """Submit; answer the job with 201."""
        body, services = self.body(SubmitBody), self.services

        # All of it where estimates are made: fifty at once would fill the threads that answer everybody else.
        def submit() -> Job:
            return services.submit(services.open(body.path, body.content, body.arguments), body.submission())

        await self.answer(await self.context.call_long(submit), 201)


class JobHandler(PaddleGpuHandler):
    """GET, PATCH and DELETE jobs/<id>."""

    _track_activity = False

    @permitted("read")
    async def get(self, job_id: str) -> None:
        """Answer the job."""
        await self.answer(await self.context.call(self.services.jobs.get, job_id))

    @permitted("write")
    async def patch(self, job_id: str) -> None:
        """Keep a note or a star; answer the job."""
        body = self.body(NoteBody)
        await self.answer(
            await self.context.call(self.services.jobs.annotate, job_id, note=body.note, starred=body.starred)
        )

    @permitted("write")
    async def delete(self, job_id: str) -> None:
        """Remove an ended job with its folder; answer 204. The published notebook stays."""
        await self.context.call(self.services.jobs.delete, job_id)
        self.set_status(204)
        self.finish()


class CancelHandler(PaddleGpuHandler):
    """POST jobs/<id>/cancel."""

    @permitted("execute")
    async def post(self, job_id: str) -> None:
        """Ask the job to save and end, or end it (`force`); answer the job as it is then."""
        body = self.body(CancelBody)
        await self.answer(await self.context.call(self.services.jobs.cancel, job_id, force=body.force))


class QueueHandler(PaddleGpuHandler):
    """GET queue."""

    _track_activity = False

    @permitted("read")
    async def get(self) -> None:
        """Answer all that wait, other users' jobs among them, in order."""
        await self.answer(await self.context.call(lambda: self.services.jobs.queue.view()))  # noqa: PLW0108  # built late


class HoldHandler(PaddleGpuHandler):
    """POST jobs/<id>/hold."""

    @permitted("execute")
    async def post(self, job_id: str) -> None:
        """Keep a waiting job from starting, or let it wait again; answer the job."""
        body = self.body(HoldBody)
        await self.answer(await self.context.call(self.services.jobs.queue.hold, job_id, held=body.held))


class MoveHandler(PaddleGpuHandler):
    """POST jobs/<id>/move."""

    @permitted("execute")
    async def post(self, job_id: str) -> None:
        """Put a waiting job before another one of one's own, or behind all; answer the job."""
        body = self.body(MoveBody)
        await self.answer(await self.context.call(self.services.jobs.queue.move, job_id, body.before))


class RerunHandler(PaddleGpuHandler):
    """POST jobs/<id>/rerun."""

    @permitted("execute")
    async def post(self, job_id: str) -> None:
        """Submit it again as a new job, with what the body wants otherwise; answer it with 201."""
        wanted = self.body(RerunBody).wanted()
        await self.answer(await self.context.call_long(self.services.rerun, job_id, wanted), 201)


class PublishHandler(PaddleGpuHandler):
    """GET and POST jobs/<id>/notebook."""

    @permitted("read")
    async def get(self, job_id: str) -> None:
        """Answer the contents paths of the executed notebook, where it will be or is, and of its source."""
        spec = (await self.context.call(self.services.jobs.get, job_id)).spec
        paths = self.services.contents_path(spec.output), self.services.contents_path(spec.notebook)
        await self.answer({"path": paths[0], "source": paths[1]})

    @permitted("write")
    async def post(self, job_id: str) -> None:
        """Put the executed notebook, as far as it is, beside its source; answer the contents paths of both."""
        file = await self.context.call(self.services.jobs.publish, job_id)
        job = await self.context.call(self.services.jobs.get, job_id)
        path = self.services.contents_path(file)
        if path is None:
            raise PaddleGpuError(
                "not_in_root",
                "The executed notebook is {file}, outside the folder that this server shows.",
                hint="Open it from a server that is started above it.",
                status=409,
                file=str(file),
            )
        await self.answer({"path": path, "source": self.services.contents_path(job.spec.notebook)})


class ExecutedHandler(PaddleGpuHandler):
    """GET jobs/<id>/notebook/file."""

    _track_activity = False

    @permitted("read")
    async def get(self, job_id: str) -> None:
        """Answer the notebook as executed so far, to be looked at; nothing is written."""
        self.answer_bytes(await self.context.call(self.services.jobs.executed, job_id))


class StatisticsHandler(PaddleGpuHandler):
    """GET jobs/<id>/statistics."""

    _track_activity = False

    @permitted("read")
    async def get(self, job_id: str) -> None:
        """Answer `{points, summary}`: what the job used over time, so far."""
        await self.answer(await self.context.call(self.services.jobs.statistics, job_id))


class MetricsHandler(PaddleGpuHandler):
    """GET jobs/<id>/metrics."""

    _track_activity = False

    @permitted("read")
    async def get(self, job_id: str) -> None:
        """Answer the curves of what the training says of itself, so far."""
        await self.answer_plain(await self.context.call(self.services.jobs.metrics, job_id))


class FiguresHandler(PaddleGpuHandler):
    """GET jobs/<id>/figures."""

    _track_activity = False

    @permitted("read")
    async def get(self, job_id: str) -> None:
        """Answer the pictures that the notebook has drawn so far."""
        jobs = self.services.jobs
        self.answer_bytes(await self.context.call(lambda: encode_plain(jobs.figures(job_id))))


class ComparisonHandler(PaddleGpuHandler):
    """GET jobs/<id>/comparison/<other>."""

    _track_activity = False

    @permitted("read")
    async def get(self, job_id: str, other: str) -> None:
        """Answer what the other job has otherwise: variables, place, code."""
        await self.answer(await self.context.call(self.services.compare, job_id, other))


class LogHandler(PaddleGpuHandler):
    """GET jobs/<id>/log?since=<seq>&limit=<n>&rank=<n>."""

    _track_activity = False

    @permitted("read")
    async def get(self, job_id: str) -> None:
        """Answer a page of the log from line `since` on; a negative one counts from the end."""
        since = self.whole_number("since", 0, lowest=-LOG_PAGE_HIGHEST)
        limit = self.whole_number("limit", LOG_PAGE, highest=LOG_PAGE_HIGHEST)
        rank = self.whole_number("rank", 0, highest=MOST_RANKS)
        await self.answer_plain(await self.context.call(self.services.jobs.log, job_id, since, limit, rank))


class LogFileHandler(PaddleGpuHandler):
    """GET jobs/<id>/log/file?rank=<n>."""

    @permitted("read")
    async def get(self, job_id: str) -> None:
        """Answer the whole log of a process as plain text, sent piece by piece."""
        jobs = self.services.jobs
        rank = self.whole_number("rank", 0, highest=MOST_RANKS)
        job = await self.context.call(jobs.get, job_id)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.set_header("Content-Disposition", saved_as(job, f".rank-{rank}.log" if rank else ".log"))
        since = 0

        def piece() -> tuple[bytes, int]:
            page = jobs.log(job_id, since, LOG_PAGE_HIGHEST, rank)
            return "".join(f"{line.text}\n" for line in page.lines).encode(), page.next

        while True:
            text, since = await self.context.call(piece)
            if not text:
                break
            self.write(text)
            await self.flush()
        self.finish(set_content_type="text/plain; charset=utf-8")


class ReportHandler(PaddleGpuHandler):
    """GET jobs/<id>/report?language=…."""

    @permitted("read")
    async def get(self, job_id: str) -> None:
        """Answer the job on one HTML page, to be saved; a link can send no header, so the language may be asked for."""
        language = self.get_query_argument("language", None)
        translate = self.translate if language is None else page_translator(language)
        services = self.services  # the room of exports is loaded in the thread, too
        job = await self.context.call(services.jobs.get, job_id)
        page = await self.context.call_long(lambda: services.exports.report(job_id, translate).encode())
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Content-Disposition", saved_as(job, ".html"))
        self.finish(page, set_content_type="text/html; charset=utf-8")


class MetricsFileHandler(PaddleGpuHandler):
    """GET jobs/<id>/metrics/file."""

    @permitted("read")
    async def get(self, job_id: str) -> None:
        """Answer the metrics as CSV."""
        services = self.services
        job = await self.context.call(services.jobs.get, job_id)
        table = await self.context.call(lambda: services.exports.metrics_csv(job_id).encode())
        self.set_header("Content-Disposition", saved_as(job, ".csv"))
        self.finish(table, set_content_type="text/csv; charset=utf-8")


class ArchiveHandler(PaddleGpuHandler):
    """GET jobs/<id>/archive."""

    @permitted("read")
    async def get(self, job_id: str) -> None:
        """Answer all that the job left as a ZIP archive, sent piece by piece."""
        services = self.services
        job = await self.context.call(services.jobs.get, job_id)
        pieces = await self.context.call(lambda: services.exports.archive(job_id))
        self.set_header("Content-Type", "application/zip")
        self.set_header("Content-Disposition", saved_as(job, ".zip"))
        while (piece := await self.context.call(next, pieces, None)) is not None:
            if piece:
                self.write(piece)
                await self.flush()
        self.finish(set_content_type="application/zip")


def saved_as(job: Job, ending: str) -> str:
    """How a browser saves what belongs to a job: by its name, which tells it from others in a folder, and its id."""
    name = quote(f"{job.spec.name}-{job.id}{ending}".replace("/", "-"), safe="")
    return f"attachment; filename=\"{job.id}{ending}\"; filename*=UTF-8''{name}"
