import { Signal } from '@lumino/signaling';

import type { PanelModel } from '../../src/models/panel';
import { CellBadge } from '../../src/places/cellBadge';
import { followJobLinks } from '../../src/places/jobLinks';
import { job, trans } from './helpers';

function panel(): { model: PanelModel; cell: HTMLElement; state: Record<string, unknown> } {
  const cell = document.createElement('div');
  document.body.append(cell);
  const state: Record<string, unknown> = {
    training: {
      stale: false,
      source: {
        path: 'digits.ipynb',
        cellNode: (index: number) => (index === 4 ? cell : null)
      },
      estimate: {
        peak_bytes: 3 * 2 ** 20,
        training: '1',
        trainings: [{ id: '1', where: { cell: 4, line: 1 } }],
        stop: null
      }
    },
    views: { running: null }
  };
  const changed = new Signal<unknown, void>({});
  const jobs = { changed: new Signal<unknown, void>({}) };
  const model = Object.assign(state, { changed, jobs }) as unknown as PanelModel;
  return { model, cell, state };
}

test('the training cell says what it takes, then how far its job is, and nothing where it is off', () => {
  const { model, cell, state } = panel();
  const opened: (string | null)[] = [];
  const badge = new CellBadge(model, trans, id => opened.push(id));
  expect(cell.textContent).toBe('');
  badge.isOn = true;
  expect(cell.textContent).toBe('3.00 MiB');
  cell.querySelector('button')?.click();
  const running = job('digits', { state: 'running' });
  state.views = { running: { job: running } };
  (model.changed as Signal<unknown, void>).emit();
  expect(cell.textContent).toContain('running');
  cell.querySelector('button')?.click();
  expect(opened).toEqual([null, 'digits']);
  badge.isOn = false;
  expect(cell.textContent).toBe('');
  badge.isOn = true;
  badge.dispose();
  expect(cell.querySelector('button')).toBeNull();
});

test('a link of an output opens the job that it names', () => {
  const opened: string[] = [];
  const stop = followJobLinks(id => opened.push(id));
  document.body.innerHTML =
    '<a href="#paddle-gpu-job=2026-a"><b>x</b></a><a href="#other"><i>y</i></a>';
  document.querySelector('b')?.click();
  document.querySelector('i')?.click();
  stop();
  document.querySelector('b')?.click();
  expect(opened).toEqual(['2026-a']);
});
