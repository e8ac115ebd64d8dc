/** A card of the job's overview: a name, the newest figure, and what stands below. */

import * as React from 'react';
import { Space } from '../common/pieces';

export function Card(props: {
  title: string;
  /** The newest figure, or buttons. */
  aside?: React.ReactNode;
  /** Takes the room of two where there is room. */
  wide?: boolean;
  children: React.ReactNode;
}): JSX.Element {
  const id = React.useId();
  return (
    <section
      className={`jp-PaddleGpu-card${props.wide ? ' jp-mod-wide' : ''}`}
      aria-labelledby={id}
    >
      <header className="jp-PaddleGpu-row jp-PaddleGpu-wrap">
        <h2 id={id}>{props.title}</h2>
        <Space />
        {props.aside}
      </header>
      {props.children}
    </section>
  );
}
