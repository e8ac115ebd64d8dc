/** What is drawn is read when it is first opened, and the style of all of it with it: who opens nothing waits for nothing. */

import * as React from 'react';

import sheet from '../../../src/style/index.raw.css';
import { useApp } from './context';

let styled: Promise<void> | null = null;

/** A part of the program that has something to draw, once the style sheet is there too. */
export async function opened<T>(part: Promise<T>): Promise<T> {
  styled ??= new Promise((done, fail) => {
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = sheet;
    link.onload = () => done();
    link.onerror = () => {
      link.remove();
      styled = null;
      fail(new Error(`${sheet} was not read.`));
    };
    document.head.append(link);
  });
  const [found] = await Promise.all([part, styled]);
  return found;
}

/** A component that is read when it is first drawn; where the server did not answer, it is read again by a click. */
export function whenOpened<P extends object>(
  read: () => Promise<React.ComponentType<P>>
): React.FunctionComponent<P> {
  let Found: React.ComponentType<P> | null = null;
  return function Opened(props) {
    const { trans } = useApp();
    const [state, setState] = React.useState<'reads' | 'read' | 'failed'>(
      Found ? 'read' : 'reads'
    );
    React.useEffect(() => {
      let isThere = true;
      const tell = (what: typeof state) => isThere && setState(what);
      if (state === 'reads') {
        opened(read()).then(
          found => {
            Found = found;
            tell('read');
          },
          () => tell('failed')
        );
      }
      return () => {
        isThere = false;
      };
    }, [state]);
    if (Found) {
      return <Found {...props} />;
    }
    return state === 'failed' ? (
      <p>
        {trans.__('The server does not answer. Jobs go on without it.')}{' '}
        <button type="button" onClick={() => setState('reads')}>
          {trans.__('Try now')}
        </button>
      </p>
    ) : null;
  };
}
