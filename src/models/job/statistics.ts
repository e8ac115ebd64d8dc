/** What a job used over time, made into curves. */

import type { IDevicePoint, IStatisticsPoint } from '../../domain';

/** A point that comes this much later than the time it stands for begins a new stroke: nobody watched in between. */
const GAP = 2;

/** One value at a moment, in seconds since a first one; null where nobody watched. */
export interface IMoment {
  seconds: number;
  value: number | null;
}

/** A quantity over time. `device` is its place among the job's devices; -1 for the machine. */
export interface ICurve {
  what: 'memory' | 'cpu' | 'device_memory' | 'utilization';
  device: number;
  moments: IMoment[];
}

/** The curves that can be drawn: those with two known values at least. Seconds count from `start`, or the first point. */
export function curves(
  points: readonly IStatisticsPoint[],
  start = points[0]?.time ?? 0
): ICurve[] {
  const ids = [...new Set(points.flatMap(point => point.devices.map(device => device.id)))];
  const of = (id: string, read: (device: IDevicePoint) => number | null) => {
    return (point: IStatisticsPoint) => {
      const device = point.devices.find(one => one.id === id);
      return device ? read(device) : null;
    };
  };
  const all: ICurve[] = ids.flatMap((id, device) => [
    {
      what: 'device_memory' as const,
      device,
      moments: moments(
        points,
        start,
        of(id, one => one.memory_bytes ?? one.device_memory_bytes)
      )
    },
    {
      what: 'utilization' as const,
      device,
      moments: moments(
        points,
        start,
        of(id, one => one.process_utilization_percent ?? one.utilization_percent)
      )
    }
  ]);
  all.push(
    {
      what: 'memory',
      device: -1,
      // Nothing is what a job holds that has just ended, and no process that runs.
      moments: moments(points, start, point => point.memory_bytes || null)
    },
    { what: 'cpu', device: -1, moments: moments(points, start, point => point.cpu_percent) }
  );
  return all.filter(curve => curve.moments.filter(({ value }) => value !== null).length > 1);
}

/** A quantity of each point, with a null where the watch was interrupted. */
function moments(
  points: readonly IStatisticsPoint[],
  start: number,
  read: (point: IStatisticsPoint) => number | null
): IMoment[] {
  const found: IMoment[] = [];
  let before: IStatisticsPoint | null = null;
  for (const point of points) {
    const seconds = point.time - start;
    if (before && point.time - before.time > GAP * point.seconds + 1) {
      found.push({ seconds, value: null });
    }
    found.push({ seconds, value: read(point) });
    before = point;
  }
  return found;
}
