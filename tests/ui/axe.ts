/** What axe-core finds wrong with a part of the page, in each look, and how much a look at the panel has to take in. */

import type { Locator, Page } from '@playwright/test';

import { settled } from './fixtures';

/** JupyterLab's themes, by their packages. */
const THEMES = {
  light: 'theme-light-extension',
  dark: 'theme-dark-extension',
  'high contrast': 'theme-dark-high-contrast-extension'
};
/** What depends on colours; all else is the same in each theme. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

interface IAxe {
  run(
    where: string,
    options: object
  ): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

/**
 * Each fault with the first element that has it; empty where there is none. All rules as the page is, and those of colours
 * in each of JupyterLab's themes.
 */
export async function faults(page: Page, selector: string): Promise<string[]> {
  // Colours that fade over have too little contrast for a moment.
  await settled(page);
  if (!(await page.evaluate(() => 'axe' in window))) {
    await page.addScriptTag({ path: require.resolve('axe-core/axe.min.js') });
  }
  return page.evaluate(
    async ([where, themes, colours]) => {
      const { axe } = window as unknown as { axe: IAxe };
      const found: string[] = [];
      const look = async (name: string, options: object) => {
        const { violations } = await axe.run(where, options);
        found.push(
          ...violations.map(({ id, nodes }) => `${name}, ${id}: ${nodes[0].html.slice(0, 200)}`)
        );
      };
      await look('as it is', { resultTypes: ['violations'] });
      const { dataset } = document.body;
      const { jpThemeLight, jpThemeName } = dataset;
      for (const [name, folder] of Object.entries(themes)) {
        // As JupyterLab puts a theme on, but beside the one that is worn: it is the later sheet that holds.
        const sheet = document.createElement('link');
        sheet.rel = 'stylesheet';
        sheet.href = `/lab/api/themes/@jupyterlab/${folder}/index.css`;
        const loaded = new Promise((done, fail) => {
          sheet.onload = done;
          sheet.onerror = fail;
        });
        document.body.append(sheet);
        await loaded;
        dataset.jpThemeLight = String(name === 'light');
        dataset.jpThemeName = name;
        for (const one of document.getAnimations()) {
          if (one.effect?.getComputedTiming().endTime !== Infinity) {
            one.finish();
          }
        }
        await look(name, { resultTypes: ['violations'], runOnly: colours });
        sheet.remove();
      }
      Object.assign(dataset, { jpThemeLight, jpThemeName });
      return found;
    },
    [selector, THEMES, COLOURS] as const
  );
}

interface IGlance {
  /** Words of letters, and all that stands between spaces with a letter or a digit in it. */
  words: number;
  all: number;
  /** Pixels from the panel's top to Submit and to the first job. */
  submit: number;
  job: number;
  /** Pixels that lie below the panel's lower edge, to be scrolled to. */
  below: number;
}

/** What a look at the panel has to take in, without what only screen readers and lists hold, and without a program's own lines. */
export async function glance(panel: Locator): Promise<IGlance> {
  return panel.evaluate(node => {
    const hidden = 'option, table, [hidden], .jp-PaddleGpu-unseen, title, [role=log]';
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    const texts: string[] = [];
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      if (parent && !parent.closest(hidden) && parent.checkVisibility()) {
        texts.push(walker.currentNode.textContent ?? '');
      }
    }
    const count = (pattern: RegExp) =>
      texts.reduce((sum, text) => sum + (text.match(pattern) ?? []).length, 0);
    const top = node.getBoundingClientRect().top;
    const from = (selector: string) => {
      const found = node.querySelector(selector)?.getBoundingClientRect();
      return found ? Math.round(found.top - top) : 0;
    };
    return {
      words: count(/[\p{L}][\p{L}’'-]*/gu),
      all: count(/\S*[\p{L}\d]\S*/gu),
      submit: from('.jp-PaddleGpu-submit'),
      job: from('.jp-PaddleGpu-job'),
      below: [...node.querySelectorAll('.jp-PaddleGpu-body, .jp-PaddleGpu-foot')].reduce(
        (sum, one) => sum + one.scrollHeight - one.clientHeight,
        0
      )
    };
  });
}
