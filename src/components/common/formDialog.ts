/** JupyterLab's dialogue around a form that is drawn after it was opened. */

import { Dialog } from '@jupyterlab/apputils';

const FIELDS = 'input:not([type=radio]), input:checked, select, textarea, summary';

/**
 * JupyterLab's own takes Enter from fields of several lines, and its Tab goes from the last button to what it found first
 * when it was opened: a button, as the form was not drawn yet.
 */
export class FormDialog<T> extends Dialog<T> {
  constructor(options: Partial<Dialog.IOptions<T>>) {
    super(options);
    this.addClass('jp-PaddleGpu-dialog');
  }

  override handleEvent(event: Event): void {
    const { key, shiftKey, target } = event as KeyboardEvent;
    if (event.type === 'keydown') {
      if (key === 'Enter' && target instanceof HTMLTextAreaElement) {
        event.stopPropagation(); // a new line, and nobody's shortcut
        return;
      }
      const last = [...this.node.querySelectorAll('.jp-Dialog-button')].pop();
      const fields = [...this.node.querySelectorAll<HTMLInputElement>(FIELDS)];
      const first = fields.find(({ disabled }) => !disabled);
      if (key === 'Tab' && !shiftKey && target === last && first) {
        event.stopPropagation();
        event.preventDefault();
        first.focus();
        return;
      }
    }
    super.handleEvent(event);
  }
}
