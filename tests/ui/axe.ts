/** What axe-core finds wrong with a part of the page. */

import type { Page } from '@playwright/test';

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
