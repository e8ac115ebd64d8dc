/** What axe-core says of every state. */

import { faults } from './axe';
import { expect, test } from './fixtures';
import { PAGE_STATES } from './states/pages';
import { enter, furnish, LANGUAGE, PANEL_STATES } from './states/panel';

const STATES = [...PANEL_STATES, ...PAGE_STATES];

test('no state has a fault, in any theme', async ({ page, server }) => {
  furnish(server);
  await enter({ page, server });
  for (const { name, part, reach } of STATES) {
    await test.step(name, async () => {
      await reach({ page, server });
      expect.soft(await faults(page, part), name).toEqual([]);
    });
  }
});

// What depends on a theme was looked at in English; here is the server of the first walk, with its jobs.
test('nor in Chinese', async ({ page, server }) => {
  furnish(server);
  server.set(LANGUAGE, { locale: 'zh_CN' });
  try {
    await enter({ page, server });
    for (const { name, part, reach } of STATES) {
      await test.step(name, async () => {
        await reach({ page, server });
        expect.soft(await faults(page, part, false), name).toEqual([]);
      });
    }
  } finally {
    server.set(LANGUAGE, { locale: 'default' });
  }
});
