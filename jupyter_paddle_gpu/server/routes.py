"""Which handler answers where, below `<base_url>`."""

from __future__ import annotations

from tornado.web import RequestHandler

from . import jobs, machine, notebooks, what_ifs
from .events import EventsHandler

PREFIX = r"/paddle-gpu/api/"
_JOB = r"jobs/([^/]+)"

ROUTES: list[tuple[str, type[RequestHandler]]] = [
    (PREFIX + pattern, handler)
    for pattern, handler in (
        (r"version", machine.VersionHandler),
        (r"devices", machine.DevicesHandler),
        (r"devices/history", machine.DeviceHistoryHandler),
        (r"accelerators", machine.AcceleratorsHandler),
        (r"images", machine.ImagesHandler),
        (r"engines", machine.EnginesHandler),
        (r"doctor", machine.DoctorHandler),
        (r"what-ifs", what_ifs.WhatIfsHandler),
        (r"inspections", notebooks.InspectionsHandler),
        (r"estimates", notebooks.EstimatesHandler),
        (r"placements", notebooks.PlacementsHandler),
        (r"changes", notebooks.ChangesHandler),
        (r"preflights", notebooks.PreflightsHandler),
        (r"jobs", jobs.JobsHandler),
        (_JOB, jobs.JobHandler),
        (_JOB + r"/cancel", jobs.CancelHandler),
        (_JOB + r"/rerun", jobs.RerunHandler),
        (_JOB + r"/notebook", jobs.PublishHandler),
        (_JOB + r"/statistics", jobs.StatisticsHandler),
        (_JOB + r"/figures", jobs.FiguresHandler),
        (_JOB + r"/metrics", jobs.MetricsHandler),
        (_JOB + r"/metrics/file", jobs.MetricsFileHandler),
        (_JOB + r"/report", jobs.ReportHandler),
        (_JOB + r"/archive", jobs.ArchiveHandler),
        (_JOB + r"/comparison/([^/]+)", jobs.ComparisonHandler),
        (_JOB + r"/log", jobs.LogHandler),
        (_JOB + r"/log/file", jobs.LogFileHandler),
        (r"events", EventsHandler),
    )
]
