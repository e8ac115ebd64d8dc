import * as React from 'react';

import type { IVariable } from '../../domain';
import { roleName } from '../../models/jobs/runs';
import { useApp } from '../common/context';

/** What a value is called in a form, with what it is to the training, or which call takes it and where. */
export function VariableName({ variable }: { variable: IVariable }): JSX.Element {
  const { trans } = useApp();
  const { name, role, call, cell } = variable;
  const said = call
    ? trans.__('%1, cell %2', call, cell + 1)
    : role && roleName(variable, trans);
  return (
    <span>
      {name ? <code>{name}</code> : said}
      {name && said && <small className="jp-PaddleGpu-muted"> {said}</small>}
    </span>
  );
}
