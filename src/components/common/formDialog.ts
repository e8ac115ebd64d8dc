/** JupyterLab's dialog around a form that is drawn after it was opened. */

import { Dialog } from '@jupyterlab/apputils';

import { tabStops } from './tabStops';

/**
 * JupyterLab's own takes Enter from fields of several lines, and its Tab goes round between what it found first when it
 * was opened, a button, as the form was not drawn yet, and its last button, which a field that is not valid disables.
 */
export class FormDialog<T> extends Dialog<T> {
  constructor(options: Partial<Dialog.IOptions<T>>) {
    super(options);
    this.addClass('jp-PaddleGpu-dialog');
  }

  /** Say anew what the button does that accepts, as the form is now. */
  nameAccept(label: string): void {
    const button = this.node.querySelector('.jp-mod-accept:not(.jp-mod-reject)');
    const shown = button?.querySelector('.jp-Dialog-buttonLabel');
    if (button && shown) {
      button.ariaLabel = shown.textContent = label;
    }
  }

  override handleEvent(event: Event): void {
    const { key, shiftKey, target } = event as KeyboardEvent;
    if (event.type === 'keydown') {
      if (key === 'Enter' && target instanceof HTMLTextAreaElement) {
        event.stopPropagation(); // a new line, and nobody's shortcut
        return;
      }
      const places = tabStops(this.node);
      const [from, to] = shiftKey ? [places[0], places.pop()] : [places.pop(), places[0]];
      if (key === 'Tab' && target === from && to) {
        event.stopPropagation();
        event.preventDefault();
        to.focus();
        return;
      }
    }
    super.handleEvent(event);
    // The button to which it gives the focus back may be disabled.
    if (event.type === 'focus' && !this.node.contains(document.activeElement)) {
      tabStops(this.node)[0]?.focus();
    }
  }
}
