/** What axe-core finds wrong with a part of the page, and how much a look at the panel has to take in. */

import type { Locator, Page } from '@playwright/test';

import { settled } from './fixtures';

interface IResult {
  violations: { id: string; nodes: { html: string }[] }[];
}

/** Each fault with the first element that has it; empty where there is none. */
export async function faults(page: Page, selector: string): Promise<string[]> {
  // Colours that fade over have too little contrast for a moment.
  await settled(page);
  await page.addScriptTag({ path: require.resolve('axe-core/axe.min.js') });
  const { violations } = await page.evaluate(async where => {
    const { axe } = window as unknown as { axe: { run(where: string): Promise<IResult> } };
    return axe.run(where);
  }, selector);
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`);
}

interface IGlance {
  /** Words of letters, and all that stands between spaces with a letter or a digit in it. */
  words: number;
  all: number;
  /** Pixels from the panel's top to Submit and to the first job. */
  submit: number;
  job: number;
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
      job: from('.jp-PaddleGpu-job')
    };
  });
}
