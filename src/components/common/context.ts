/** What every component may use: translation, language, commands. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ISignal } from '@lumino/signaling';
import * as React from 'react';

import type { IDevice } from '../../domain';

export interface IApp {
  trans: TranslationBundle;
  /** Language tag for dates. */
  language: string;
  commands: CommandRegistry;
  /** What people call an engine, by its name. */
  engineTitle: (name: string) => string;
  /** One of this machine's devices as it is now. */
  deviceOf: (id: string) => IDevice | undefined;
}

const AppContext = React.createContext<IApp | null>(null);

export const AppProvider = AppContext.Provider;

export function useApp(): IApp {
  const app = React.useContext(AppContext);
  if (!app) {
    throw new Error('A component of Paddle GPU stands outside its AppProvider.');
  }
  return app;
}

/** Draw the component anew on each emission, at most once per frame. */
export function useSignal(signal: ISignal<unknown, unknown>): void {
  const [, draw] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => {
    let frame = 0;
    const slot = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        draw();
      });
    };
    signal.connect(slot);
    // What was emitted between the first drawing and now.
    draw();
    return () => {
      cancelAnimationFrame(frame);
      signal.disconnect(slot);
    };
  }, [signal]);
}

/** Brings an element into view when `sign` becomes true: what a command elsewhere led to may lie far down. */
export function useInView<T extends HTMLElement>(sign: boolean): React.RefObject<T> {
  const ref = React.useRef<T>(null);
  React.useEffect(() => {
    if (sign) {
      ref.current?.scrollIntoView({ block: 'nearest' });
    }
  }, [sign]);
  return ref;
}

/** Width of an element in pixels, as it changes; the element may come and go. */
export function useWidth(): [React.RefCallback<HTMLElement>, number] {
  const [node, setNode] = React.useState<HTMLElement | null>(null);
  const [width, setWidth] = React.useState(0);
  // Before anything is painted: what stands below would jump.
  React.useLayoutEffect(() => {
    if (!node) {
      return;
    }
    const observer = new ResizeObserver(() => setWidth(node.clientWidth));
    observer.observe(node);
    setWidth(node.clientWidth);
    return () => observer.disconnect();
  }, [node]);
  return [setNode, width];
}

/** Draw anew each second while time goes on. */
export function useTick(active: boolean): void {
  const [, tick] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => {
    if (!active) {
      return;
    }
    const timer = window.setInterval(() => !document.hidden && tick(), 1_000);
    return () => window.clearInterval(timer);
  }, [active]);
}
