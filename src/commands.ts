/** The commands, for palette, menu, toolbar, panel and other extensions. */

import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { type IJob, isEnded, type ISweep } from './domain';
import { paddleGpuIcon } from './icons';
import type { PanelModel } from './models/panel';
import { VIEWERS, viewersOf } from './models/jobs/runs';
import type { Script } from './models/notebook/script';
import { CommandIDs } from './tokens';

export interface ICommandOptions {
  commands: CommandRegistry;
  model: PanelModel;
  notebooks: INotebookTracker;
  trans: TranslationBundle;
  showPanel: (mode: string) => void;
  showJob: (id: string) => Promise<void>;
  /** Show another project's page on a job's curves. */
  showViewer: (job: IJob, viewer: string, url: string) => void;
  /** Show all jobs, compare those that are named, unfold a sweep. */
  showJobs: (compared?: string[], sweep?: string) => void;
  /** Ask what a job is to have otherwise and run it so; null where it was given up. */
  askAndRerun: (job: IJob) => Promise<IJob | ISweep | null>;
  openPath: (path: string) => void;
  /** Open the notebook that a job was made of, at a cell. */
  openSource: (job: IJob, cell: number | null) => Promise<void>;
  /** Bring a widget to the front. */
  activate: (id: string) => Promise<void>;
  /** Open the notebook that is chosen in the file browser; answers its widget's id. */
  chosenNotebook: () => Promise<string | null>;
  /** The script that is meant by where a command was called, or null. */
  chosenScript: (args: ReadonlyPartialJSONObject) => Script | null;
  /** The job whose view is in front. */
  currentJob: () => string | undefined;
}

export function addCommands(options: ICommandOptions): void {
  const { commands, model, notebooks, trans, showPanel, showJob, openPath } = options;
  const hasNotebook = (args: ReadonlyPartialJSONObject) =>
    args.from === 'files' || notebooks.currentWidget !== null;
  /** The job that is meant: named, in front, or the newest that `fits`. */
  const meant = (
    args: ReadonlyPartialJSONObject,
    fits: (ended: boolean) => boolean = () => true
  ) => {
    const id = typeof args.id === 'string' ? args.id : options.currentJob();
    if (id) {
      const job = model.jobs.get(id);
      return job && !fits(isEnded(job.state)) ? undefined : id;
    }
    return model.jobs.list.find(job => fits(isEnded(job.state)))?.id;
  };
  /** Go to the notebook that is meant: named, or chosen in the file browser; else the active one is. */
  const goTo = async (args: ReadonlyPartialJSONObject) => {
    const id = args.from === 'files' ? await options.chosenNotebook() : args.notebook;
    if (typeof id === 'string') {
      await options.activate(id);
    }
  };
  const takesJob = {
    args: {
      type: 'object',
      properties: { id: { type: 'string', description: 'Id of the job' } }
    }
  } as const;

  commands.addCommand(CommandIDs.openPanel, {
    label: args =>
      args.mode === 'main'
        ? trans.__('Show panel as a tab')
        : trans.__('Show Paddle GPU panel'),
    caption: trans.__('What trains, what it takes, where it fits, and the jobs'),
    icon: args => (args.isPalette ? undefined : paddleGpuIcon),
    execute: args => showPanel(typeof args.mode === 'string' ? args.mode : 'focus'),
    describedBy: {
      args: { type: 'object', properties: { mode: { enum: ['side', 'main'] } } }
    }
  });

  commands.addCommand(CommandIDs.estimate, {
    label: trans.__('Estimate training memory'),
    caption: trans.__('Trace one training step of this notebook on the side'),
    isEnabled: hasNotebook,
    execute: async args => {
      model.notebook.leave();
      await goTo(args);
      showPanel('side');
      await settled(model);
      await model.training?.measure();
    },
    describedBy: { args: { type: 'object', properties: {} } }
  });

  commands.addCommand(CommandIDs.submit, {
    label: trans.__('Submit training'),
    caption: trans.__('Run this notebook as a job, unsaved changes included'),
    icon: args => (args.isPalette ? undefined : paddleGpuIcon),
    isEnabled: hasNotebook,
    execute: async args => {
      if (args.shown !== true) {
        model.notebook.leave();
      }
      await goTo(args);
      showPanel('side');
      await settled(model);
      return (await model.submit(args.anyway === true))?.id;
    },
    describedBy: {
      args: {
        type: 'object',
        properties: {
          anyway: {
            type: 'boolean',
            description: trans.__('Also where it will not fit what is here')
          },
          notebook: {
            type: 'string',
            description: trans.__('Id of the notebook’s widget; else the active one')
          },
          shown: {
            type: 'boolean',
            description: trans.__('What the panel shows, be it a script')
          }
        }
      }
    }
  });

  const hasScript = (args: ReadonlyPartialJSONObject) => options.chosenScript(args) !== null;
  const takesScript = {
    args: {
      type: 'object',
      properties: { path: { type: 'string', description: 'Path of the script' } }
    }
  } as const;
  const showScript = async (args: ReadonlyPartialJSONObject) => {
    const script = options.chosenScript(args);
    if (script) {
      model.notebook.show(script);
      showPanel('side');
      await settled(model);
    }
    return script;
  };

  commands.addCommand(CommandIDs.estimateScript, {
    label: trans.__('Estimate training memory'),
    caption: trans.__('Trace one training step of this script on the side'),
    icon: paddleGpuIcon,
    isVisible: hasScript,
    describedBy: takesScript,
    execute: async args => {
      if (await showScript(args)) {
        await model.training?.measure();
      }
    }
  });

  commands.addCommand(CommandIDs.submitScript, {
    label: trans.__('Submit training'),
    caption: trans.__('Run this script as a job, unsaved changes included'),
    icon: paddleGpuIcon,
    isVisible: hasScript,
    describedBy: takesScript,
    execute: async args => ((await showScript(args)) ? (await model.submit())?.id : undefined)
  });

  commands.addCommand(CommandIDs.openJob, {
    label: trans.__('Open job'),
    caption: trans.__('Open log, metrics and memory of a job'),
    isEnabled: args => meant(args) !== undefined || !model.isReady,
    execute: async args => {
      const id = meant(args);
      if (id) {
        await showJob(id);
      }
    },
    describedBy: takesJob
  });

  commands.addCommand(CommandIDs.openNotebook, {
    label: trans.__('Open executed notebook'),
    caption: trans.__('Open the notebook as far as the job has executed it'),
    isEnabled: args => meant(args) !== undefined,
    execute: async args => {
      const id = meant(args);
      const job = model.jobs.get(id ?? '');
      if (args.source === true && job) {
        return options.openSource(job, typeof args.cell === 'number' ? args.cell : null);
      }
      const published = id ? await model.jobs.publish(id) : null;
      if (published) {
        openPath(published.path);
      }
    },
    describedBy: takesJob
  });

  commands.addCommand(CommandIDs.openViewer, {
    label: trans.__('Open VisualDL or TensorBoard'),
    caption: trans.__('Show the curves that the notebook of a job writes for it'),
    isEnabled: args => viewersOf(model.jobs.get(meant(args) ?? '')).length > 0,
    execute: async args => {
      const job = model.jobs.get(meant(args) ?? '');
      const viewer = String(args.viewer ?? viewersOf(job)[0]);
      const url = job ? await model.jobs.openViewer(job.id, viewer) : null;
      if (job && url) {
        options.showViewer(job, viewer, url);
      }
    },
    describedBy: {
      args: {
        type: 'object',
        properties: { ...takesJob.args.properties, viewer: { enum: Object.keys(VIEWERS) } }
      }
    }
  });

  commands.addCommand(CommandIDs.cancelJob, {
    label: trans.__('Stop job'),
    caption: trans.__('Let the job save what it has, and end it'),
    isEnabled: args => meant(args, ended => !ended) !== undefined,
    execute: async args => {
      const id = meant(args, ended => !ended);
      if (id) {
        await model.jobs.cancel(id);
      }
    },
    describedBy: takesJob
  });

  commands.addCommand(CommandIDs.rerunJob, {
    label: trans.__('Re-run job'),
    caption: trans.__('Submit the same notebook again as a new job'),
    isEnabled: args => meant(args, ended => ended) !== undefined,
    execute: async args => {
      const id = meant(args, ended => ended);
      const job = id ? await model.rerun(id) : null;
      if (job) {
        await showJob(job.id);
      }
    },
    describedBy: takesJob
  });

  commands.addCommand(CommandIDs.rerunWith, {
    label: trans.__('Re-run job with other values…'),
    caption: trans.__('Change variables, devices or precision, and submit it as a new job'),
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
    },
    describedBy: takesJob
  });

  commands.addCommand(CommandIDs.openJobs, {
    label: trans.__('Show all jobs'),
    caption: trans.__('All runs side by side: sort, filter, compare, re-run'),
    icon: args => (args.isPalette ? undefined : paddleGpuIcon),
    execute: args => options.showJobs(undefined, String(args.sweep ?? '')),
    describedBy: { args: { type: 'object', properties: { sweep: { type: 'string' } } } }
  });

  commands.addCommand(CommandIDs.compareJobs, {
    label: trans.__('Compare the last two runs'),
    caption: trans.__('Curves, figures and code of two runs of one notebook side by side'),
    isEnabled: args => Array.isArray(args.ids) || lastTwo(model.jobs.list).length === 2,
    execute: args => {
      const ids = Array.isArray(args.ids) ? args.ids.map(String) : lastTwo(model.jobs.list);
      options.showJobs(ids);
    },
    describedBy: {
      args: {
        type: 'object',
        properties: { ids: { type: 'array', items: { type: 'string' } } }
      }
    }
  });

  const refresh = () => commands.notifyCommandChanged();
  notebooks.currentChanged.connect(refresh);
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
