/**
 * What becomes of the page's questions to our server: let through, held, refused, or answered here. It stands in the page
 * itself: Playwright's own routes are not asked on a second page, nor after one was taken away.
 */

import type { Page } from '@playwright/test';

/** `hold`: until it is let through; `refuse`: as if nobody answered; an object: the answer; null: let through. */
type Way = 'hold' | 'refuse' | object | null;

/** Put the gate up; it holds for every address that is opened afterwards. */
export async function putGate(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const own = window.fetch.bind(window);
    const wayOf = (asked: RequestInfo | URL): Way => {
      const url = String(asked instanceof Request ? asked.url : asked);
      const [, path] = /\/paddle-gpu\/api\/(\w+)/.exec(url) ?? [];
      return path ? JSON.parse(sessionStorage.getItem(`gate ${path}`) ?? 'null') : null;
    };
    window.fetch = async (asked, options) => {
      while (wayOf(asked) === 'hold') {
        await new Promise(done => setTimeout(done, 50));
      }
      const way = wayOf(asked);
      if (way === 'refuse') {
        throw new TypeError('Failed to fetch');
      }
      return way ? Response.json(way) : own(asked, options);
    };
  });
}

/** Say what becomes of the questions that begin with such a word, from now on. */
export async function gate(page: Page, path: string, way: Way): Promise<void> {
  await page.evaluate(([key, value]) => sessionStorage.setItem(key, value), [
    `gate ${path}`,
    JSON.stringify(way)
  ] as const);
}
