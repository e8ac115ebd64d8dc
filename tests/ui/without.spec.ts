/** The front end alone, where the server half is not enabled. */

import { expect, openNotebook, openPanel, test } from './fixtures';

test.use({ serverOptions: { without: true } });

test('the panel gives the instruction', async ({ page, server }) => {
  await openNotebook(page, server, 'digits_fit.ipynb');
  const panel = await openPanel(page);
  await expect(panel.getByRole('alert')).toContainText(
    'jupyter server extension enable jupyter_paddle_gpu'
  );
});
