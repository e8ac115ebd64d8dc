/** Takes the pictures of a training that fits no card here. */

import { writeFileSync } from 'fs';
import { join } from 'path';

import { SMALL_CARDS, wide } from '../cards';
import { expect, openNotebook, openPanel, test } from '../fixtures';
import { both, COMFORTABLE, picture, setLanguage, setWidth } from './pictures';

test.use({ serverOptions: { cards: SMALL_CARDS } });

for (const language of ['en', 'zh_CN'] as const) {
  test(`refusal ${language}`, async ({ page, server }) => {
    writeFileSync(join(server.root, 'wide.ipynb'), JSON.stringify(wide()));
    await setLanguage(page, server, language);
    await openNotebook(page, server, 'wide.ipynb');
    const panel = await openPanel(page);
    await setWidth(page, panel, COMFORTABLE);
    await panel.locator('.jp-PaddleGpu-invitation button').click();
    const refusal = panel.locator('[data-code=fits_nowhere]');
    await expect(refusal.locator('button').nth(1)).toBeVisible({ timeout: 180_000 });
    await both(page, 'refusal', language.slice(0, 2), name => picture(page, panel, name));
  });
}
