/** Somebody at a task: each click and each key is counted, the time runs from the first of them to the answer. */

import type { Locator, Page } from '@playwright/test';

/** Milliseconds from one look at the page to the next: Playwright's own waiting looks ever less often, up to a second. */
const LOOK = 20;
/** Milliseconds after which an answer does not come any more. */
const PATIENCE = 90_000;

export interface ITold {
  clicks: number;
  keys: number;
  seconds: number;
}

export class Person {
  constructor(readonly page: Page) {}

  clicks = 0;
  keys = 0;

  async click(target: Locator): Promise<void> {
    // Who waits for a button to appear has not begun yet, or is waiting for the tool.
    await this._until(async () => (await target.count()) > 0 && target.isVisible());
    this._began ||= performance.now();
    await target.click();
    this.clicks++;
  }

  /** A key, or several that are held together. */
  async press(keys: string): Promise<void> {
    this._began ||= performance.now();
    await this.page.keyboard.press(keys);
    this.keys++;
  }

  /** Into what has the keyboard, ten keys a second. */
  async type(text: string): Promise<void> {
    this._began ||= performance.now();
    await this.page.keyboard.type(text, { delay: 100 });
    this.keys += text.length;
  }

  /** One entry of a native list: two clicks, one to open it and one to choose. */
  async select(list: Locator, label: string): Promise<void> {
    this._began ||= performance.now();
    await list.selectOption({ label });
    this.clicks += 2;
  }

  /** The answer is on the screen. */
  async sees(answer: Locator): Promise<void> {
    await this._until(() => answer.evaluateAll(isInView));
    this._seen = performance.now();
  }

  /** What was opened has taken the keyboard, as far as it does. */
  async hasKeyboard(opened: Locator): Promise<void> {
    await this._until(() => opened.evaluate(node => node.contains(document.activeElement)));
  }

  get told(): ITold {
    return {
      clicks: this.clicks,
      keys: this.keys,
      seconds: Math.round((this._seen - this._began) / 100) / 10
    };
  }

  private async _until(isSo: () => Promise<boolean>): Promise<void> {
    for (const end = performance.now() + PATIENCE; !(await isSo());) {
      if (performance.now() > end) {
        throw new Error('Waited in vain.');
      }
      await this.page.waitForTimeout(LOOK);
    }
  }

  private _began = 0;
  private _seen = 0;
}

/** Whether one of them is drawn within the window, and not scrolled out of what holds it. */
function isInView(nodes: Element[]): Promise<boolean> {
  if (!nodes.length) {
    return Promise.resolve(false);
  }
  return new Promise(done => {
    const observer = new IntersectionObserver(entries => {
      observer.disconnect();
      done(entries.some(({ isIntersecting, target }) => isIntersecting && target.checkVisibility()));
    });
    nodes.forEach(node => observer.observe(node));
  });
}

/** A way to an answer; where a tool has none, why not. */
export type Way = ((person: Person) => Promise<void>) | string;

export const TASKS = [
  'find it',
  'submit',
  'why it failed',
  'other batch',
  'which GPU is free',
  'log of an earlier run',
  'compare two',
  'repeat nightly',
  'ten learning rates'
] as const;

export type Ways = Record<(typeof TASKS)[number], Way>;
