/** What can be asked of a notebook before anything was estimated: also where its training stands in a module. */

import * as React from 'react';
import { act } from 'react';
import { CommandRegistry } from '@lumino/commands';
import { createRoot, type Root } from 'react-dom/client';

import { AppProvider } from '../../src/components/context';
import { Memory } from '../../src/components/memory';
import type { Training } from '../../src/models/training';
import { trans } from './helpers';

let root: Root;
let box: HTMLElement;

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  box = document.createElement('div');
  document.body.append(box);
  root = createRoot(box);
});

afterEach(() => {
  act(() => root.unmount());
  box.remove();
});

/** Draw the section for a notebook of which only the facts are known; what was asked for is counted. */
function draw(loop: string, imports_paddle: boolean): { asked: number } {
  const counted = { asked: 0 };
  const training = {
    facts: { loop, imports_paddle },
    estimate: null,
    estimateError: null,
    isEstimating: false,
    measure: () => {
      counted.asked++;
      return Promise.resolve();
    }
  } as unknown as Training;
  const app = { trans, language: 'en', commands: new CommandRegistry() };
  act(() =>
    root.render(
      <AppProvider value={app}>
        <Memory training={training} />
      </AppProvider>
    )
  );
  return counted;
}

const button = () => box.querySelector('button') as HTMLButtonElement;

test.each([
  ['custom', true, 'Traces one step on the side.'],
  ['none', true, 'An estimate also finds one in what they import.']
])('a notebook with loop %s that uses Paddle can be estimated', (loop, paddle, said) => {
  const counted = draw(loop, paddle);
  expect(box.textContent).toContain(said);
  act(() => button().click());
  expect(counted.asked).toBe(1);
});

test('a notebook without Paddle has nothing to estimate', () => {
  draw('none', false);
  expect(button().disabled).toBe(true);
  expect(box.textContent).toContain('There is no training step to estimate.');
});
