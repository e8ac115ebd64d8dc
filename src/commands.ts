/** The commands as palette, menus and toolbar show them; what they do is read when the first is executed. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import type { Actions } from './actions';
import { paddleGpuIcon } from './icons';
import { CommandIDs } from './tokens';

export interface ICommandOptions {
  commands: CommandRegistry;
  trans: TranslationBundle;
  /** Whether a notebook is meant by where a command was called. */
  hasNotebook: (args: ReadonlyPartialJSONObject) => boolean;
  /** Whether a script is. */
  hasScript: (args: ReadonlyPartialJSONObject) => boolean;
  showPanel: (mode: string) => void;
  /** What the commands do; null until it was read. */
  known: () => Actions | null;
  /** The same, read where nobody has yet. */
  actions: () => Promise<Actions>;
}

export function addCommands(options: ICommandOptions): void {
  const { commands, trans, hasNotebook, hasScript, showPanel } = options;
  const icon = (args: ReadonlyPartialJSONObject) =>
    args.isPalette ? undefined : paddleGpuIcon;
  const takesJob = {
    args: {
      type: 'object',
      properties: { id: { type: 'string', description: 'Id of the job' } }
    }
  } as const;
  const takesScript = {
    args: {
      type: 'object',
      properties: { path: { type: 'string', description: 'Path of the script' } }
    }
  } as const;
  const add = (
    id: string,
    { isEnabled, describedBy, ...shown }: Omit<CommandRegistry.ICommandOptions, 'execute'>
  ) =>
    commands.addCommand(id, {
      ...shown,
      describedBy,
      isEnabled: args => {
        const action = options.known()?.[id];
        return action?.isEnabled?.(args) ?? isEnabled?.(args) ?? true;
      },
      execute: async args => (await options.actions())[id]?.execute(args)
    });
  /** A command on a job, of which none is known before the models were read. */
  const addOnJob = (
    id: string,
    shown: Omit<CommandRegistry.ICommandOptions, 'execute' | 'isEnabled'>
  ) => add(id, { describedBy: takesJob, isEnabled: () => false, ...shown });

  commands.addCommand(CommandIDs.openPanel, {
    label: args =>
      args.mode === 'main'
        ? trans.__('Show panel as a tab')
        : trans.__('Show Paddle GPU panel'),
    caption: trans.__('What trains, what it takes, where it fits, and the jobs'),
    icon,
    execute: args => showPanel(typeof args.mode === 'string' ? args.mode : 'focus'),
    describedBy: {
      args: { type: 'object', properties: { mode: { enum: ['side', 'main'] } } }
    }
  });

  add(CommandIDs.estimate, {
    label: trans.__('Estimate training memory'),
    caption: trans.__('Trace one training step of this notebook on the side'),
    isEnabled: hasNotebook,
    describedBy: { args: { type: 'object', properties: {} } }
  });

  add(CommandIDs.submit, {
    label: trans.__('Submit training'),
    caption: trans.__('Run this notebook as a job, unsaved changes included'),
    icon,
    isEnabled: hasNotebook,
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

  add(CommandIDs.estimateScript, {
    label: trans.__('Estimate training memory'),
    caption: trans.__('Trace one training step of this script on the side'),
    icon: paddleGpuIcon,
    isVisible: hasScript,
    describedBy: takesScript
  });

  add(CommandIDs.submitScript, {
    label: trans.__('Submit training'),
    caption: trans.__('Run this script as a job, unsaved changes included'),
    icon: paddleGpuIcon,
    isVisible: hasScript,
    describedBy: takesScript
  });

  // A page that JupyterLab restores is opened before any job is known.
  add(CommandIDs.openJob, {
    label: trans.__('Open job'),
    caption: trans.__('Open log, metrics and memory of a job'),
    describedBy: takesJob
  });

  addOnJob(CommandIDs.openNotebook, {
    label: trans.__('Open executed notebook'),
    caption: trans.__('Open the notebook as far as the job has executed it')
  });

  addOnJob(CommandIDs.openViewer, {
    label: trans.__('Open VisualDL or TensorBoard'),
    caption: trans.__('Show the curves that the notebook of a job writes for it'),
    describedBy: {
      args: {
        type: 'object',
        properties: {
          ...takesJob.args.properties,
          viewer: { enum: ['visualdl', 'tensorboard'] }
        }
      }
    }
  });

  addOnJob(CommandIDs.cancelJob, {
    label: trans.__('Stop job'),
    caption: trans.__('Let the job save what it has, and end it')
  });

  addOnJob(CommandIDs.rerunJob, {
    label: trans.__('Re-run job'),
    caption: trans.__('Submit the same notebook again as a new job')
  });

  addOnJob(CommandIDs.rerunWith, {
    label: trans.__('Re-run job with other values…'),
    caption: trans.__('Change variables, devices or precision, and submit it as a new job')
  });

  add(CommandIDs.openJobs, {
    label: trans.__('Show all jobs'),
    caption: trans.__('All runs side by side: sort, filter, compare, re-run'),
    icon,
    describedBy: { args: { type: 'object', properties: { sweep: { type: 'string' } } } }
  });

  add(CommandIDs.compareJobs, {
    label: trans.__('Compare the last two runs'),
    caption: trans.__('Curves, figures and code of two runs of one notebook side by side'),
    isEnabled: args => Array.isArray(args.ids),
    describedBy: {
      args: {
        type: 'object',
        properties: { ids: { type: 'array', items: { type: 'string' } } }
      }
    }
  });
}
