/** Words of the panel that are cut, or that lie outside of it, at the widths that a sidebar has. */

import type { Page } from '@playwright/test';

import { settled } from './fixtures';

/** Pixels: as narrow as it may be drawn, and as it opens first. */
const WIDTHS = [280, 340, 360];
/**
 * What one scrolls sideways, what only screen readers hold, phases whose names are not drawn where they have no room, and
 * why a job failed: its row has the first lines of what may be long, the job itself all of it.
 */
const EXEMPT =
  '[role=log], .jp-PaddleGpu-unseen, .jp-PaddleGpu-scroll, pre, option, title, .jp-mod-tight, .jp-PaddleGpu-jobReason';

/** Each text that is cut, with the width at which it is; empty where all can be read. */
export async function cutWords(page: Page, selector: string): Promise<string[]> {
  const found: string[] = [];
  const panel = page.locator(selector).first();
  const own = await panel.evaluate((node: HTMLElement) => node.style.width);
  const draw = (width: string) =>
    panel.evaluate((node: HTMLElement, to) => (node.style.width = to), width);
  for (const width of WIDTHS) {
    await draw(`${width}px`);
    await settled(page);
    const cut = await panel.evaluate(cutIn, EXEMPT);
    found.push(...cut.map(text => `${width} px: ${text}`));
  }
  await draw(own);
  return found;
}

/** In the page: texts whose right end lies outside of what clips them, and lists whose chosen word does not fit. */
function cutIn(root: HTMLElement, exempt: string): string[] {
  const found: string[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const text = walker.currentNode as Text;
    const parent = text.parentElement;
    if (!text.data.trim() || !parent?.checkVisibility() || parent.closest(exempt)) {
      continue;
    }
    range.selectNodeContents(text);
    const { left, right, width } = range.getBoundingClientRect();
    for (
      let at: Element | null = parent;
      width && at && root.contains(at);
      at = at.parentElement
    ) {
      const box = at.getBoundingClientRect();
      const { overflowX, textOverflow, webkitLineClamp } = getComputedStyle(at);
      const clips = at === root || overflowX !== 'visible';
      // What ends in dots is measured as if it fitted.
      const dotted = textOverflow === 'ellipsis' && at.scrollWidth > at.clientWidth + 1;
      // What ends after some lines is scrolled past its last one.
      const shortened = webkitLineClamp !== 'none' && at.scrollHeight > at.clientHeight + 1;
      if (dotted || shortened || (clips && (right > box.right + 1 || left < box.left - 1))) {
        found.push(`${text.data.trim().slice(0, 60)} in ${at.getAttribute('class')}`);
        break;
      }
    }
  }
  const context = document.createElement('canvas').getContext('2d');
  for (const list of root.querySelectorAll('select')) {
    const style = getComputedStyle(list);
    if (context && !list.title && list.checkVisibility()) {
      context.font = style.font;
      const word = list.selectedOptions[0]?.text ?? '';
      const arrow = style.appearance === 'none' ? 0 : 18;
      const room =
        list.clientWidth -
        parseFloat(style.paddingLeft) -
        parseFloat(style.paddingRight) -
        arrow;
      if (context.measureText(word).width > room + 1) {
        found.push(`${word} in a list of ${list.clientWidth} px`);
      }
    }
  }
  return found;
}
