/**
 * A real Jupyter server with the extension, of the tests' own: folders of its own, a copy of the examples, and the
 * right to be killed.
 */

import { type ChildProcess, execFileSync, spawn } from 'child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'fs';
import { createServer } from 'net';
import { tmpdir } from 'os';
import { join, resolve } from 'path';

const ROOT = resolve(__dirname, '..', '..');
/** The environment whose JupyterLab is started, and the one whose kernel trains. */
const BIN = resolve(ROOT, process.env.VENV ?? '.venv', 'bin');
export const KERNEL = resolve(ROOT, '.venv', 'bin', 'python');
/** Whether `VENV` has the built wheel installed: then nothing of this folder is shown or enabled in its place. */
const INSTALLED = Boolean(process.env.PADDLE_GPU_UI_INSTALLED);
/** Numbered lines that `counting.ipynb` prints, in three seconds and a pause where it is held. */
export const LINES = 300;
/** What `runs.ipynb` begins with: variables of the kind that one varies from run to run. */
const RUN_VARIABLES = `BATCH_SIZE = 64
EPOCHS = 4
LEARNING_RATE = 0.1
PAUSE = 0.1`;
/** A training without a framework: quick, and it prints what trainings print. */
const RUN = `import math, time
for epoch in range(1, EPOCHS + 1):
    for step in range(1, 6):
        at = epoch - 1 + step / 5
        loss = 2 * math.exp(-at * LEARNING_RATE * 64 / BATCH_SIZE * 8) + 0.1
        print(f"epoch {epoch}/{EPOCHS} step {step}/5 loss {loss:.4f} acc {1 - loss / 2.2:.4f}", flush=True)
        time.sleep(PAUSE)`;
const RUN_FIGURE = `from IPython.display import SVG, display
display(SVG('<svg xmlns="http://www.w3.org/2000/svg" width="300" height="150"><rect width="300" height="150" fill="#eee"/><circle cx="150" cy="75" r="50" fill="#37c"/></svg>'))`;
/** Notebooks beside the examples: name -> sources of code cells. */
const NOTEBOOKS = {
  'empty.ipynb': [''],
  'runs.ipynb': [RUN_VARIABLES, RUN, RUN_FIGURE],
  'counting.ipynb': [
    `import os, sys, time
for number in range(${LINES}):
    print("line", number, flush=True)
    time.sleep(0.01)
    while number == ${LINES / 2} and os.path.exists("hold"):
        time.sleep(0.05)`,
    // A bar that is drawn in place.
    `for percent in range(0, 101, 10):
    print(f"\\rbar {percent} %", end="", file=sys.stderr, flush=True)
print(file=sys.stderr)
print("counted to the end")`
  ]
};
/** Milliseconds for a server to answer; the machine may be busy. */
const START = 180_000;
/** Milliseconds for jobs that were stopped to be gone. */
const ENDS = 60_000;

export interface IServerOptions {
  /** Overrides of JupyterLab's settings: plugin id -> values. */
  settings?: Record<string, object>;
  /** Without our server half. */
  without?: boolean;
  /** Without our front end too: JupyterLab as it is, with what else it has. */
  bare?: boolean;
  /** Cards that NVML tells of, as `tests/devices/nvml_stand_in.c` reads them; none by default. */
  cards?: string[];
  /** Another environment's folder, whose JupyterLab is started as it is: other extensions, for comparison. */
  elsewhere?: string;
  /** Further environment variables. */
  environment?: Record<string, string>;
}

export class LabServer {
  constructor(private readonly _options: IServerOptions = {}) {
    const options = _options;
    this._bin = options.elsewhere ? join(options.elsewhere, 'bin') : BIN;
    this.folder = mkdtempSync(join(tmpdir(), 'paddle-gpu-ui-'));
    this.root = join(this.folder, 'root');
    mkdirSync(this.root);
    this._log = openSync(join(this.folder, 'server.log'), 'a');
    for (const name of readdirSync(join(ROOT, 'examples'))) {
      if (name.endsWith('.ipynb')) {
        cpSync(join(ROOT, 'examples', name), join(this.root, name));
      }
    }
    for (const [name, cells] of Object.entries(NOTEBOOKS)) {
      writeFileSync(join(this.root, name), JSON.stringify(notebook(cells)));
    }
    const share = join(this.folder, 'share', 'jupyter');
    if (INSTALLED || options.elsewhere) {
      putKernel(join(share, 'kernels', 'python3'));
    } else if (options.bare) {
      linkOthers(join(this.folder, 'others'));
    } else {
      // JupyterLab takes the built extension from here, whether the package is installed or not.
      const labextensions = join(share, 'labextensions');
      mkdirSync(labextensions, { recursive: true });
      cpSync(join(ROOT, 'labextension'), join(labextensions, 'jupyter-paddle-gpu'), {
        recursive: true
      });
    }
    if (options.cards) {
      buildCards(this.folder);
      this.setCards(options.cards);
    }
    const config = join(this.folder, 'config');
    mkdirSync(config);
    if (!options.elsewhere && (!INSTALLED || options.without)) {
      writeFileSync(
        join(config, 'jupyter_server_config.json'),
        JSON.stringify({
          ServerApp: {
            jpserver_extensions: { jupyter_paddle_gpu: !options.without && !options.bare }
          }
        })
      );
    }
    // Nobody builds JupyterLab here, so no page has to ask whether somebody should.
    mkdirSync(join(config, 'labconfig'));
    writeFileSync(
      join(config, 'labconfig', 'page_config.json'),
      JSON.stringify({ buildAvailable: false, buildCheck: false })
    );
    const settings = {
      '@jupyterlab/apputils-extension:notification': {
        fetchNews: 'false',
        checkForUpdates: false
      },
      ...options.settings,
      'jupyter-paddle-gpu:plugin': {
        // A panel that opens by itself would be closed by a test's click.
        openOnce: false,
        ...options.settings?.['jupyter-paddle-gpu:plugin']
      }
    };
    for (const [plugin, values] of Object.entries(settings)) {
      this.set(plugin, values);
    }
  }

  /** Take other settings of a plugin, for pages that are loaded from now on. */
  set(plugin: string, values: object): void {
    const [name, id] = plugin.split(':');
    const place = join(this.folder, 'settings', name);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `${id}.jupyterlab-settings`), JSON.stringify(values));
  }

  readonly folder: string;
  readonly root: string;

  /** Change what NVML tells from its next reading on. */
  setCards(cards: string[]): void {
    // In one piece: whoever reads half a file sees a machine without cards.
    const file = join(this.folder, 'cards');
    writeFileSync(`${file}.new`, cards.join('\n'));
    renameSync(`${file}.new`, file);
  }

  /** Whether `counting.ipynb` waits in its middle, so that what is to happen before its end does. */
  hold(held: boolean): void {
    const file = join(this.root, 'hold');
    if (held) {
      writeFileSync(file, '');
    } else {
      rmSync(file, { force: true });
    }
  }

  get url(): string {
    return `http://127.0.0.1:${this._port}`;
  }

  async start(): Promise<void> {
    this._port ||= await freePort();
    this._process = spawn(
      join(this._bin, 'jupyter'),
      [
        'lab',
        '--allow-root',
        '--no-browser',
        '--ip=127.0.0.1',
        `--port=${this._port}`,
        '--ServerApp.port_retries=0',
        `--ServerApp.root_dir=${this.root}`,
        '--IdentityProvider.token=',
        '--ServerApp.disable_check_xsrf=True',
        '--LabApp.expose_app_in_browser=True',
        ...(this._options.bare
          ? [`--LabApp.labextensions_path=${join(this.folder, 'others')}`]
          : []),
        `--LabApp.user_settings_dir=${join(this.folder, 'settings')}`,
        `--LabApp.workspaces_dir=${join(this.folder, 'workspaces')}`
      ],
      {
        // Others may write where they were started and look for it in the root.
        cwd: this._options.elsewhere ? this.root : this.folder,
        stdio: process.env.PADDLE_GPU_UI_LOG ? 'inherit' : ['ignore', this._log, this._log],
        env: {
          ...process.env,
          PATH: `${this._bin}:${process.env.PATH}`,
          // A library's warning names folders of this machine, in logs and so in pictures.
          PYTHONWARNINGS: 'ignore',
          // Not the folders in which users of this machine agree on its devices.
          PADDLE_GPU_SHARED: join(this.folder, 'shared'),
          JUPYTER_CONFIG_DIR: join(this.folder, 'config'),
          JUPYTER_DATA_DIR: join(this.folder, 'data'),
          JUPYTER_RUNTIME_DIR: join(this.folder, 'runtime'),
          JUPYTER_PATH: join(this.folder, 'share', 'jupyter'),
          JUPYTERLAB_SETTINGS_DIR: join(this.folder, 'settings'),
          ...(this._options.cards
            ? { LD_LIBRARY_PATH: this.folder, NVML_STAND_IN: join(this.folder, 'cards') }
            : {}),
          ...this._options.environment
        }
      }
    );
    const end = Date.now() + START;
    while (!(await this.answers())) {
      if (Date.now() > end || this._process.exitCode !== null) {
        throw new Error(
          `The Jupyter server did not start (set PADDLE_GPU_UI_LOG=1 for its log).`
        );
      }
      await new Promise(done => setTimeout(done, 200));
    }
  }

  async answers(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/api/status`)).ok;
    } catch {
      return false;
    }
  }

  /** What the server has said of its own mistakes: from each of the last tracebacks on, so many lines. */
  mistakes(lines = 120, most = 3): string {
    if (process.env.PADDLE_GPU_UI_LOG) {
      return '';
    }
    const log = readFileSync(join(this.folder, 'server.log'), 'utf8').split('\n');
    const found = log.flatMap((line, at) => (line.includes('Traceback') ? [at] : []));
    return found
      .slice(-most)
      .map(at => log.slice(at, at + lines).join('\n'))
      .join('\n');
  }

  /** End the server as a power cut would. */
  async kill(): Promise<void> {
    const running = this._process;
    if (running && running.exitCode === null && running.signalCode === null) {
      const gone = new Promise(done => running.once('exit', done));
      running.kill('SIGKILL');
      await gone;
    }
  }

  async dispose(): Promise<void> {
    try {
      const { jobs } = (await this.json('jobs')) as { jobs: { id: string; ended: number }[] };
      const running = jobs.filter(({ ended }) => !ended);
      for (const job of running) {
        await this.json(`jobs/${job.id}/cancel`, { force: true });
      }
      // A job that still writes would keep its folder from being removed.
      for (const end = Date.now() + ENDS; running.length && Date.now() < end;) {
        const { ended } = (await this.json(`jobs/${running[0].id}`)) as { ended: number };
        await (ended ? running.shift() : new Promise(done => setTimeout(done, 100)));
      }
    } catch {
      // It may be gone, or never have had our half.
    }
    const running = this._process;
    if (running && running.exitCode === null && running.signalCode === null) {
      const gone = new Promise(done => running.once('exit', done));
      running.kill('SIGTERM');
      const timer = setTimeout(() => running.kill('SIGKILL'), 10_000);
      await gone;
      clearTimeout(timer);
    }
    // Whoever looked after the queue beside this server may write once more after it has gone.
    for (let left = 20; ; left--) {
      try {
        rmSync(this.folder, { recursive: true, force: true });
        return;
      } catch (reason) {
        if (!left) {
          throw reason;
        }
        await new Promise(done => setTimeout(done, 500));
      }
    }
  }

  /** A question to our REST interface; with a body it is a POST. */
  async json(path: string, body?: object): Promise<unknown> {
    const answer = await fetch(`${this.url}/paddle-gpu/api/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { 'Content-Type': 'application/json' },
      body: body && JSON.stringify(body)
    });
    return answer.json();
  }

  private readonly _bin: string;
  private readonly _log: number;
  private _port = 0;
  private _process: ChildProcess | null = null;
}

/** The extensions of the environment but ours, in a folder of their own. */
function linkOthers(folder: string): void {
  const all = resolve(BIN, '..', 'share', 'jupyter', 'labextensions');
  mkdirSync(folder);
  for (const name of readdirSync(all)) {
    if (name !== 'jupyter-paddle-gpu') {
      symlinkSync(join(all, name), join(folder, name));
    }
  }
}

/** A library with NVML's binary interface, where the dynamic loader finds it. */
function buildCards(folder: string): void {
  const source = join(ROOT, 'tests', 'devices', 'nvml_stand_in.c');
  const library = join(folder, 'libnvidia-ml.so.1');
  execFileSync('gcc', ['-shared', '-fPIC', '-o', library, source]);
}

/** The project's own interpreter as the kernel: the environment of the server needs no Paddle. */
function putKernel(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'kernel.json'),
    JSON.stringify({
      argv: [KERNEL, '-m', 'ipykernel_launcher', '-f', '{connection_file}'],
      display_name: 'Python 3 (ipykernel)',
      language: 'python'
    })
  );
}

/** A notebook with these code cells. */
export function notebook(cells: string[]): object {
  return {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {
      kernelspec: { name: 'python3', display_name: 'Python 3 (ipykernel)', language: 'python' },
      language_info: { name: 'python' }
    },
    cells: cells.map((source, index) => ({
      cell_type: 'code',
      id: `cell-${index}`,
      metadata: {},
      source,
      outputs: [],
      execution_count: null
    }))
  };
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer();
    probe.once('error', fail);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => done(port));
    });
  });
}
