import { jobRemark } from '../../../src/components/jobs/words';
import { parse } from '../../../src/components/estimate/questions';
import { type IJobResult, measuredPeak } from '../../../src/domain';
import { EventStream } from '../../../src/events';
import { parseAnsi } from '../../../src/models/job/ansi';
import { Jobs, UNDO_TIME } from '../../../src/models/jobs/jobs';
import { answer, apiOn, job, settle, trans } from '../helpers';

test('terminal colours become class names, other codes go', () => {
  expect(parseAnsi('plain')).toEqual([{ text: 'plain', className: '' }]);
  expect(parseAnsi('\u001b[1;31mError\u001b[0m: no\u001b[2K')).toEqual([
    { text: 'Error', className: 'jp-PaddleGpu-ansi-red jp-PaddleGpu-ansi-bold' },
    { text: ': no', className: '' }
  ]);
  expect(parseAnsi('\u001b[38;5;2mgreen\u001b[39m')[0].className).toBe(
    'jp-PaddleGpu-ansi-green'
  );
  // The nearest named one; greys are as the text is.
  const named = (codes: string) =>
    parseAnsi(`\u001b[${codes}mx`)[0].className.split('ansi-')[1];
  expect(named('38;5;28')).toBe('green');
  expect(named('38;5;208')).toBe('red');
  expect(named('38;2;120;80;200')).toBe('blue');
  expect(named('38;5;241')).toBeUndefined();
  expect(named('38;2;90;90;90;1')).toBe('bold');
  expect(named('43')).toBe('marked');
});

test('answers are taken as Python would write them', () => {
  expect(['12', '1e-3', 'True', 'none', "'12'", 'data.csv'].map(parse)).toEqual([
    12,
    0.001,
    true,
    null,
    '12',
    'data.csv'
  ]);
});

describe('what was measured', () => {
  const result: IJobResult = {
    rank: 0,
    reason: '',
    exit_code: 0,
    signal: null,
    seconds: 1,
    host_allocated_bytes: 300 * 2 ** 20,
    host_reserved_bytes: null,
    step_allocated_bytes: 200 * 2 ** 20,
    rank_allocated_bytes: [],
    steps_measured: 3,
    steps_seen: 5,
    step_seconds: 0.1,
    device_allocated_bytes: 100 * 2 ** 20,
    device_reserved_bytes: null,
    process_rss_bytes: null,
    paddle_version: null,
    cuda_version: null,
    failure: null,
    statistics: null,
    program_cell: null,
    program_status: null,
    notes: []
  };
  const said = (more: object, device_ids: string[] = []) => {
    const known = job('a', { device_ids });
    return jobRemark(
      {
        ...known,
        state: 'succeeded',
        spec: { ...known.spec, estimated_allocated_bytes: 200 * 2 ** 20 },
        result: { ...result, ...more }
      },
      trans
    );
  };

  test('is the device’s peak, else that of a step, else that of the whole run', () => {
    expect(measuredPeak(result)?.over).toBe('device');
    expect(measuredPeak({ ...result, device_allocated_bytes: null })?.over).toBe('steps');
    const run = { device_allocated_bytes: 0, step_allocated_bytes: null };
    expect(measuredPeak({ ...result, ...run })?.over).toBe('run');
    expect(measuredPeak({ ...result, ...run, host_allocated_bytes: null })).toBeNull();
  });

  test('is told as what it is', () => {
    expect(said({ device_allocated_bytes: null })).toBe('measured 200 MiB, as estimated');
    const more = { device_allocated_bytes: 210 * 2 ** 20 };
    expect(said(more)).toBe('estimated 200 MiB, measured 210 MiB');
    expect(said({ device_allocated_bytes: null, step_allocated_bytes: null })).toBe(
      'a step estimated 200 MiB, whole run measured 300 MiB'
    );
  });

  test('is not held against the estimate for a device where it trained beside it', () => {
    const host = { device_allocated_bytes: null, step_allocated_bytes: 210 * 2 ** 20 };
    expect(said(host, ['GPU-0'])).toBe('measured 210 MiB');
    const more = { device_allocated_bytes: 210 * 2 ** 20 };
    expect(said(more, ['GPU-0'])).toBe('estimated 200 MiB, measured 210 MiB');
  });
});

describe('jobs', () => {
  let jobs: Jobs;
  let events: EventStream;
  let deleted: string[];

  beforeEach(() => {
    jest.useFakeTimers();
    deleted = [];
    const api = apiOn((url, init) => {
      if (init.method === 'DELETE') {
        deleted.push(url.split('/').pop() ?? '');
        return Promise.resolve(answer(204, ''));
      }
      return Promise.resolve(
        answer(409, JSON.stringify({ code: 'ended', message: 'It has ended.', hint: '' }))
      );
    });
    events = new EventStream(api);
    jobs = new Jobs(api, events);
  });

  afterEach(() => {
    jobs.dispose();
    events.dispose();
    jest.useRealTimers();
  });

  test('the newest is first, and old news does not undo new ones', () => {
    jobs.put(job('a', { created: 1, updated: 5 }));
    jobs.put(job('b', { created: 2 }));
    jobs.put(job('a', { created: 1, updated: 4, state: 'queued' }));
    expect(jobs.list.map(({ id, state }) => `${id} ${state}`)).toEqual([
      'b running',
      'a running'
    ]);
  });

  test('an end is final, whatever the clocks say', () => {
    jobs.put(job('a', { updated: 9 }));
    jobs.put(job('a', { updated: 5, state: 'succeeded' }));
    jobs.put(job('a', { updated: 10 }));
    expect(jobs.get('a')?.state).toBe('succeeded');
  });

  test('an end is announced once, and only of a job that was seen before', () => {
    const ends: string[] = [];
    jobs.ended.connect((_, { id }) => ends.push(id));
    jobs.put(job('old', { state: 'failed' }));
    jobs.put(job('a'));
    jobs.put(job('a', { state: 'succeeded', updated: 2 }));
    jobs.put(job('a', { state: 'succeeded', updated: 3 }));
    expect(ends).toEqual(['a']);
  });

  test('a deletion can be taken back for a while', async () => {
    jobs.put(job('a', { state: 'failed' }));
    jobs.delete('a');
    expect(jobs.isLeaving('a')).toBe(true);
    jobs.keep('a');
    await jest.advanceTimersByTimeAsync(2 * UNDO_TIME);
    expect(deleted).toEqual([]);
    jobs.delete('a');
    await jest.advanceTimersByTimeAsync(UNDO_TIME);
    await settle();
    expect(jobs.get('a')).toBeUndefined();
    expect(deleted[0]).toMatch(/^a/);
  });

  test('what an action could not do stands beside its job', async () => {
    jobs.put(job('a'));
    await jobs.cancel('a');
    expect(jobs.failure).toMatchObject({ id: 'a', error: { code: 'ended' } });
    jobs.dismissFailure();
    expect(jobs.failure).toBeNull();
  });
});
