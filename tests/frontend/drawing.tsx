/** Draws components into a page of their own, one a test. */

import { CommandRegistry } from '@lumino/commands';
import * as React from 'react';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';

import { AppProvider } from '../../src/components/common/context';
import { trans } from './helpers';

let root: Root;
let box: HTMLElement;

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  box = document.createElement('div');
  document.body.append(box);
  root = createRoot(box);
});

afterEach(() => {
  act(() => root.unmount());
  box.remove();
});

/** Draw, or draw anew; answers the element that holds what was drawn. */
export function draw(what: React.ReactElement): HTMLElement {
  const app = {
    trans,
    language: 'en',
    commands: new CommandRegistry(),
    engineTitle: (name: string) => name,
    deviceOf: () => undefined
  };
  act(() => root.render(<AppProvider value={app}>{what}</AppProvider>));
  return box;
}

/** Press the first button whose text begins so. */
export function press(text: string): void {
  const button = [...box.querySelectorAll('button')].find(one =>
    one.textContent?.startsWith(text)
  );
  act(() => button?.click());
}
