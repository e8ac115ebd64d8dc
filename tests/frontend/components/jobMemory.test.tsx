/** What was measured stands in rows that say of which processes it is. */

import * as React from 'react';

import { JobMemory } from '../../../src/components/job/jobMemory';
import type { IJobResult } from '../../../src/domain';
import { draw } from '../drawing';
import { job } from '../helpers';

test('the notebook’s own process is one row, all that the curve counts another', () => {
  const result = {
    process_rss_bytes: 3 * 2 ** 20,
    statistics: { memory_peak_bytes: 5 * 2 ** 20, devices: [] },
    notes: []
  } as unknown as IJobResult;
  const drawn = draw(<JobMemory job={job('a', { state: 'succeeded', result })} />);
  const rows = [...drawn.querySelectorAll('.jp-PaddleGpu-memoryRow')];
  expect(rows.map(row => row.textContent)).toEqual([
    expect.stringMatching(/^Process.*own process.*3\.00 MiB/),
    expect.stringMatching(/^All processes.*5\.00 MiB/)
  ]);
});
