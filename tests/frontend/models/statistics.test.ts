import type { IJobStatistics, IStatisticsPoint } from '../../../src/domain';
import { Polled } from '../../../src/models/job/polled';
import { curves } from '../../../src/models/job/statistics';
import { settle } from '../helpers';

function point(time: number, more: Partial<IStatisticsPoint> = {}): IStatisticsPoint {
  return {
    time,
    seconds: 1,
    samples: 1,
    cpu_percent: 50,
    cpu_seconds: null,
    memory_bytes: 100 * time,
    memory_limit_bytes: null,
    processes: null,
    read_bytes: null,
    written_bytes: null,
    received_bytes: null,
    sent_bytes: null,
    devices: [],
    ...more
  };
}

function device(id: string, memory: number | null, ofAll: number | null = null) {
  return {
    id,
    memory_bytes: memory,
    device_memory_bytes: ofAll,
    utilization_percent: 90,
    process_utilization_percent: null,
    temperature_celsius: null,
    power_watts: null,
    processes: 1,
    samples: 1
  };
}

describe('curves', () => {
  test('time begins at the first point', () => {
    const [memory, cpu] = curves([point(10), point(11)]);
    expect(memory).toEqual({
      what: 'memory',
      device: -1,
      moments: [
        { seconds: 0, value: 1000 },
        { seconds: 1, value: 1100 }
      ]
    });
    expect(cpu.what).toBe('cpu');
  });

  test('each device has its own, by the job’s processes where the driver tells', () => {
    const points = [1, 2].map(time =>
      point(time, { devices: [device('a', 5, 9), device('b', null, 7)] })
    );
    const memory = curves(points).filter(({ what }) => what === 'device_memory');
    expect(memory.map(curve => [curve.device, curve.moments[1].value])).toEqual([
      [0, 5],
      [1, 7]
    ]);
  });

  test('what nobody tells is not drawn, nor a single value', () => {
    expect(curves([point(1)])).toEqual([]);
    expect(curves([])).toEqual([]);
    const silent = [1, 2].map(time => point(time, { cpu_percent: null }));
    expect(curves(silent).map(({ what }) => what)).toEqual(['memory']);
  });

  test('a time in which nobody watched breaks the line', () => {
    const [memory] = curves([point(1), point(2), point(90), point(91)]);
    expect(memory.moments.map(({ value }) => value)).toEqual([100, 200, null, 9000, 9100]);
  });

  test('points that stand for long do not', () => {
    const [memory] = curves([60, 120, 180].map(time => point(time, { seconds: 60 })));
    expect(memory.moments.length).toBe(3);
  });
});

describe('asking', () => {
  const answer: IJobStatistics = {
    points: [],
    summary: {
      seconds: 0,
      samples: 1,
      cpu_mean_percent: null,
      cpu_peak_percent: null,
      cpu_seconds: null,
      memory_peak_bytes: null,
      processes_peak: null,
      read_bytes: null,
      written_bytes: null,
      received_bytes: null,
      sent_bytes: null,
      devices: []
    }
  };

  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  test('goes on while the job runs and somebody looks, and once more after its end', async () => {
    let asked = 0;
    let running = true;
    const statistics = new Polled(
      () => {
        asked++;
        return Promise.resolve(answer);
      },
      () => running
    );
    await jest.advanceTimersByTimeAsync(30_000);
    expect(asked).toBe(0);
    const look = statistics.look();
    await jest.advanceTimersByTimeAsync(10_000);
    expect(asked).toBeGreaterThan(2);
    running = false;
    asked = 0;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(asked).toBe(1);
    look.dispose();
    running = true;
    const again = statistics.look();
    await jest.advanceTimersByTimeAsync(1);
    again.dispose();
    asked = 0;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(asked).toBe(0);
    statistics.dispose();
  });

  test('what failed is told, tried again, and forgotten', async () => {
    let works = false;
    const statistics = new Polled(
      () => (works ? Promise.resolve(answer) : Promise.reject(new Error('away'))),
      () => true
    );
    statistics.look();
    await jest.advanceTimersByTimeAsync(1);
    await settle();
    expect(statistics.error?.message).toBe('away');
    works = true;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(statistics.error).toBeNull();
    expect(statistics.value).toBe(answer);
    statistics.dispose();
  });
});
