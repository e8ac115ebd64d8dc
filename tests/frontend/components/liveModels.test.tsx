/** A model in the kernel: what was chosen can always be left, and what is old or cannot be asked is said. */

import * as React from 'react';

import { LiveModels } from '../../../src/components/estimate/liveModels';
import { Memory } from '../../../src/components/estimate/memory';
import { Training } from '../../../src/models/estimate/training';
import type { ILiveKernel, ILiveModel } from '../../../src/models/notebook/liveKernel';
import { draw } from '../drawing';
import { answer, apiOn, source } from '../helpers';

const NET = { name: 'net', type: 'Sequential', parameters: 10 };

class Kernel implements ILiveKernel {
  isBusy = false;
  holds: ILiveModel[] = [NET];
  cells: readonly string[] = [];
  models() {
    return Promise.resolve(this.isBusy ? null : this.holds);
  }
  held() {
    return Promise.resolve({});
  }
  trace(...[, , , cells]: Parameters<ILiveKernel['trace']>) {
    this.cells = cells;
    return Promise.resolve({ trace: 'packed' });
  }
}

const FIGURES = {
  status: 'ok',
  questions: [],
  remedies: [],
  trainings: [],
  training: null,
  fits: [],
  notes: [],
  timeline: [],
  phases: [],
  alive_at_peak: [],
  layers: [],
  low: null,
  high: null,
  target: 'cpu',
  peak_bytes: 10,
  allocated_peak_bytes: 10,
  breakdown: null
};

function made(
  kernel: Kernel,
  refused: (request: { training?: string }) => boolean = () => false
) {
  const api = apiOn((url, init) => {
    if (!url.includes('placements') || !init.body) {
      return Promise.resolve(answer(404, '{}'));
    }
    const { request, trace } = JSON.parse(String(init.body)) as {
      request: { training?: string };
      trace?: string;
    };
    if (refused(request)) {
      const said = { code: 'no_such_training', message: 'There is no training 7.', hint: '' };
      return Promise.resolve(answer(404, JSON.stringify(said)));
    }
    const matched = {
      facts: {},
      estimate: { ...FIGURES, live: trace !== undefined },
      placement: {}
    };
    return Promise.resolve(answer(200, JSON.stringify(matched)));
  });
  const body = () => ({
    path: 'a.ipynb',
    content: {
      cells: [
        { cell_type: 'markdown', source: 'text' },
        { cell_type: 'code', source: ['net(x)\n', 'y'] }
      ]
    }
  });
  return new Training(api, { ...source, body, kernel });
}

function buttons(training: Training): [string | null, string | null][] {
  const box = draw(<LiveModels training={training} />);
  return [...box.querySelectorAll('button')].map(one => [
    one.textContent,
    one.getAttribute('aria-pressed')
  ]);
}

test('a model that is gone can be left, and one of a busy kernel stays', async () => {
  const kernel = new Kernel();
  const training = made(kernel);
  await training.lookAtKernel();
  await training.measure('net');
  expect(kernel.cells).toEqual(['net(x)\ny']);
  expect(buttons(training)).toEqual([['net', 'true']]);
  kernel.isBusy = true;
  await training.lookAtKernel();
  expect(training.models.list).toEqual([NET]);
  kernel.isBusy = false;
  kernel.holds = [];
  await training.lookAtKernel(true);
  expect(buttons(training)).toEqual([['net', 'true']]);
  await training.measure('');
  expect(buttons(training)).toEqual([]);
});

test('what was traced before the kernel executed something is old, whatever is typed', async () => {
  const training = made(new Kernel());
  await training.lookAtKernel();
  await training.measure('net');
  expect(training.stale).toBe(false);
  await training.lookAtKernel(true);
  expect(training.stale).toBe(true);
  await training.read();
  expect(training.stale).toBe(true);
  await training.measure();
  expect(training.stale).toBe(false);
});

test('a busy kernel is not waited for, and the figure of the cells is not called its own', async () => {
  const kernel = new Kernel();
  const training = made(kernel);
  await training.lookAtKernel();
  const figure = () => draw(<Memory training={training} model={null} />).textContent;
  await training.measure('net');
  expect(figure()).toContain('net in the kernel');
  await training.measure('');
  kernel.isBusy = true;
  await training.measure('net');
  expect(training.estimateError?.code).toBe('kernel_busy');
  expect(figure()).not.toContain('net in the kernel');
});

test('a training that the notebook has no more is not asked for again', async () => {
  const training = made(new Kernel(), ({ training }) => training === '7');
  await training.ask({ training: '7' });
  expect(training.estimateError).toBeNull();
  expect(training.request.training).toBeNull();
});
