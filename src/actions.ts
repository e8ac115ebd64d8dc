/** What the commands do: read when the first of them is executed, or with the panel. */

import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { type IJob, isEnded, type ISweep } from './domain';
import { viewersOf } from './models/jobs/runs';
import type { Script } from './models/notebook/script';
import type { PanelModel } from './models/panel';
import { CommandIDs } from './tokens';

type Args = ReadonlyPartialJSONObject;

export interface IAction {
  execute: (args: Args) => unknown;
  /** By what is known of the jobs; without it the command is there whenever its notebook or script is. */
  isEnabled?: (args: Args) => boolean;
}

export type Actions = Partial<Record<string, IAction>>;

export interface IActionOptions {
  model: PanelModel;
  showPanel: (mode: string) => void;
  /** Show a job, one of its page's tabs where it is named. */
  showJob: (id: string, part?: string) => Promise<void>;
  /** Show another project's page on a job's curves. */
  showViewer: (job: IJob, viewer: string, url: string) => void;
  /** Show all jobs, compare those that are named, unfold a sweep. */
  showJobs: (compared?: string[], sweep?: string) => void;
  /** Ask what a job is to have otherwise and run it so; null where it was given up. */
  askAndRerun: (job: IJob) => Promise<IJob | ISweep | null>;
  openPath: (path: string) => void;
  /** Open the notebook that a job was made of, at a cell and a line in it. */
  openSource: (job: IJob, cell: number | null, line?: number) => Promise<void>;
  /** Bring a widget to the front. */
  activate: (id: string) => Promise<void>;
  /** Open the notebook that is chosen in the file browser; answers its widget's id. */
  chosenNotebook: () => Promise<string | null>;
  /** The script that is meant by where a command was called, or null. */
  chosenScript: (args: Args) => Script | null;
  /** The job whose view is in front. */
  currentJob: () => string | undefined;
}

export function actionsOf(options: IActionOptions): Actions {
  const { model, showPanel, showJob, openPath } = options;
  /** The job that is meant: named, in front, or the newest that `fits`. */
  const meant = (args: Args, fits: (ended: boolean) => boolean = () => true) => {
    const id = typeof args.id === 'string' ? args.id : options.currentJob();
    if (id) {
      const job = model.jobs.get(id);
      return job && !fits(isEnded(job.state)) ? undefined : id;
    }
    return model.jobs.list.find(job => fits(isEnded(job.state)))?.id;
  };
  /** Go to the notebook that is meant: named, or chosen in the file browser; else the active one is. */
  const goTo = async (args: Args) => {
    const id = args.from === 'files' ? await options.chosenNotebook() : args.notebook;
    if (typeof id === 'string') {
      await options.activate(id);
    }
  };
  const showScript = async (args: Args) => {
    const script = options.chosenScript(args);
    if (script) {
      model.notebook.show(script);
      showPanel('side');
      await settled(model);
    }
    return script;
  };

  return {
    [CommandIDs.estimate]: {
      execute: async args => {
        model.notebook.leave();
        await goTo(args);
        showPanel('side');
        await settled(model);
        await model.training?.measure();
      }
    },
    [CommandIDs.submit]: {
      execute: async args => {
        if (args.shown !== true) {
          model.notebook.leave();
        }
        await goTo(args);
        showPanel('side');
        await settled(model);
        return (await model.submit(args.anyway === true))?.id;
      }
    },
    [CommandIDs.estimateScript]: {
      execute: async args => {
        if (await showScript(args)) {
          await model.training?.measure();
        }
      }
    },
    [CommandIDs.submitScript]: {
      execute: async args => ((await showScript(args)) ? (await model.submit())?.id : undefined)
    },
    [CommandIDs.openJob]: {
      isEnabled: args => meant(args) !== undefined || !model.isReady,
      execute: async args => {
        const id = meant(args);
        if (id) {
          await showJob(id, typeof args.tab === 'string' ? args.tab : undefined);
        }
      }
    },
    [CommandIDs.openNotebook]: {
      isEnabled: args => meant(args) !== undefined,
      execute: async args => {
        const id = meant(args);
        const job = model.jobs.get(id ?? '');
        if (args.source === true && job) {
          const { cell, line } = args as { cell?: number; line?: number };
          return options.openSource(job, cell ?? null, line);
        }
        const published = id ? await model.jobs.publish(id) : null;
        if (published) {
          openPath(published.path);
        }
      }
    },
    [CommandIDs.openViewer]: {
      isEnabled: args => viewersOf(model.jobs.get(meant(args) ?? '')).length > 0,
      execute: async args => {
        const id = meant(args);
        const job = id ? await model.jobs.find(id) : undefined;
        const viewer = String(args.viewer ?? viewersOf(job)[0]);
        const url = job ? await model.jobs.openViewer(job.id, viewer) : null;
        if (job && url) {
          options.showViewer(job, viewer, url);
        }
      }
    },
    [CommandIDs.cancelJob]: {
      isEnabled: args => meant(args, ended => !ended) !== undefined,
      execute: async args => {
        const id = meant(args, ended => !ended);
        if (id) {
          await model.jobs.cancel(id);
        }
      }
    },
    [CommandIDs.rerunJob]: {
      isEnabled: args => meant(args, ended => ended) !== undefined,
      execute: async args => {
        const id = meant(args, ended => ended);
        const job = id ? await model.rerun(id) : null;
        if (job) {
          await showJob(job.id);
        }
      }
    },
    [CommandIDs.rerunWith]: {
      isEnabled: args => meant(args) !== undefined,
      execute: async args => {
        const job = model.jobs.get(meant(args) ?? '');
        const made = job ? await options.askAndRerun(job) : null;
        if (made && 'trials' in made) {
          options.showJobs(undefined, made.id);
        } else if (made) {
          await showJob(made.id);
        }
        return made?.id;
      }
    },
    [CommandIDs.openJobs]: {
      execute: args => options.showJobs(undefined, String(args.sweep ?? ''))
    },
    [CommandIDs.compareJobs]: {
      isEnabled: args => Array.isArray(args.ids) || lastTwo(model.jobs.list).length === 2,
      execute: args => {
        const ids = Array.isArray(args.ids) ? args.ids.map(String) : lastTwo(model.jobs.list);
        options.showJobs(ids);
      }
    }
  };
}

/** The two newest runs of the notebook that ran last; fewer where there are none. */
function lastTwo(jobs: readonly IJob[]): string[] {
  const [newest] = jobs;
  const same = jobs.filter(job => job.spec.notebook === newest?.spec.notebook);
  return same.slice(0, 2).map(({ id }) => id);
}

/** Wait until the server was asked once and the active notebook is known. */
async function settled(model: PanelModel): Promise<void> {
  if (!model.isReady) {
    await model.connect();
  }
}
