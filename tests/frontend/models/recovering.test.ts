/** What failed only because nobody answered is no failure any more once somebody does. */

import type { INotebookTracker } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';

import type { Api } from '../../../src/api';
import { type Connection, EventStream } from '../../../src/events';
import { Jobs } from '../../../src/models/jobs/jobs';
import { ActiveNotebook } from '../../../src/models/notebook/notebook';
import { PanelModel } from '../../../src/models/panel';
import { Training } from '../../../src/models/estimate/training';
import { answer, apiOn, settle, source } from '../helpers';

const gone = () => Promise.reject(new Error('There is nobody.'));
const refused = () =>
  Promise.resolve(answer(422, JSON.stringify({ code: 'no', message: 'No.', hint: '' })));

async function errors(api: Api): Promise<(string | undefined)[]> {
  const training = new Training(api, source);
  const jobs = new Jobs(api, new EventStream(api));
  await training.submission.submit();
  await training.measure();
  await jobs.cancel('a');
  const told = () => [training.submission.error, training.estimateError, jobs.failure?.error];
  expect(told().every(error => error)).toBe(true);
  training.recover();
  jobs.recover();
  return told().map(error => error?.code);
}

test('where the server was away, nothing is left to say', async () => {
  expect(await errors(apiOn(gone))).toEqual([undefined, undefined, undefined]);
});

test('a refusal stays', async () => {
  expect(await errors(apiOn(refused))).toEqual(['no', 'no', 'no']);
});

test('a notebook that could not be read is read again', async () => {
  let isUp = false;
  const facts = JSON.stringify({ loop: 'none' });
  const training = new Training(
    apiOn(() => (isUp ? Promise.resolve(answer(200, facts)) : gone())),
    source
  );
  await training.read();
  expect(training.factsError?.code).toBe('unreachable');
  isUp = true;
  const read = new Promise(done =>
    training.changed.connect(() => training.facts && done(true))
  );
  training.recover();
  await read;
  expect(training.factsError).toBeNull();
});

test('a server that comes back is asked for its version anew', async () => {
  const asked: string[] = [];
  const api = apiOn(url => {
    asked.push(url);
    return Promise.resolve(answer(200, '{"version": "0.0.1", "jobs": []}'));
  });
  const events = new EventStream(api);
  const tracker = { currentChanged: new Signal({}), currentWidget: null };
  const notebook = new ActiveNotebook(tracker as unknown as INotebookTracker, () => undefined);
  const panel = new PanelModel(api, events, notebook);
  const become = (connection: Connection) =>
    (events as unknown as { _setConnection(one: Connection): void })._setConnection(connection);
  become('socket');
  expect(asked.filter(url => url.includes('/version'))).toHaveLength(0);
  for (const back of ['socket', 'polling'] as const) {
    become('offline');
    become(back);
    await settle();
    expect(panel.otherVersion).toBe('0.0.1');
  }
  expect(asked.filter(url => url.includes('/version'))).toHaveLength(2);
  panel.dispose();
});
