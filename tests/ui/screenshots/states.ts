/**
 * Takes every state in three themes and two languages: the panel at 280, 360 and 900 px, pages and dialogs at 1,400 and
 * 2,200 px; one sheet a state (docs/states.md). Run by `jlpm screenshots states.ts`; nothing is compared with them.
 *
 * A state that is not reached is told at the end, and the others are taken. What was taken since the last build is not
 * taken again, so that a second run goes on; `STATES=words` takes the states with these words in their names, anew.
 */

import type { Page } from '@playwright/test';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'fs';
import { join, resolve } from 'path';

import { SMALL_CARDS } from '../cards';
import { command, expect, settled, test } from '../fixtures';
import { LabServer } from '../server';
import { CARD_STATES, furnishCards } from '../states/cards';
import { PAGE_STATES } from '../states/pages';
import { enter, furnish, type IState, PANEL, PANEL_STATES } from '../states/panel';
import { type Theme, THEMES, wear } from '../themes';
import { COMFORTABLE, NARROW, setLanguage, setWidth, WIDE } from './pictures';

const ROOT = resolve(__dirname, '..', '..', '..');
const DOCS = join(ROOT, 'docs');
const SHEETS = join(DOCS, 'images', 'states');
const TAKEN = resolve(__dirname, '..', 'test-results', 'pictures', 'states');
const LANGUAGES = ['en', 'zh_CN'] as const;
const WORN = Object.keys(THEMES) as Theme[];
const PANEL_WIDTHS = [NARROW, COMFORTABLE, WIDE];
const PAGE_WIDTHS = [1400, 2200];
/** The window in which the panel has to show what matters, and how high it may get for what is unfolded. */
const WINDOW = 900;
const HIGHEST = 2000;
/** Of a sheet beside the pictures on it; in JPEG, so that all of them together stay some megabytes. */
const SCALE = { panel: 0.5, page: 0.35 };
const QUALITY = 55;
const ONLY = process.env.STATES ?? '';

interface IGroup {
  name: string;
  cards: string[];
  furnish: (server: LabServer) => void;
  states: readonly IState[];
}

const GROUPS: readonly IGroup[] = [
  { name: 'without cards', cards: [], furnish, states: [...PANEL_STATES, ...PAGE_STATES] },
  { name: 'beside cards', cards: SMALL_CARDS, furnish: furnishCards, states: CARD_STATES }
];
const STATES = GROUPS.flatMap(({ states }) => states);

const widths = ({ part }: IState) => (part === PANEL ? PANEL_WIDTHS : PAGE_WIDTHS);
const file = ({ name }: IState) => name.toLowerCase().replace(/[^a-z]+/g, '-');
/** What scrolls is shown as far as it is in the window. */
const shownAs = ({ part }: IState) => (part.includes(':not(') ? '#jp-main-dock-panel' : part);
const isWanted = ({ name }: IState) => name.includes(ONLY);
const picture = (state: IState, language: string, theme: string, width: number) =>
  join(TAKEN, `${file(state)}.${language}.${theme}.${width}.png`);
const pictures = (state: IState, language: string) =>
  WORN.flatMap(theme => widths(state).map(width => picture(state, language, theme, width)));

/** Whether all pictures of a state are there, of what is built now. */
function isTaken(state: IState, language: string): boolean {
  const built = statSync(join(ROOT, 'labextension', 'package.json')).mtimeMs;
  return (
    !ONLY &&
    pictures(state, language).every(name => existsSync(name) && statSync(name).mtimeMs > built)
  );
}

/** One state in each width and theme. */
async function take(page: Page, state: IState, language: string): Promise<void> {
  const panel = page.locator(PANEL);
  const shown = page.locator(shownAs(state)).first();
  for (const width of widths(state)) {
    if (state.part === PANEL) {
      await setWidth(page, panel, width);
      await page.setViewportSize({ width: 1400, height: await height(page) });
    } else {
      await page.setViewportSize({ width, height: WINDOW });
    }
    await page.mouse.move(500, 5);
    for (const theme of WORN) {
      await wear(page, theme);
      await settled(page);
      await shown.screenshot({ path: picture(state, language, theme, width), scale: 'css' });
    }
    await page.setViewportSize({ width: 1400, height: WINDOW });
  }
  await wear(page, null);
  await setWidth(page, panel, COMFORTABLE);
}

/** A window in which nothing of the panel has to be scrolled to, where that is not too high. */
async function height(page: Page): Promise<number> {
  const below = await page
    .locator(`${PANEL} .jp-PaddleGpu-body`)
    .first()
    .evaluate(node => node.scrollHeight - node.clientHeight);
  return Math.min(HIGHEST, WINDOW + below);
}

/** Go through all states of a group; those that were not reached, with the reason. */
async function walk(
  page: Page,
  server: LabServer,
  { furnish: put, states }: IGroup,
  language: string
): Promise<string[]> {
  mkdirSync(TAKEN, { recursive: true });
  put(server);
  await setLanguage(page, server, language);
  await page.setViewportSize({ width: 1400, height: WINDOW });
  await enter({ page, server });
  await setWidth(page, page.locator(PANEL), COMFORTABLE);
  await command(page, 'application:toggle-left-area');
  const missed: string[] = [];
  for (const state of states) {
    try {
      await state.reach({ page, server });
      if (isWanted(state) && !isTaken(state, language)) {
        await take(page, state, language);
      }
    } catch (reason) {
      missed.push(`${state.name}: ${reason}`);
    }
  }
  return missed;
}

for (const group of GROUPS) {
  for (const language of LANGUAGES) {
    test(`states ${group.name} ${language}`, async ({ page, server }) => {
      test.skip(!group.states.some(isWanted), 'none is wanted');
      test.setTimeout(1_800_000);
      page.setDefaultTimeout(60_000);
      const other = group.cards.length ? new LabServer({ cards: group.cards }) : null;
      try {
        await other?.start();
        expect(await walk(page, other ?? server, group, language)).toEqual([]);
      } finally {
        await other?.dispose();
      }
    });
  }
}

test('sheets', async ({ page }) => {
  test.setTimeout(600_000);
  mkdirSync(SHEETS, { recursive: true });
  const there = (state: IState) =>
    LANGUAGES.every(language => pictures(state, language).every(existsSync));
  for (const state of STATES.filter(isWanted).filter(there)) {
    const scale = state.part === PANEL ? SCALE.panel : SCALE.page;
    const rows = WORN.map(theme =>
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
  const shown = STATES.map(
    one => `## ${one.name}\n\n![${one.name}](images/states/${file(one)}.jpg)\n`
  );
  if (STATES.every(state => existsSync(join(SHEETS, `${file(state)}.jpg`)))) {
    writeFileSync(join(DOCS, 'states.md'), `${HEAD}\n${shown.join('\n')}`);
  }
  expect(STATES.filter(state => isWanted(state) && !there(state))).toEqual([]);
});

const HEAD = `# Every state, in three themes and two languages

Written by \`jlpm screenshots states.ts\`, by the same table that axe-core goes through (\`tests/ui/states/\`).
Rows: light, dark, high contrast.
Columns: English, then Chinese; the panel at 280, 360 and 900 px, pages and dialogs in windows of 1,400 and 2,200 px.
`;
