/** Keeps JupyterLab's messages beside the panel: at the window's right edge they would lie over Submit. */

import type { PanelWidget } from '../panelWidget';

/** The room that messages leave free at the right edge, in pixels. */
const ROOM = '--jp-PaddleGpu-room';
/** Pixels of the sidebar's own tabs, which stand between the panel and the edge. */
const TABS = 60;
/** Pixels that a message is wide; without so much room beside the panel it stays where it is. */
const MESSAGE = 340;

export function keepMessagesBeside(panel: PanelWidget): void {
  const observer = new ResizeObserver(() => {
    const { left, right, width } = panel.node.getBoundingClientRect();
    const isAtEdge = width > 0 && window.innerWidth - right < TABS && left > MESSAGE;
    const room = isAtEdge ? window.innerWidth - left : 0;
    document.body.style.setProperty(ROOM, `${room}px`);
  });
  observer.observe(panel.node);
  panel.disposed.connect(() => {
    observer.disconnect();
    document.body.style.removeProperty(ROOM);
  });
}
