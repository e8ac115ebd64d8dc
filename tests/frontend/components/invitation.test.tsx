/** What can be asked of a notebook before anything was estimated: also where its training stands in a module. */

import * as React from 'react';
import { act } from 'react';

import { Memory } from '../../../src/components/estimate/memory';
import { FactLine } from '../../../src/components/head/factLine';
import type { INotebookFacts } from '../../../src/domain';
import type { Training } from '../../../src/models/estimate/training';
import type { PanelModel } from '../../../src/models/panel';
import { draw } from '../drawing';

/** A notebook of which only the facts are known; what is asked for is counted. */
function training(facts: Partial<INotebookFacts>): { training: Training; asked: number } {
  const counted = {
    asked: 0,
    training: {
      facts: { cells: [{ source: 'x = 1' }], problems: [], ...facts },
      factsError: null,
      estimate: null,
      estimateError: null,
      models: { list: [], chosen: '' },
      isEstimating: false,
      request: {},
      measure: () => {
        counted.asked++;
        return Promise.resolve();
      }
    } as unknown as Training
  };
  return counted;
}

const button = (box: HTMLElement) => box.querySelector('button') as HTMLButtonElement;

test.each([
  ['custom', true, 'Traces one step on the side.'],
  ['none', true, 'An estimate also finds one in what they import.']
] as const)(
  'a notebook with loop %s that uses Paddle can be estimated',
  (loop, paddle, said) => {
    const counted = training({ loop, imports_paddle: paddle });
    const box = draw(<Memory training={counted.training} model={null} />);
    expect(box.textContent).toContain(said);
    act(() => button(box).click());
    expect(counted.asked).toBe(1);
  }
);

test('nothing is said of a notebook that is still being read', () => {
  const { training: unread } = training({});
  Object.assign(unread, { facts: null });
  const box = draw(<Memory training={unread} model={null} />);
  expect(box.textContent).toBe('Estimate');
  expect(button(box).disabled).toBe(true);
});

test('a notebook without Paddle has nothing to estimate', () => {
  const counted = training({ loop: 'none', imports_paddle: false });
  const box = draw(<Memory training={counted.training} model={null} />);
  expect(button(box).disabled).toBe(true);
  expect(box.textContent).toContain('There is no training step to estimate.');
});

const broken = { code: 'cell_not_python', message: 'Cell 1 is not valid Python.', hint: '' };
const BLANK = {
  index: 0,
  id: 'a',
  source: ' \n',
  masked: [],
  typed: '',
  cell_magic: '',
  hides: false,
  may_fail: false
};

test.each([
  [{ imports_paddle: false }, 'This notebook does not use Paddle.'],
  [{ imports_paddle: true }, 'Nothing in this notebook trains a Paddle model yet.'],
  [{ imports_paddle: false, problems: [broken] }, 'Nothing that could be read here trains'],
  [{ imports_paddle: false, cells: [BLANK] }, 'There is no code in this notebook']
])('where nothing trains, no more is said than is known: %j', (facts, said) => {
  const box = draw(<FactLine training={training({ loop: 'none', ...facts }).training} />);
  expect(box.querySelector('[role=status]')?.textContent).toContain(said);
});

test('that nobody answers is said at the head of the panel alone', () => {
  const problem = { code: 'unreachable', message: 'Cannot reach Jupyter.', hint: '' };
  const counted = training({ loop: 'custom', imports_paddle: true });
  Object.assign(counted.training, { estimateError: problem });
  const said = (connection: string) =>
    draw(
      <Memory
        training={counted.training}
        model={{ events: { connection } } as unknown as PanelModel}
      />
    ).textContent;
  expect(said('polling')).toContain('Cannot reach Jupyter.');
  expect(said('offline')).not.toContain('Cannot reach Jupyter.');
});
