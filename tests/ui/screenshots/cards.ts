/** Takes the pictures of live cards, of a question and of what-if, with a stand-in for NVML's library. */

import { writeFileSync } from 'fs';
import { join } from 'path';

import { tagger, WITH_CARDS } from '../cards';
import { expect, openNotebook, openPanel, test } from '../fixtures';
import { both, COMFORTABLE, NARROW, picture, setLanguage, setWidth } from './pictures';

test.use(WITH_CARDS);

for (const language of ['en', 'zh_CN'] as const) {
  const short = language.slice(0, 2);

  test(`cards ${language}`, async ({ page, server }) => {
    test.setTimeout(300_000);
    writeFileSync(join(server.root, 'tagger.ipynb'), JSON.stringify(tagger(256, 512)));
    await setLanguage(page, server, language);
    await openNotebook(page, server, 'tagger.ipynb');
    const panel = await openPanel(page);
    await setWidth(page, panel, COMFORTABLE);
    const take = (name: string) => picture(page, panel, name);
    await panel.locator('.jp-PaddleGpu-invitation button').click();
    const answer = panel.locator('.jp-PaddleGpu-question input');
    await expect(answer).toBeVisible({ timeout: 120_000 });
    await answer.fill('30000');
    await both(page, 'question', short, take);
    await answer.press('Enter');
    await expect(panel.locator('.jp-PaddleGpu-remedies')).toBeVisible({ timeout: 120_000 });
    await both(page, 'cards', short, take);
    await setWidth(page, panel, NARROW);
    await take(`cards-narrow-${short}`);
    await setWidth(page, panel, COMFORTABLE);
    const advice = panel.locator('section', { has: page.locator('.jp-PaddleGpu-remedies') });
    await advice.locator('[aria-expanded]').first().click();
    const length = panel.locator('[name=sequence_length]');
    await length.fill('512');
    await length.press('Enter');
    await expect(panel.locator('.jp-PaddleGpu-was')).toBeVisible();
    await expect(panel.locator('.jp-PaddleGpu-busy')).toHaveCount(0, { timeout: 120_000 });
    await take(`whatif-light-${short}`);
  });
}
