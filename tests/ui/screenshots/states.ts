/**
 * Takes every state in three themes and two languages: the panel at 280, 360 and 900 px, pages and dialogues at 1,400 and
 * 2,200 px; one sheet a state (docs/states.md). Run by `jlpm screenshots states.ts`; nothing is compared with them.
 */

import type { Page } from '@playwright/test';
import { mkdirSync, readFileSync, writeFileSync } from 'fs';
import { join, resolve } from 'path';

import { expect, openPanel, settled, test } from '../fixtures';
import { PAGE_STATES } from '../states/pages';
import { furnish, type IState, PANEL_STATES } from '../states/panel';
import {
  COMFORTABLE,
  command,
  NARROW,
  setLanguage,
  setTheme,
  setWidth,
  WIDE
} from './pictures';

const DOCS = resolve(__dirname, '..', '..', '..', 'docs');
const SHEETS = join(DOCS, 'images', 'states');
const TAKEN = resolve(__dirname, '..', 'test-results', 'pictures', 'states');
const PANEL = '#jp-PaddleGpu-panel';
const LANGUAGES = ['en', 'zh_CN'] as const;
const THEMES = ['light', 'dark', 'contrast'] as const;
const PANEL_WIDTHS = [NARROW, COMFORTABLE, WIDE];
const PAGE_WIDTHS = [1400, 2200];
/** Of a sheet beside the pictures on it; in JPEG, so that all of them together stay some megabytes. */
const SCALE = { panel: 0.5, page: 0.35 };
const QUALITY = 55;
/** Only states whose name has these words in it are taken; all are reached. */
const ONLY = process.env.STATES ?? '';

const widths = ({ part }: IState) => (part === PANEL ? PANEL_WIDTHS : PAGE_WIDTHS);
const file = ({ name }: IState) => name.replace(/[^a-z]+/g, '-');
/** What scrolls is shown as far as it is in the window. */
const shownAs = ({ part }: IState) => (part.includes(':not(') ? '#jp-main-dock-panel' : part);
const isWanted = ({ name }: IState) => name.includes(ONLY);
const picture = (state: IState, language: string, theme: string, width: number) =>
  join(TAKEN, `${file(state)}.${language}.${theme}.${width}.png`);

/** One state in each theme and width. */
async function take(page: Page, state: IState, language: string): Promise<void> {
  const panel = page.locator(PANEL);
  for (const theme of THEMES) {
    await setTheme(page, theme);
    for (const width of widths(state)) {
      if (state.part === PANEL) {
        await setWidth(page, panel, width);
      } else {
        await page.setViewportSize({ width, height: 900 });
      }
      await page.mouse.move(500, 5);
      await settled(page);
      await page
        .locator(shownAs(state))
        .first()
        .screenshot({ path: picture(state, language, theme, width) });
    }
  }
  await page.setViewportSize({ width: 1400, height: 900 });
  await setWidth(page, panel, COMFORTABLE);
}

for (const language of LANGUAGES) {
  test(`states ${language}`, async ({ page, server }) => {
    test.setTimeout(3_600_000);
    mkdirSync(TAKEN, { recursive: true });
    furnish(server);
    await setLanguage(page, server, language);
    await page.setViewportSize({ width: 1400, height: 900 });
    await page.goto(`${server.url}/lab?reset`);
    await page.locator('#jupyterlab-splash').waitFor({ state: 'detached', timeout: 180_000 });
    await openPanel(page);
    await setWidth(page, page.locator(PANEL), COMFORTABLE);
    await command(page, 'application:toggle-left-area');
    for (const state of [...PANEL_STATES, ...PAGE_STATES]) {
      await state.reach({ page, server });
      if (isWanted(state)) {
        await take(page, state, language);
      }
    }
    await setTheme(page, 'light');
  });
}

test('sheets', async ({ page }) => {
  test.setTimeout(600_000);
  mkdirSync(SHEETS, { recursive: true });
  const states = [...PANEL_STATES, ...PAGE_STATES];
  for (const state of states.filter(isWanted)) {
    const scale = state.part === PANEL ? SCALE.panel : SCALE.page;
    const rows = THEMES.map(theme =>
      LANGUAGES.flatMap(language =>
        widths(state).map(width => {
          const data = readFileSync(picture(state, language, theme, width)).toString('base64');
          return `<img style="zoom:${scale}" src="data:image/png;base64,${data}">`;
        })
      ).join('')
    );
    await page.setViewportSize({ width: 3000, height: 600 });
    await page.setContent(
      `<body style="margin:0"><div id="sheet" style="display:inline-block;background:#888">${rows
        .map(
          row => `<div style="display:flex;align-items:start;gap:6px;margin:6px">${row}</div>`
        )
        .join('')}</div>`
    );
    const sheet = page.locator('#sheet');
    await expect(sheet).toBeVisible();
    await sheet.screenshot({
      path: join(SHEETS, `${file(state)}.jpg`),
      type: 'jpeg',
      quality: QUALITY
    });
  }
  if (!ONLY) {
    const shown = states.map(
      one => `## ${one.name}\n\n![${one.name}](images/states/${file(one)}.jpg)\n`
    );
    writeFileSync(join(DOCS, 'states.md'), `${HEAD}\n${shown.join('\n')}`);
  }
});

const HEAD = `# Every state, in three themes and two languages

Written by \`jlpm screenshots states.ts\`, by the same table that axe-core goes through (\`tests/ui/states/\`).
Rows: light, dark, high contrast.
Columns: English, then Chinese; the panel at 280, 360 and 900 px, pages and dialogues in windows of 1,400 and 2,200 px.
`;
