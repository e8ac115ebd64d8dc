/** What tells runs apart, in which order they stand, and what becomes of the chosen ones. */

import type { IDifference, IJob, IJobMetrics, IVariable } from '../../../src/domain';
import { EventStream } from '../../../src/events';
import { comparedCharts, comparedRows, shortNames } from '../../../src/models/jobs/comparison';
import { epochMarks, metricCharts } from '../../../src/models/job/curves';
import { Jobs } from '../../../src/models/jobs/jobs';
import { filtered, JobsPage, sorted, withSweeps } from '../../../src/models/jobs/jobsPage';
import { Plans } from '../../../src/models/plans/plans';
import { RerunForm } from '../../../src/models/jobs/rerun';
import {
  costText,
  differenceText,
  jobTitle,
  lastRun,
  leadsTo,
  sweepCost
} from '../../../src/models/jobs/runs';
import { answer, apiOn, job, settle, sweep, trans } from '../helpers';

function variable(name: string, value: IVariable['value'], role: IVariable['role'] = '') {
  return { name, value, role, cell: 0, parameter: false, call: '' };
}

function differs(name: string, before: IDifference['before'], after: IDifference['after']) {
  return { kind: 'variable' as const, name, role: '' as const, before, after };
}

function run(id: string, more: Partial<IJob> = {}, spec: Partial<IJob['spec']> = {}): IJob {
  const made = job(id, { state: 'succeeded', ended: 5, ...more });
  return { ...made, spec: { ...made.spec, name: 'digits', notebook: '/a.ipynb', ...spec } };
}

const curve = (name: string, epochs: (number | null)[]) => ({
  name,
  epochs,
  times: epochs.map((_, index) => 100 + index),
  values: epochs.map((_, index) => 1 / (index + 1))
});

describe('runs', () => {
  test('a title has what differs, else the batch', () => {
    const batch = run(
      'a',
      {},
      { settings: { code: '', variables: [variable('B', 64, 'batch_size')] } }
    );
    expect(jobTitle(batch, trans, 'en')).toMatch(/^digits · batch 64 · /);
    const other = run(
      'b',
      {},
      { differs: [differs('width', 2, 3), differs('depth', 1, null)] }
    );
    expect(jobTitle(other, trans, 'en')).toMatch(/^digits · width 3 · without depth · /);
  });

  test('a failed script leads to its line, a notebook to its cell', () => {
    const place = { cell: 0, line: 7 };
    expect(leadsTo(run('a'), place, trans)).toBe('Go to cell 1');
    const script = run('b', {}, { notebook: '/train.py' });
    expect(leadsTo(script, place, trans)).toBe('Go to line 7');
    expect(leadsTo(script, { cell: 0, line: null }, trans)).toBe('Open the script');
  });

  test('runs of one name in a minute are told apart by their seconds, in a second by a number', () => {
    const api = apiOn(() => Promise.resolve(answer(200, '{}')));
    const jobs = new Jobs(api, new EventStream(api));
    const at = (id: string, created: number, spec = {}) => run(id, { created }, spec);
    const all = [at('a', 60), at('b', 67.2), at('c', 67.6), at('d', 120), at('e', 68)];
    const other = at('f', 69, { name: 'mnist' });
    [...all, other].forEach(one => jobs.put(one));
    const said = () => [...all, other].map(one => jobs.moment(one, 'en').replace(/^.*?:/, ''));
    expect(said()).toEqual(['01:00', '01:07 (1)', '01:07 (2)', '02', '01:08', '01']);
    jobs.put(at('g', 130));
    expect(said()[3]).toBe('02:00');
    jobs.dispose();
  });

  test('what it cost is its time by the price of an hour, and of a sweep all of them', () => {
    const price = { hour: 2, currency: 'USD' };
    const a = run('a', { started: 0, ended: 900, price });
    const b = run('b', { started: 0, ended: 90, price });
    expect([a, b, run('c')].map(costText)).toEqual(['0.50 USD', '0.050 USD', '']);
    expect(sorted([b, a], { column: 'cost', down: true })).toEqual([a, b]);
    const tried = sweep('s', { counts: { succeeded: 2 } });
    const known = (other: IJob) => new Map(Object.entries({ s1: a, s2: other }));
    expect(sweepCost(tried, known(b))).toBe('0.55 USD');
    expect(sweepCost(tried, known(run('c')))).toBe('');
  });

  test('a difference is said by what it is to the training', () => {
    expect(differenceText({ ...differs('BATCH', 64, 128), role: 'batch_size' }, trans)).toBe(
      'batch 128'
    );
    expect(differenceText({ ...differs('', 1, 0), kind: 'devices' }, trans)).toBe('on the CPU');
    expect(differenceText({ ...differs('', null, null), kind: 'code' }, trans)).toBe(
      'other code'
    );
    expect(differenceText({ ...differs('SEED', null, '7'), kind: 'environment' }, trans)).toBe(
      'SEED=7'
    );
  });

  test('the last run is the one before that began', () => {
    const list = [
      run('c', { created: 3 }),
      run('b', { created: 2, started: null }),
      run('a', { created: 1 }),
      run('x', { created: 2 }, { notebook: '/b.ipynb' })
    ];
    expect(lastRun(list[0], list)?.id).toBe('a');
    expect(lastRun(run('c', { created: 3 }, { differs_from: 'x' }), list)?.id).toBe('x');
    expect(lastRun(list[2], list)).toBeNull();
  });

  test('a trial of a sweep is nobody’s last run', () => {
    const list = [
      run('d', { created: 4 }, { differs_from: 't' }),
      run('t', { created: 3 }, { trial: 2 }),
      run('a', { created: 1 })
    ];
    expect(lastRun(list[0], list)?.id).toBe('a');
  });
});

describe('the page', () => {
  const list = [
    run('a', { created: 100, starred: true, note: 'with warm-up', state: 'failed' }),
    run('b', { created: 200, owner: 'liu', ended: 9 }, { differs: [differs('width', 1, 2)] }),
    run(
      'c',
      { created: 300, state: 'running', ended: null, started: null },
      { engine: 'docker' }
    )
  ];
  const all = {
    ...{ words: '', state: '' as const, days: null, engine: '' },
    ...{ owner: '', notebook: '', starred: false }
  };
  const ids = (jobs: readonly IJob[]) => jobs.map(({ id }) => id).join('');

  test.each([
    [{ words: 'WARM' }, 'a'],
    [{ words: 'width 2' }, 'b'],
    [{ words: 'liu digits' }, 'b'],
    [{ state: 'active' as const }, 'c'],
    [{ state: 'failed' as const }, 'a'],
    [{ starred: true }, 'a'],
    [{ engine: 'docker' }, 'c'],
    [{ days: 1 }, 'bc'],
    [{ notebook: '/b.ipynb' }, '']
  ])('shows those that are like %j', (filter, shown) => {
    expect(ids(filtered(list, { ...all, ...filter }, trans, 150 + 86_400))).toBe(shown);
  });

  test('those of yesterday are of the day before today, where the reader is', () => {
    const now = new Date(2026, 10, 28, 9);
    const at = (id: string, ...moment: [number, number]) =>
      run(id, { created: new Date(2026, 10, ...moment).getTime() / 1000 });
    const some = [at('a', 26, 23), at('b', 27, 0), at('c', 27, 23), at('d', 28, 0)];
    const filter = { ...all, days: 'yesterday' as const };
    expect(ids(filtered(some, filter, trans, now.getTime() / 1000))).toBe('bc');
  });

  test('sweeps stand among the jobs by their time, where that is the order', () => {
    const sweeps = [sweep('x', { created: 250 }), sweep('y', { created: 50 })];
    const newest = { column: 'started' as const, down: true };
    const jobs = sorted(list, newest);
    const named = (most: number, order: Parameters<typeof withSweeps>[3] = newest) =>
      withSweeps(sweeps, jobs, most, order)
        .map(({ id }) => id)
        .join('');
    expect(named(9)).toBe('cxbay');
    // The next job stands before the older one.
    expect(named(2)).toBe('cxb');
    expect(named(9, { column: 'name', down: false })).toBe('xycba');
  });

  test('what has nothing in a column stands last, either way', () => {
    expect(ids(sorted(list, { column: 'took', down: true }))).toBe('bac');
    expect(ids(sorted(list, { column: 'took', down: false }))).toBe('abc');
    expect(ids(sorted(list, { column: 'started', down: true }))).toBe('cba');
  });

  test('the better one comes first, whichever way is better', () => {
    const by = (better: 'min' | 'max') =>
      [3, 1, 2].map(value =>
        run(String(value), {
          progress: { ...job('a').progress, final: { name: 'x', value, better } }
        })
      );
    expect(ids(sorted(by('min'), { column: 'final', down: true }))).toBe('123');
    expect(ids(sorted(by('max'), { column: 'final', down: true }))).toBe('321');
  });

  test('a sweep is hidden with all of its jobs, where one asks for another place', () => {
    const api = apiOn(() => Promise.resolve(answer(200, '{}')));
    const jobs = new Jobs(api, new EventStream(api));
    jobs.put(run('s1', {}, { engine: 'local', trial: 1 }));
    const plans = new Plans(api, jobs);
    plans.sweeps = [sweep('s')];
    const page = new JobsPage(api, jobs, plans, trans);
    const shown = (engine: string) => {
      page.filter = { ...page.filter, engine };
      return page.sweeps.length;
    };
    expect(['', 'local', 'docker'].map(shown)).toEqual([1, 1, 0]);
    page.dispose();
  });

  test('the chosen that have ended are deleted, after the time to take it back', async () => {
    jest.useFakeTimers();
    const asked: string[] = [];
    const api = apiOn((url, init) => {
      asked.push(`${init.method} ${url.split('/').pop()}`);
      return Promise.resolve(
        answer(
          init.method === 'DELETE' ? 204 : 200,
          init.method === 'DELETE' ? '' : JSON.stringify({ jobs: list })
        )
      );
    });
    const jobs = new Jobs(api, new EventStream(api));
    await jobs.refresh();
    const page = new JobsPage(api, jobs, new Plans(api, jobs), trans);
    page.chooseAll(true);
    expect(page.deletable).toEqual(['b', 'a']);
    page.deleteChosen();
    expect(page.chosen).toEqual(['c']);
    page.keepAll();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(asked).toEqual(['GET jobs']);
    page.choose('c', false);
    page.choose('a', true);
    page.deleteChosen();
    await jest.advanceTimersByTimeAsync(60_000);
    await settle();
    expect(asked).toEqual(['GET jobs', 'DELETE a']);
    expect(ids(page.shown)).toBe('cb');
    page.dispose();
    jest.useRealTimers();
  });
});

describe('side by side', () => {
  const metrics: Record<string, IJobMetrics> = {
    a: { curves: [curve('loss', [0.5, 1]), curve('val_loss', [1])], marks: [], thinned: false },
    b: { curves: [curve('loss', [0.5, 1, 2])], marks: [], thinned: false },
    c: { curves: [curve('loss', [null, null])], marks: [], thinned: false }
  };
  const variables = (value: number) => ({
    settings: { code: '', variables: [variable('B', value, 'batch_size'), variable('seed', 1)] }
  });
  const [a, b, c] = ['a', 'b', 'c'].map((id, index) =>
    run(id, { started: 90 }, variables(index))
  );

  test('metrics of one quantity are one chart, those that say most first', () => {
    const told = {
      ...metrics.a,
      curves: [curve('lr', [1]), curve('eval_acc', [1]), ...metrics.a.curves]
    };
    const charts = metricCharts(told).map(({ name, curves }) => [name, curves.length]);
    expect(charts).toEqual([
      ['loss', 2],
      ['acc', 1],
      ['lr', 1]
    ]);
  });

  test('curves stand over epochs where all tell them, else over time', () => {
    const of = (id: string) => metrics[id];
    const [both] = comparedCharts([a, b], ['1', '2'], of);
    expect([both.over, both.series.map(({ x }) => x)]).toEqual([
      'epochs',
      [
        [0.5, 1],
        [0.5, 1, 2]
      ]
    ]);
    const [mixed] = comparedCharts([a, c], ['1', '2'], of);
    expect([mixed.over, mixed.series[0].x]).toEqual(['seconds', [10, 11]]);
  });

  test('the table tells what is not the same, and names that tell apart', () => {
    const rows = comparedRows([a, b], trans, name => name);
    expect(rows.find(({ name }) => name === 'batch')?.values).toEqual(['0', '1']);
    expect(rows.some(({ name }) => name === 'seed')).toBe(false);
    expect(shortNames([a, b], trans)).toEqual(['batch 0', 'batch 1']);
    // Of several notebooks each is named.
    const other = { ...b, spec: { ...b.spec, name: 'other' } };
    expect(shortNames([a, other], trans)).toEqual([
      `${a.spec.name} · batch 0`,
      'other · batch 1'
    ]);
  });

  test('runs of one batch in one minute are told apart by their second', () => {
    const at = (id: string, seconds: number) =>
      run(id, { created: new Date(2026, 0, 2, 3, 44, seconds).getTime() / 1000 });
    const names = shortNames([at('a', 5), at('b', 41)], trans);
    expect(names.map(name => name.split(' · ')[1])).toEqual(['03:44:05', '03:44:41']);
    const same = shortNames([at('a', 5), at('b', 5)], trans);
    expect(same.map(name => name.slice(0, 3))).toEqual(['1: ', '2: ']);
  });

  test('of many epochs some are marked', () => {
    const marks = Array.from({ length: 30 }, (_, n) => ({ epoch: n + 1, time: 100 + n }));
    const drawn = epochMarks({ curves: [], marks, thinned: false }, 100, trans);
    expect(drawn.map(({ x, label }) => `${x} ${label}`)).toEqual([
      ...['4 epoch 5', '9 10', '14 15', '19 20', '24 25', '29 30']
    ]);
  });
});

describe('run again with other values', () => {
  const form = () =>
    new RerunForm(
      run(
        'a',
        {},
        {
          sets: { epochs: 3 },
          environment: { epochs: '3', SEED: '1' },
          settings: {
            code: '',
            variables: [
              variable('epochs', 3, 'epochs'),
              variable('name', 'x'),
              variable('fast', true),
              variable('', 64, 'batch_size'),
              variable('', 'Adam', 'optimizer')
            ]
          }
        }
      )
    );

  test('only what is otherwise is asked for', () => {
    const model = form();
    expect(model.fields.map(({ variable: { name, role } }) => name || role)).toEqual([
      ...['epochs', 'name', 'fast', 'batch_size']
    ]);
    expect([model.isChanged, model.wanted()]).toEqual([false, {}]);
    model.fields[0].text = ' 5 ';
    model.fields[2].text = 'false';
    model.fields[3].text = '128';
    model.amp = 'O1';
    model.gpus = '0';
    model.environment = 'SEED=2\nno name\n A = b=c ';
    expect(model.wanted()).toEqual({
      values: { epochs: 5, fast: false },
      request: { batch_size: 128, amp: 'O1' },
      resources: { gpus: 0 },
      environment: { SEED: '2', A: 'b=c' }
    });
    expect(model.strayLines).toEqual(['no name']);
  });

  test('what is no number is told and not sent', () => {
    const model = form();
    for (const text of ['many', '0', '-1', '1.5']) {
      model.fields[0].text = text;
      expect(model.wrong).toEqual([model.fields[0]]);
    }
    expect(model.wanted()).toEqual({});
  });
});
