/** What keys choose on a chart whose drawing has not been loaded yet. */

import { act } from 'react';
import * as React from 'react';

import { LineChart } from '../../../src/plots/lineChart';
import { draw } from '../drawing';

// The drawing is loaded when the first chart is there: here it never comes.
jest.mock('../../../src/plots/draw', () => {
  throw new Error('not loaded');
});

const LOSS = { name: 'batch 64', x: [1, 2, 3], y: [0.9, 0.5, 0.25] };
const SLOWER = { name: 'batch 128', x: [1, 2.5], y: [0.95, 0.7] };

function key(box: HTMLElement, name: string): void {
  const slider = box.querySelector('[role="slider"]');
  act(() => {
    slider?.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));
  });
}

test('a place is read out before there is a drawing, and taken back', async () => {
  const box = draw(
    <LineChart label="loss" series={[LOSS, SLOWER]} formatX={x => `epoch ${x}`} />
  );
  const readout = () => box.querySelector('.jp-PaddleGpu-readout')?.textContent;
  expect(readout()).toBeUndefined();
  key(box, 'Home');
  expect(readout()).toBe('epoch 1, batch 64 0.9, batch 128 0.95');
  key(box, 'ArrowRight');
  expect(readout()).toContain('epoch 2,');
  key(box, 'End');
  expect(readout()).toContain('epoch 3, batch 64 0.25');
  key(box, 'Escape');
  expect(readout()).toBeUndefined();
  await act(async () => undefined); // the drawing did not come: the table stands for it
  expect(box.querySelector('.jp-PaddleGpu-unseen')).toBeNull();
  expect(box.querySelector('table caption')?.textContent).toBe('loss');
});
