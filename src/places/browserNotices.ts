/** Tells of ended jobs in the browser's own notifications, for those who work in another window. Off until asked for. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { stateName } from '../components/jobs/words';
import type { IJob } from '../domain';

export class BrowserNotices {
  /** `open` shows a job. */
  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _open: (job: IJob) => void
  ) {}

  isOn = false;

  /** Ask the browser whether it may tell; false where it may not, or cannot. */
  async ask(): Promise<boolean> {
    if (!('Notification' in window)) {
      return false;
    }
    return (await Notification.requestPermission()) === 'granted';
  }

  /** Tell of a job's end, unless this page is what somebody looks at; another tab's notice of it is replaced. */
  tell(job: IJob): boolean {
    const isSeen = !document.hidden && document.hasFocus();
    const mayTell = 'Notification' in window && Notification.permission === 'granted';
    if (!this.isOn || isSeen || !mayTell) {
      return false;
    }
    const notice = new Notification(
      this._trans.__('%1: %2', job.spec.name, stateName(job.state, this._trans)),
      { body: job.state === 'failed' ? (job.reason?.message ?? '') : '', tag: job.id }
    );
    notice.onclick = () => {
      window.focus();
      this._open(job);
      notice.close();
    };
    return true;
  }
}
