/** What stands at the ends of axes has room there. */

import * as React from 'react';

import { Parallel } from '../../src/components/plans/parallel';
import type { ISweep } from '../../src/domain';
import { Plot } from '../../src/plots/draw';
import { draw } from './drawing';

interface IOptions {
  padding: [number, () => number, number, number];
  axes: { values(plot: null, places: number[]): string[] }[];
  scales: {
    y: { range(plot: null, least: number, greatest: number): [number, number] };
    x: { range(plot: object, first: number, last: number): [number, number] };
  };
  hooks: { draw: ((plot: object) => void)[] };
}

const made: IOptions[] = [];

jest.mock('uplot', () => ({
  __esModule: true,
  default: function (options: IOptions) {
    made.push(options);
  }
}));

test('the last place of a horizontal axis has room for half of its words', () => {
  const drawing = {
    ...{ series: [], limits: [], marks: [], height: 100, formatY: String },
    formatX: (x: number) => `${x} epochs`,
    onCursor: () => undefined
  };
  new Plot(document.createElement('div'), drawing);
  const { padding, axes } = made[0];
  const room = () => padding[1]();
  expect(room()).toBeLessThan(12);
  axes[0].values(null, [0, 50, 100]);
  // A letter of the axis is hardly narrower than 6 pixels.
  expect(room()).toBeGreaterThanOrEqual(('100 epochs'.length * 6) / 2);
});

test('a curve of one point ends where those beside it do', () => {
  const drawing = {
    ...{ series: [], limits: [], marks: [], height: 100, end: 6.2 },
    ...{ formatX: String, formatY: String, onCursor: () => undefined }
  };
  made.length = 0;
  new Plot(document.createElement('div'), drawing);
  // uPlot puts as much again around a single place before it asks.
  expect(made[0].scales.x.range({ data: [[4.3]] }, 0, 8.6)).toEqual([0, 6.2]);
  expect(made[0].scales.x.range({ data: [[1, 9]] }, 1, 9)).toEqual([0, 9]);
});

test('the room around a share says nothing that no share can be', () => {
  const drawing = {
    ...{ series: [], limits: [], marks: [], height: 100 },
    ...{ formatX: String, formatY: String, onCursor: () => undefined }
  };
  made.length = 0;
  new Plot(document.createElement('div'), drawing);
  const { axes, scales } = made[0];
  scales.y.range(null, 1, 1);
  expect(axes[1].values(null, [0.95, 1, 1.05])).toEqual(['0.95', '1', '']);
  scales.y.range(null, 0, 2.5);
  expect(axes[1].values(null, [-0.1, 0, 2])).toEqual(['', '0', '2']);
  scales.y.range(null, -1, 1.5);
  expect(axes[1].values(null, [-1, 1.5])).toEqual(['-1', '1.5']);
});

test('values beside the first axis of a sweep’s picture are not cut', () => {
  const rate = { name: 'rate', values: [], low: 0.000463425, high: 0.1, log: true };
  const sweep = {
    ...{ dimensions: [rate], metric: 'acc', best: null, direction: 'max' },
    trials: [{ number: 1, state: 'succeeded', values: { rate: 0.01 }, value: 0.5 }]
  } as unknown as ISweep;
  const box = draw(<Parallel sweep={sweep} marked={null} mark={() => undefined} />);
  const [low] = [...box.querySelectorAll('text')].filter(one =>
    one.textContent?.startsWith('0.00')
  );
  // It ends at its place.
  expect(low.getAttribute('text-anchor')).toBe('end');
  const letters = low.textContent?.length ?? 0;
  expect(Number(low.getAttribute('x'))).toBeGreaterThanOrEqual(letters * 6.5);
});

test('names of axes that are near to each other stand in two lines', () => {
  const dimension = (name: string) => ({ name, values: [1, 2], low: 0, high: 0, log: false });
  const lines = (...names: string[]) => {
    const sweep = {
      ...{ dimensions: names.map(dimension), metric: '', best: null },
      trials: []
    };
    const box = draw(
      <Parallel sweep={sweep as unknown as ISweep} marked={null} mark={() => undefined} />
    );
    return new Set([...box.querySelectorAll('.jp-mod-name')].map(one => one.getAttribute('y')));
  };
  expect(lines('a', 'b').size).toBe(1);
  expect(lines('learning_rate', 'weight_decay', 'hidden_size').size).toBe(2);
  // A value at the upper end, 11 pixels high, begins below them.
  const places = [...document.querySelectorAll('.jp-PaddleGpu-axis text')]
    .map(one => Number(one.getAttribute('y')))
    .sort((a, b) => a - b);
  const [first] = places.filter(one => one > 22);
  expect(first - 11).toBeGreaterThan(22);
});

test('the name of an epoch does not lie beneath that of a limit', () => {
  const names = (limit: number) => {
    const drawing = {
      ...{ series: [], height: 100, formatX: String, formatY: String },
      limits: [{ value: limit, label: 'estimate' }],
      marks: [
        { x: 0, label: '1' },
        { x: 95, label: '2' }
      ],
      onCursor: () => undefined
    };
    made.length = 0;
    new Plot(document.createElement('div'), drawing);
    const fillText = jest.fn<undefined, [string]>();
    const ctx = {
      ...Object.fromEntries(
        ['save', 'restore', 'beginPath', 'moveTo', 'lineTo', 'stroke', 'strokeText'].map(
          one => [one, () => undefined]
        )
      ),
      ...{ fillText, setLineDash: () => undefined },
      measureText: (text: string) => ({ width: 6 * text.length })
    };
    made[0].hooks.draw[0]({
      ...{ ctx, bbox: { left: 0, top: 0, width: 100, height: 100 } },
      valToPos: (value: number) => value
    });
    return fillText.mock.calls.map(([text]) => text);
  };
  // Pixels from the top: in the row of the names, and below it.
  expect(names(20)).toEqual(['1', 'estimate']);
  expect(names(60)).toEqual(['1', '2', 'estimate']);
});
