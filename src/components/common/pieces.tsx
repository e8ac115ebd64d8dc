/** Small pieces that all parts of the interface are made of. */

import * as React from 'react';

import type { IMessage } from '../../domain';
import { useApp } from './context';

/** A part of the panel under a quiet heading. */
export function Section(props: {
  title: string;
  aside?: React.ReactNode;
  children: React.ReactNode;
}): JSX.Element {
  const id = React.useId();
  return (
    <section className="jp-PaddleGpu-section" aria-labelledby={id}>
      <header className="jp-PaddleGpu-row">
        <h2 id={id}>{props.title}</h2>
        <span className="jp-PaddleGpu-space" />
        {props.aside}
      </header>
      {props.children}
    </section>
  );
}

export function Chip(props: { children: React.ReactNode; title?: string }): JSX.Element {
  return (
    <span className="jp-PaddleGpu-chip" title={props.title}>
      {props.children}
    </span>
  );
}

/** A name of any length: where it needs a further line, that begins at one of its words. */
export function Name({ text }: { text: string }): JSX.Element {
  return (
    <>
      {text.split(/(?<=[_./])/).map((word, index) => (
        <React.Fragment key={index}>
          {word}
          <wbr />
        </React.Fragment>
      ))}
    </>
  );
}

type ButtonProps = React.ButtonHTMLAttributes<HTMLButtonElement> & {
  look?: 'main' | 'quiet' | 'link';
};

export function Button({ look = 'quiet', className, ...props }: ButtonProps): JSX.Element {
  const names = ['jp-PaddleGpu-button', `jp-mod-${look}`, className];
  return <button type="button" {...props} className={names.filter(Boolean).join(' ')} />;
}

/** A sentence of the server's; what stands in backticks is typed as it is. */
export function Prose({ text }: { text: string }): JSX.Element {
  return (
    <>
      {text
        .split(/`([^`]+)`([.,;:。，；：]?)/)
        .map((part, index, parts) =>
          index % 3 === 0 ? (
            part
          ) : index % 3 === 1 ? (
            <Command key={index} text={part} end={parts[index + 1]} />
          ) : null
        )}
    </>
  );
}

/** A program's name with something behind it; `0.1, 0.01` and `batch_size = 64` are values and code. */
const COMMAND = /^[%/]?[a-z][\w./-]* (?!=)/;

/** What is to be typed in a terminal, and the sentence's mark behind it; a click copies it. */
function Command({ text, end }: { text: string; end: string }): JSX.Element {
  const { trans } = useApp();
  const [copied, setCopied] = React.useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <>
      <span className="jp-PaddleGpu-command">
        <code>{text}</code>
        {end}
      </span>
      {COMMAND.test(text) && (
        <>
          {' '}
          <Button
            look="link"
            onClick={() => void copy()}
            aria-label={trans.__('Copy %1', text)}
          >
            {copied ? trans.__('Copied') : trans.__('Copy')}
          </Button>
        </>
      )}
    </>
  );
}

const SIGNS = { info: 'i', warning: '!', error: '!' } as const;

/** A sentence with its next step: told apart by a sign and an edge, not by colour alone. */
export function Note(props: {
  kind: 'info' | 'warning' | 'error';
  message: IMessage;
  children?: React.ReactNode;
}): JSX.Element {
  const { trans } = useApp();
  const { kind, message } = props;
  const name = {
    info: trans.__('Note'),
    warning: trans.__('Attention'),
    error: trans.__('Error')
  }[kind];
  return (
    <div
      className="jp-PaddleGpu-note"
      // Not a class: JupyterLab's dialogs accept nothing while one of their children is a `jp-mod-error`.
      data-kind={kind}
      role={kind === 'error' ? 'alert' : 'note'}
      data-code={message.code}
    >
      <span className="jp-PaddleGpu-sign" role="img" aria-label={name}>
        {SIGNS[kind]}
      </span>
      <div className="jp-PaddleGpu-noteText">
        <div>
          <Prose text={message.message} />
        </div>
        {message.hint && (
          <div className="jp-PaddleGpu-muted">
            <Prose text={message.hint} />
          </div>
        )}
        {props.children && <div className="jp-PaddleGpu-actions">{props.children}</div>}
      </div>
    </div>
  );
}

/** What is said beside the main thing. */
export function Muted(props: {
  as?: 'p' | 'div';
  small?: boolean;
  children: React.ReactNode;
}): JSX.Element {
  const Tag = props.as ?? 'span';
  return (
    <Tag className={`jp-PaddleGpu-muted${props.small ? ' jp-PaddleGpu-small' : ''}`}>
      {props.children}
    </Tag>
  );
}

/** A list of which one is chosen. */
export function List(props: React.SelectHTMLAttributes<HTMLSelectElement>): JSX.Element {
  return <select className="jp-PaddleGpu-input" {...props} />;
}

/** A field of a form with its name before it. */
export function Field(props: { children: React.ReactNode }): JSX.Element {
  return <label className="jp-PaddleGpu-field">{props.children}</label>;
}

/** Things beside each other; with `wrap` they take further lines where there is no room. */
export function Row(props: { wrap?: boolean; children: React.ReactNode }): JSX.Element {
  return (
    <div className={`jp-PaddleGpu-row${props.wrap ? ' jp-PaddleGpu-wrap' : ''}`}>
      {props.children}
    </div>
  );
}

/** Takes the room that is left in a row, so that what follows stands at its end. */
export function Space(): JSX.Element {
  return <span className="jp-PaddleGpu-space" />;
}

/** What goes on now, told to screen readers as well. */
export function Busy(props: { children: React.ReactNode }): JSX.Element {
  return (
    <div className="jp-PaddleGpu-busy" role="status">
      <span className="jp-PaddleGpu-spinner" aria-hidden="true" />
      <span>{props.children}</span>
    </div>
  );
}

/** One part of a bar, in percent of its length. */
export interface IBarPart {
  share: number;
  look: string;
  title?: string;
}

export function Bar(props: { parts: IBarPart[]; label: string; thin?: boolean }): JSX.Element {
  return (
    <div
      className={`jp-PaddleGpu-bar${props.thin ? ' jp-mod-thin' : ''}`}
      role="img"
      aria-label={props.label}
    >
      {props.parts.map((part, index) => (
        <i
          key={index}
          className={`jp-PaddleGpu-fill jp-mod-${part.look}`}
          style={{ width: `${Math.max(0, Math.min(100, part.share))}%` }}
          title={part.title}
        />
      ))}
    </div>
  );
}
