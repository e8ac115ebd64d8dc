/** What axe-core says of every state, and whether each word of the panel can be read however narrow it is. */

import type { Page } from '@playwright/test';

import { faults } from './axe';
import { cutWords } from './cut';
import { expect, test } from './fixtures';
import { PAGE_STATES } from './states/pages';
import { enter, furnish, LANGUAGE, PANEL, PANEL_STATES } from './states/panel';

const STATES = [...PANEL_STATES, ...PAGE_STATES];
const cut = (page: Page, part: string) => (part === PANEL ? cutWords(page, part) : []);

test('no state has a fault, in any theme', async ({ page, server }) => {
  furnish(server);
  await enter({ page, server });
  for (const { name, part, reach } of STATES) {
    await test.step(name, async () => {
      await reach({ page, server });
      expect
        .soft([...(await faults(page, part)), ...(await cut(page, part))], name)
        .toEqual([]);
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
        expect
          .soft([...(await faults(page, part, false)), ...(await cut(page, part))], name)
          .toEqual([]);
      });
    }
  } finally {
    server.set(LANGUAGE, { locale: 'default' });
  }
});
