/** A table with many columns, which scrolls by itself. */

import * as React from 'react';

export function WideTable(props: {
  label: string;
  columns: readonly string[];
  children: React.ReactNode;
}): JSX.Element {
  const { label, columns, children } = props;
  return (
    <div className="jp-PaddleGpu-scrolls" tabIndex={0} role="group" aria-label={label}>
      <table className="jp-PaddleGpu-compared">
        <thead>
          <tr>
            {columns.map((name, index) => (
              <th key={index} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
