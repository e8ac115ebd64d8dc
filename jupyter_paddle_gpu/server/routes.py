"""Which handler answers where, below `<base_url>`."""

from __future__ import annotations

from tornado.web import RequestHandler

from . import jobs, machine, notebooks, schedules, sweeps, viewers, what_ifs
from .events import EventsHandler

PREFIX = r"/paddle-gpu/api/"
_JOB = r"jobs/([^/]+)"
_SWEEP = r"sweeps/([^/]+)"
_SCHEDULE = r"schedules/([^/]+)"

ROUTES: list[tuple[str, type[RequestHandler]]] = [
    (PREFIX + pattern, handler)
    for pattern, handler in (
        (r"version", machine.VersionHandler),
        (r"devices", machine.DevicesHandler),
        (r"devices/history", machine.DeviceHistoryHandler),
        (r"accelerators", machine.AcceleratorsHandler),
        (r"images", machine.ImagesHandler),
        (r"images/names", machine.ImageNamesHandler),
        (r"engines", machine.EnginesHandler),
        (r"receivers", machine.ReceiversHandler),
        (r"doctor", machine.DoctorHandler),
        (r"what-ifs", what_ifs.WhatIfsHandler),
        (r"inspections", notebooks.InspectionsHandler),
        (r"estimates", notebooks.EstimatesHandler),
        (r"placements", notebooks.PlacementsHandler),
        (r"changes", notebooks.ChangesHandler),
        (r"preflights", notebooks.PreflightsHandler),
        (r"queue", jobs.QueueHandler),
        (r"jobs", jobs.JobsHandler),
        (_JOB, jobs.JobHandler),
        (_JOB + r"/cancel", jobs.CancelHandler),
        (_JOB + r"/hold", jobs.HoldHandler),
        (_JOB + r"/move", jobs.MoveHandler),
        (_JOB + r"/rerun", jobs.RerunHandler),
        (_JOB + r"/notebook", jobs.PublishHandler),
        (_JOB + r"/notebook/file", jobs.ExecutedHandler),
        (_JOB + r"/statistics", jobs.StatisticsHandler),
        (_JOB + r"/figures", jobs.FiguresHandler),
        (_JOB + r"/metrics", jobs.MetricsHandler),
        (_JOB + r"/metrics/file", jobs.MetricsFileHandler),
        (_JOB + r"/report", jobs.ReportHandler),
        (_JOB + r"/archive", jobs.ArchiveHandler),
        (_JOB + r"/comparison/([^/]+)", jobs.ComparisonHandler),
        (_JOB + r"/log", jobs.LogHandler),
        (_JOB + r"/log/file", jobs.LogFileHandler),
        (_JOB + r"/viewers/([^/]+)", viewers.ViewerHandler),
        (r"variables", sweeps.VariablesHandler),
        (r"sweeps", sweeps.SweepsHandler),
        (r"sweeps/checks", sweeps.SweepChecksHandler),
        (_SWEEP, sweeps.SweepHandler),
        (_SWEEP + r"/cancel", sweeps.SweepCancelHandler),
        (_SWEEP + r"/retry", sweeps.SweepRetryHandler),
        (_SWEEP + r"/table", sweeps.SweepTableHandler),
        (r"schedules", schedules.SchedulesHandler),
        (r"schedules/dates", schedules.DatesHandler),
        (_SCHEDULE, schedules.ScheduleHandler),
        (_SCHEDULE + r"/pause", schedules.PauseHandler),
        (_SCHEDULE + r"/resume", schedules.ResumeHandler),
        (_SCHEDULE + r"/restore", schedules.RestoreHandler),
        (r"events", EventsHandler),
    )
]

PAGES: list[tuple[str, type[RequestHandler]]] = [
    (rf"/{viewers.PAGES}/([^/]+)/([^/]+)/.*", viewers.ViewerPageHandler),
]
"""What is no REST: pages of others."""
