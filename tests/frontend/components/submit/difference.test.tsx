/** A difference names its cells in the reader's language, and nothing of the cells' own lines is touched. */

import * as React from 'react';

import { Difference } from '../../../../src/components/submit/difference';
import type { Training } from '../../../../src/models/estimate/training';
import { draw } from '../../drawing';
import { trans } from '../../helpers';

const DIFFERENCE = `--- cell 2
+++ cell 2
@@ -1 +1 @@
-print("cell 2")
+--- cell 2 of it
--- after cell 3
+++ after cell 3
+++ run.yml`;

test('the heads are in the language of the page', () => {
  const said = jest
    .spyOn(trans, '__')
    .mockImplementation((text, ...values) =>
      text.replace('cell', '单元格').replace('%1', String(values[0]))
    );
  const changes = { difference: DIFFERENCE, says: [], refused: [], cells: [], files: [] };
  const training = { submission: { changes }, stale: false, source: {} } as unknown as Training;
  const lines = draw(<Difference training={training} />).querySelector('pre')?.textContent;
  said.mockRestore();
  expect(lines?.trim()).toBe(
    DIFFERENCE.replace(/^(\S{3} (?:after )?)cell (\d)$/gm, '$1单元格 $2')
  );
});
