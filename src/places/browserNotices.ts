/** Tells of ended jobs in the browser's own notifications, for those who work in another window. Off until asked for. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IEnd } from '../announcements';
import { stateName } from '../components/jobs/words';

export class BrowserNotices {
  /** `open` shows what ended. */
  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _open: (end: IEnd) => void
  ) {}

  isOn = false;

  /** Ask the browser whether it may tell; false where it may not, or cannot. */
  async ask(): Promise<boolean> {
    if (!('Notification' in window)) {
      return false;
    }
    return (await Notification.requestPermission()) === 'granted';
  }

  /** Tell of an end, unless this page is what somebody looks at; another tab's notice of it is replaced. */
  tell(end: IEnd): boolean {
    const isSeen = !document.hidden && document.hasFocus();
    const mayTell = 'Notification' in window && Notification.permission === 'granted';
    if (!this.isOn || isSeen || !mayTell) {
      return false;
    }
    const notice = new Notification(
      this._trans.__('%1: %2', end.name, stateName(end.state, this._trans, end.program)),
      { body: end.more, tag: end.id }
    );
    notice.onclick = () => {
      window.focus();
      this._open(end);
      notice.close();
    };
    return true;
  }
}
