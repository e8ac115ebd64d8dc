/** What axe-core finds wrong with a part of the page, in each look, and how much a look at the panel has to take in. */

import type { Locator, Page } from '@playwright/test';

import { settled } from './fixtures';
import { type Theme, THEMES, wear } from './themes';

/** What depends on colours; all else is the same in each theme, and colours are the same in each language. */
const COLOURS = ['color-contrast', 'link-in-text-block'];
const WITHOUT_COLOURS = {
  rules: Object.fromEntries(COLOURS.map(rule => [rule, { enabled: false }]))
};

interface IAxe {
  run(
    where: string,
    options: object
  ): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

/**
 * Each fault with the first element that has it; empty where there is none. All rules as the page is, which is light, and
 * those of colours in each of the other themes; without `worn` those of colours in none.
 */
export async function faults(page: Page, selector: string, worn = true): Promise<string[]> {
  // Colours that fade over have too little contrast for a moment.
  await settled(page);
  if (!(await page.evaluate(() => 'axe' in window))) {
    await page.addScriptTag({ path: require.resolve('axe-core/axe.min.js') });
  }
  const found = await look(page, selector, 'as it is', worn ? {} : WITHOUT_COLOURS);
  if (worn) {
    for (const theme of (Object.keys(THEMES) as Theme[]).filter(one => one !== 'light')) {
      await wear(page, theme);
      found.push(...(await look(page, selector, theme, { runOnly: COLOURS })));
    }
    await wear(page, null);
  }
  return found;
}

async function look(
  page: Page,
  selector: string,
  name: string,
  rules: object
): Promise<string[]> {
  return page.evaluate(
    async ([where, called, which]) => {
      const { axe } = window as unknown as { axe: IAxe };
      const { violations } = await axe.run(where, { resultTypes: ['violations'], ...which });
      return violations.map(
        ({ id, nodes }) => `${called}, ${id}: ${nodes[0].html.slice(0, 200)}`
      );
    },
    [selector, name, rules] as const
  );
}

interface IGlance {
  /** Words of letters, and all that stands between spaces with a letter or a digit in it; Chinese by its dictionary. */
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
    /** A text, or, where it is cut after some lines, the words that are in them. */
    const seen = (text: Text, parent: Element): string[] => {
      let cut: Element | null = parent;
      while (cut && getComputedStyle(cut).webkitLineClamp === 'none') {
        cut = cut.parentElement;
      }
      if (!cut) {
        return [text.data];
      }
      const { bottom } = cut.getBoundingClientRect();
      const range = document.createRange();
      return [...text.data.matchAll(/\S+/g)].flatMap(({ 0: word, index }) => {
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        return range.getBoundingClientRect().bottom <= bottom ? [word] : [];
      });
    };
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      if (parent && !parent.closest(hidden) && parent.checkVisibility()) {
        texts.push(...seen(walker.currentNode as Text, parent));
      }
    }
    // Chinese has no spaces between its words.
    const chinese = new Intl.Segmenter('zh', { granularity: 'word' });
    const parts = texts.flatMap(text => text.split(/(\p{Script=Han}+)/u));
    const count = (pattern: RegExp) =>
      parts.reduce(
        (sum, part) =>
          sum +
          (/\p{Script=Han}/u.test(part)
            ? [...chinese.segment(part)].length
            : (part.match(pattern) ?? []).length),
        0
      );
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
