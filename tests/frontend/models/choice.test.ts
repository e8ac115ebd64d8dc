/** What was chosen for a job, as it is sent and as it is written down. */

import type { IEngineFeatures, IImageChoice, IWhatIf } from '../../../src/domain';
import {
  AS_USUAL,
  figureOf,
  imageOf,
  isElsewhere,
  movedTo,
  otherwise,
  parseEnvironment,
  placeOf,
  shortImage,
  strayLines,
  submissionOf,
  writeEnvironment
} from '../../../src/models/submit/choice';
import { askedFor } from '../../../src/models/estimate/whatIfs';

test('what is as usual is not sent', () => {
  expect(submissionOf(AS_USUAL)).toEqual({});
  expect(otherwise(AS_USUAL)).toEqual({});
});

test('a limit is sent without choosing devices', () => {
  const some = { ...AS_USUAL, share: 0.5, priority: -10 };
  expect(submissionOf(some)).toEqual({ priority: -10, resources: { share: 0.5 } });
  const choice = { ...AS_USUAL, seconds: 7200, image: 'paddle:3', data: ['/data'] };
  expect(submissionOf(choice)).toEqual({
    image: 'paddle:3',
    options: { data: ['/data'] },
    resources: { seconds: 7200 }
  });
  expect(Object.keys(otherwise(choice))).toEqual(['image', 'seconds', 'data']);
});

test('an engine takes along only what it can do', () => {
  const engine = (more: object) =>
    ({ name: 'local', own_devices: false, ...more }) as unknown as IEngineFeatures;
  const choice = {
    ...AS_USUAL,
    image: 'paddle:3',
    memoryBytes: 1,
    deviceIds: ['GPU-0'],
    gpus: 1
  };
  const there = engine({ containers: false, memory_limit: true, time_limit: true });
  expect(movedTo(choice, engine({}), there)).toMatchObject({
    engine: 'local',
    image: '',
    memoryBytes: 1,
    deviceIds: ['GPU-0']
  });
  const own = engine({ own_devices: true, containers: true, memory_limit: false });
  expect(movedTo(choice, engine({}), own)).toMatchObject({
    image: 'paddle:3',
    memoryBytes: null,
    deviceIds: [],
    gpus: null
  });
});

test('an environment is read as people write it', () => {
  const environment = parseEnvironment('SEED=7\n\n  NAME = a=b\n=lost\nlost');
  expect(environment).toEqual({ SEED: '7', NAME: 'a=b' });
  expect(strayLines('SEED=7\n\n=lost\nA B=3')).toEqual(['=lost', 'A B=3']);
  expect(parseEnvironment(writeEnvironment(environment))).toEqual(environment);
});

test('the reasons shown are those of the image that the job would get', () => {
  const images = ['gpu', 'cpu'].map(reference => ({ reference }) as IImageChoice);
  expect(imageOf(images, '', false)?.reference).toBe('gpu');
  expect(imageOf(images, '', true)?.reference).toBe('cpu');
  expect(imageOf(images, 'gpu', true)?.reference).toBe('gpu');
  expect(imageOf(images, 'team/paddle:1', false)).toBeUndefined();
});

test('the image that is chosen is what is matched, and another one is matched anew', () => {
  const choice = { ...AS_USUAL, image: 'paddle:3' };
  expect(placeOf(choice)).toEqual({ image: 'paddle:3' });
  expect(isElsewhere(AS_USUAL, choice)).toBe(true);
});

test('the figure is asked for with the variables of the job, and anew with others', () => {
  const environment = { FLAGS_allocator_strategy: 'naive_best_fit' };
  expect(figureOf(AS_USUAL)).toEqual({});
  expect(figureOf({ ...AS_USUAL, environment })).toEqual({ environment });
  expect(isElsewhere(AS_USUAL, { ...AS_USUAL, environment })).toBe(true);
  expect(isElsewhere({ ...AS_USUAL, environment }, { ...AS_USUAL, environment })).toBe(false);
});

test("an image is named without its registry, and by whose it is where it is none of Paddle's", () => {
  expect(shortImage('paddlepaddle/paddle:3.3.1')).toBe('paddle:3.3.1');
  expect(shortImage('stand-in/paddle:1')).toBe('stand-in/paddle:1');
  expect(shortImage('mirror.example/team/paddle:1')).toBe('team/paddle:1');
  expect(shortImage('registry:5000/paddlepaddle/paddle:3.3.1')).toBe('paddle:3.3.1');
  expect(shortImage('own@sha256:0a')).toBe('own@sha256:0a');
  expect(shortImage(undefined)).toBe('');
});

const whatIfs = [
  { name: 'batch_size', asked: 'with batch {value}', choices: [], in_jobs: true },
  { name: 'accumulation', asked: 'with {value} steps accumulated', choices: [], in_jobs: true }
] as unknown as IWhatIf[];

test('a batch in parts is told as one of them and their number', () => {
  const labels = (request: object) =>
    askedFor({ request, facts: null, whatIfs }).map(({ label }) => label);
  expect(labels({ batch_size: 128, accumulation: 4 })).toEqual([
    'with batch 32 × 4',
    'with 4 steps accumulated'
  ]);
  expect(labels({ batch_size: 128 })).toEqual(['with batch 128']);
});
