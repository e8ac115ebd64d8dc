/** Somebody at a task: each click and each key is counted, the time runs from the first of them to the answer. */

import type { Locator, Page } from '@playwright/test';

import { expect } from '../../fixtures';

export class Person {
  constructor(readonly page: Page) {}

  clicks = 0;
  keys = 0;

  async click(target: Locator): Promise<void> {
    // Who waits for a button to appear has not begun yet, or is waiting for the tool.
    await target.waitFor();
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
    await expect(answer).toBeInViewport({ timeout: 90_000 });
    this._seen = performance.now();
  }

  get told(): { clicks: number; keys: number; seconds: number } {
    return {
      clicks: this.clicks,
      keys: this.keys,
      seconds: Math.round((this._seen - this._began) / 100) / 10
    };
  }

  private _began = 0;
  private _seen = 0;
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
