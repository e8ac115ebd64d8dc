/** Names and values of a description list, without those that have no value. */

import * as React from 'react';

export type FactRow = [name: string, value: React.ReactNode];

export function FactRows({ rows }: { rows: readonly FactRow[] }): JSX.Element {
  return (
    <>
      {rows
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </>
  );
}
