/** Sweeps and schedules in the browser: what is several values, where trials stand on axes, what is asked of the server. */

import { dateIn, dimensionText } from '../../../src/components/plans/words';
import type { IDimension, ISweep, ITrial } from '../../../src/domain';
import { axes, goodness } from '../../../src/models/plans/axes';
import { NOW, spaceOf, whenOf } from '../../../src/models/plans/planChoice';
import {
  isSeveral,
  type ISweepChoice,
  runsOf,
  sweepFields,
  trialsOf,
  USUAL_SWEEP
} from '../../../src/models/plans/values';
import { RerunForm } from '../../../src/models/jobs/rerun';
import { filtered } from '../../../src/models/jobs/jobsPage';
import { job, sweep, trans } from '../helpers';

const variable = (name: string, value: number | string | boolean, role = '') => ({
  name,
  value,
  role: role as 'batch_size' | '',
  cell: 0,
  parameter: false,
  call: ''
});

test.each([
  ['0.1, 0.01', 0.1, true],
  ['32:128:x2', 32, true],
  ['0.001:0.1:log', 0.1, true],
  ['1e-3:1e-1:log5', 0.1, true],
  ['0.1', 0.1, false],
  ['fast', 0.1, false],
  ['a, b', 0.1, false],
  ['adam, sgd', 'adam', true],
  ['one, two', 'a, b', false],
  ['data/a:b', 'data', false],
  ['true, false', true, true],
  ['true', false, false]
])('“%s” for %s is several values: %s', (typed, value, several) => {
  expect(isSeveral(typed, value)).toBe(several);
});

test.each([
  [['0.1, 0.01', '32:128:x2'], 6],
  [['0.001:0.1:log5', '1:4'], 20],
  [['16:64:16', '0:1:0.25'], 20],
  [['0.1, 0.1'], 1],
  [['0.1:0.5', '1, 2'], null],
  [['0.001:0.1:log'], null],
  [['4:1'], null]
])('all combinations of %j are %p runs', (typed, runs) => {
  expect(runsOf(typed)).toBe(runs);
});

test.each<[Partial<ISweepChoice>, number | null, number | null]>([
  [{ search: 'grid' }, 12, 12],
  [{ search: 'grid' }, null, null],
  [{ search: 'random' }, 12, 12],
  [{ search: 'random' }, 100, 20],
  [{ search: 'optuna' }, null, 20],
  [{ search: 'optuna', trials: '7' }, null, 7],
  [{ search: 'random', trials: '7' }, 4, 4]
])('of %j with %p combinations %p trials are started', (choice, runs, trials) => {
  expect(trialsOf({ ...USUAL_SWEEP, ...choice }, runs)).toBe(trials);
});

test('a form with a list is a sweep that keeps single values beside it', () => {
  const old = job('a');
  old.spec.settings = {
    variables: [variable('lr', 0.1), variable('hidden', 8), variable('', 64, 'batch_size')],
    code: ''
  };
  const form = new RerunForm(old);
  expect(form.isSweep).toBe(false);
  form.fields[0].text = '0.1, 0.01';
  form.fields[1].text = '16';
  form.fields[2].text = '32:64:x2';
  form.amp = 'O1';
  form.sweep = {
    search: 'random',
    trials: '3',
    atOnce: '2',
    metric: ' val_acc',
    direction: 'max'
  };
  expect(form.wrong).toEqual([]);
  expect(form.sweepBody()).toEqual({
    job: 'a',
    space: { lr: '0.1, 0.01', batch_size: '32:64:x2', hidden: [16] },
    search: 'random',
    trials: 3,
    at_once: 2,
    metric: 'val_acc',
    direction: 'max',
    request: { amp: 'O1' }
  });
});

test('what is left empty is the server’s to choose', () => {
  expect(sweepFields(USUAL_SWEEP)).toEqual({ search: 'grid' });
  expect(spaceOf(NOW, [variable('lr', 0.1)])).toBeNull();
  expect(
    spaceOf({ ...NOW, values: { lr: '1, 2', hidden: '3' } }, [
      variable('lr', 0.1),
      variable('hidden', 1)
    ])
  ).toEqual({ lr: '1, 2', hidden: '3' });
  // Nobody's values are passed over.
  expect(
    spaceOf({ ...NOW, values: { lr: 'abc', hidden: ' ' } }, [variable('lr', 0.1)])
  ).toEqual({
    lr: 'abc'
  });
});

test('when it runs is said in the reader’s own time zone', () => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  expect(whenOf(NOW)).toBeNull();
  expect(whenOf({ ...NOW, when: 'at', at: '2026-11-23T02:00' })).toEqual({
    at: '2026-11-23T02:00',
    zone,
    source: 'disk'
  });
  expect(whenOf({ ...NOW, when: 'free', device: '1', source: 'saved' })).toEqual({
    free: '1',
    source: 'saved'
  });
  expect(whenOf({ ...NOW, when: 'cost', below: '2.5' })).toEqual({
    below: 2.5,
    source: 'disk'
  });
});

test('midnight is 00:00, and another year is named', () => {
  const midnight = (year: number) => new Date(year, 10, 28).getTime() / 1000;
  const year = new Date().getFullYear();
  expect(dateIn(midnight(year), '', 'en')).toMatch(/^\w{3}, Nov 28, 00:00$/);
  expect(dateIn(midnight(year + 1), '', 'en')).toContain(String(year + 1));
});

function trial(number: number, values: ITrial['values'], value: number | null): ITrial {
  return { number, values, value, state: 'succeeded' } as ITrial;
}

const SWEEP = {
  dimensions: [
    { name: 'lr', values: [0.1, 0.01, 0.0001], low: 0, high: 0, log: false },
    { name: 'name', values: ['a', 'b'], low: 0, high: 0, log: false },
    { name: 'drop', values: [], low: 0, high: 1, log: false }
  ],
  trials: [
    trial(1, { lr: 0.1, name: 'a', drop: 0.25 }, 2),
    trial(2, { lr: 0.0001, name: 'b', drop: 1 }, 1),
    trial(3, { lr: 0.01, name: 'b', drop: 0 }, null)
  ],
  metric: 'loss',
  direction: 'min'
} as unknown as ISweep;

test('a trial stands where its values are, orders of magnitude evenly', () => {
  const [rate, name, drop, loss] = axes(SWEEP);
  const places = SWEEP.trials.map(one => [rate, name, drop, loss].map(axis => axis.at(one)));
  expect(places[0]).toEqual([1, 0, 0.25, 1]);
  expect(places[1]).toEqual([0, 1, 1, 0]);
  expect(places[2][0]).toBeCloseTo(2 / 3);
  expect(places[2][3]).toBeNull();
  expect(rate.ticks.map(({ text }) => text)).toEqual(['0.0001', '0.01', '0.1']);
});

test('a value that all trials have has no axis, where others vary', () => {
  const same = { name: 'pause', values: [0.02], low: 0, high: 0, log: false };
  const names = (dimensions: object[]) =>
    axes({ ...SWEEP, dimensions } as unknown as ISweep).map(({ name }) => name);
  expect(names([...SWEEP.dimensions, same])).toEqual(['lr', 'name', 'drop', 'loss']);
  expect(names([same])).toEqual(['pause', 'loss']);
});

test('the best is the one with the least loss, or with the most of another metric', () => {
  expect(SWEEP.trials.map(goodness(SWEEP))).toEqual([0, 1, null]);
  expect(SWEEP.trials.map(goodness({ ...SWEEP, direction: 'max' }))).toEqual([1, 0, null]);
});

test('trials are shown with their sweep, not among the jobs', () => {
  const plain = job('a');
  const one = job('b');
  one.spec.trial = 1;
  const all = {
    words: '',
    state: '' as const,
    days: null,
    engine: '',
    owner: '',
    notebook: '',
    starred: false
  };
  expect(filtered([plain, one], all, trans).map(({ id }) => id)).toEqual(['a']);
});

test('what a sweep tries is said as of any run: by what it is to the training, a range by its ends', () => {
  const [rate] = sweep('any').dimensions;
  const range = {
    ...rate,
    name: 'RATE',
    values: [],
    low: 0.01,
    high: 0.5,
    text: '0.01:0.5:log'
  };
  const own = { ...rate, name: 'seed', values: [1, 2], role: '' };
  const said = (...dimensions: IDimension[]) =>
    dimensions.map(one => dimensionText(one, sweep('any', { dimensions }), trans));
  expect(said(range, own)).toEqual(['learning rate 0.01 to 0.5', 'seed 1, 2']);
  // Two of one role are told apart as they are typed.
  expect(said(range, rate)).toEqual(['RATE 0.01 to 0.5', 'lr 1, 2']);
});
