/** An explanation behind ⓘ: there for those who ask, out of the way for all others. */

import * as React from 'react';

import { useApp } from './context';
import { Prose } from './pieces';

/** Room before the sign that keeps it on the line of the last word. */
export const NO_BREAK = '\u00a0';

/** Pixels between an explanation and the edge. */
const EDGE = 6;

export function Info(props: { about: string; children: string }): JSX.Element {
  const { trans } = useApp();
  const [open, setOpen] = React.useState(false);
  const id = React.useId();
  const bubble = React.useRef<HTMLSpanElement>(null);
  React.useLayoutEffect(() => {
    const node = bubble.current;
    if (!open || !node) {
      return;
    }
    keepWithin(node);
    // What it is part of may get narrower while it stands there.
    const observer = new ResizeObserver(() => keepWithin(node));
    observer.observe(frameOf(node));
    return () => observer.disconnect();
  }, [open]);
  return (
    <span
      className="jp-PaddleGpu-info"
      onBlur={event => {
        if (!event.currentTarget.contains(event.relatedTarget)) {
          setOpen(false);
        }
      }}
      onKeyDown={event => {
        if (event.key === 'Escape' && open) {
          event.stopPropagation();
          setOpen(false);
        }
      }}
    >
      <button
        type="button"
        className="jp-PaddleGpu-infoButton"
        aria-label={trans.__('About: %1', props.about)}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        <span aria-hidden="true">ⓘ</span>
      </button>
      <span ref={bubble} id={id} className="jp-PaddleGpu-bubble" role="status" hidden={!open}>
        {open && <Prose text={props.children} />}
      </span>
    </span>
  );
}

function frameOf(bubble: HTMLElement): Element {
  return bubble.closest('.jp-PaddleGpu') ?? document.body;
}

/** It stands centered below its sign; beside the edge of what it is part of it is moved aside, so that nothing is cut. */
function keepWithin(bubble: HTMLElement): void {
  bubble.style.marginLeft = '';
  const { left, right } = bubble.getBoundingClientRect();
  const frame = frameOf(bubble).getBoundingClientRect();
  const beyond =
    Math.max(0, right - frame.right + EDGE) || Math.min(0, left - frame.left - EDGE);
  bubble.style.marginLeft = `${-beyond}px`;
}
