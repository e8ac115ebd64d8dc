/** What a job used over time: asked for while somebody looks, and made into curves. */

import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { Poll } from '@lumino/polling';
import { type ISignal, Signal } from '@lumino/signaling';

import type { IDevicePoint, IJobStatistics, IStatisticsPoint } from '../domain';

/** Milliseconds between two questions while the job runs and somebody looks. */
const ASK_INTERVAL = 3_000;
/** A point that comes this much later than the time it stands for begins a new stroke: nobody watched in between. */
const GAP = 2;

/** One value at a moment, in seconds since the first; null where nobody watched. */
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

export class Statistics implements IDisposable {
  constructor(
    private readonly _fetch: () => Promise<IJobStatistics>,
    private readonly _isRunning: () => boolean
  ) {
    this._poll = new Poll<void, Error>({
      name: 'jupyter-paddle-gpu:statistics',
      auto: false,
      factory: () => this._ask(),
      frequency: { interval: ASK_INTERVAL, backoff: true, max: 10 * ASK_INTERVAL },
      standby: 'when-hidden'
    });
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The last answer; null before the first. */
  get value(): IJobStatistics | null {
    return this._value;
  }

  /** Why the last question failed; null after one that did not. */
  get error(): Error | null {
    return this._error;
  }

  get isDisposed(): boolean {
    return this._poll.isDisposed;
  }

  /** Keep asking until the answer is disposed; once the job has ended, what was heard after its end stays. */
  look(): IDisposable {
    void this._poll.refresh();
    return new DisposableDelegate(() => {
      if (!this._poll.isDisposed) {
        void this._poll.stop();
      }
    });
  }

  retry(): void {
    void this._poll.refresh();
  }

  dispose(): void {
    if (!this.isDisposed) {
      this._poll.dispose();
      Signal.clearData(this);
    }
  }

  private async _ask(): Promise<void> {
    // Looked at before the question: what the job did until its end is then in the answer.
    const last = !this._isRunning();
    try {
      this._value = await this._fetch();
      this._error = null;
    } catch (reason) {
      this._error = reason as Error;
    }
    if (this.isDisposed) {
      return;
    }
    this._changed.emit();
    if (this._error) {
      throw this._error;
    }
    if (last) {
      void this._poll.stop();
    }
  }

  private readonly _poll: Poll<void, Error>;
  private _value: IJobStatistics | null = null;
  private _error: Error | null = null;
  private readonly _changed = new Signal<this, void>(this);
}

/** The curves that can be drawn: those with two known values at least. */
export function curves(points: readonly IStatisticsPoint[]): ICurve[] {
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
        of(id, one => one.memory_bytes ?? one.device_memory_bytes)
      )
    },
    {
      what: 'utilization' as const,
      device,
      moments: moments(
        points,
        of(id, one => one.process_utilization_percent ?? one.utilization_percent)
      )
    }
  ]);
  all.push(
    { what: 'memory', device: -1, moments: moments(points, point => point.memory_bytes) },
    { what: 'cpu', device: -1, moments: moments(points, point => point.cpu_percent) }
  );
  return all.filter(curve => curve.moments.filter(({ value }) => value !== null).length > 1);
}

/** A quantity of each point, with a null where the watch was interrupted. */
function moments(
  points: readonly IStatisticsPoint[],
  read: (point: IStatisticsPoint) => number | null
): IMoment[] {
  const found: IMoment[] = [];
  const first = points.length ? points[0].time : 0;
  let before: IStatisticsPoint | null = null;
  for (const point of points) {
    const seconds = point.time - first;
    if (before && point.time - before.time > GAP * point.seconds + 1) {
      found.push({ seconds, value: null });
    }
    found.push({ seconds, value: read(point) });
    before = point;
  }
  return found;
}
