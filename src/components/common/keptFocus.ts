/** Keeps the focus inside when the element that has it goes: a button whose answer takes its place, a row that moves. */

import * as React from 'react';

/** Put on the root of what is drawn; the focus goes to the nearest element around the lost one that is still there. */
export function useKeptFocus<T extends HTMLElement>(): React.RefObject<T> {
  const root = React.useRef<T>(null);
  React.useEffect(() => {
    const node = root.current;
    if (!node) {
      return;
    }
    let path: HTMLElement[] = [];
    const remember = (event: FocusEvent) => {
      path = [];
      for (let at = event.target as HTMLElement | null; at; at = at.parentElement) {
        path.push(at);
        if (at === node) {
          break;
        }
      }
    };
    const leave = (event: FocusEvent) => {
      // An element that goes while it has the focus has nobody to give it to.
      if (event.relatedTarget && !node.contains(event.relatedTarget as Node)) {
        path = [];
      }
    };
    const rescue = () => {
      const lost = path[0];
      const isLost = lost && (!lost.isConnected || lost.matches(':disabled'));
      if (!isLost || document.activeElement !== document.body) {
        return;
      }
      const around =
        path.find(one => one.isConnected && node.contains(one) && !one.matches(':disabled')) ??
        node;
      if (!around.hasAttribute('tabindex')) {
        around.setAttribute('tabindex', '-1');
      }
      around.focus({ preventScroll: true });
    };
    const observer = new MutationObserver(rescue);
    observer.observe(node, {
      childList: true,
      subtree: true,
      attributeFilter: ['disabled']
    });
    node.addEventListener('focusin', remember);
    node.addEventListener('focusout', leave);
    return () => {
      observer.disconnect();
      node.removeEventListener('focusin', remember);
      node.removeEventListener('focusout', leave);
    };
  }, []);
  return root;
}

/** JupyterLab gives the focus to all of a page that it opens; its heading says which one that is. */
export function focusHeading(page: HTMLElement | null | undefined): void {
  const heading = page?.querySelector('h1');
  if (heading && document.activeElement === page) {
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
}
