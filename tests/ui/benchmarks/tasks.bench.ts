/**
 * What people do, in clicks, keys and seconds, beside jupyter-scheduler and jupyterlab-nvdashboard on the same notebooks,
 * kernel and cards:
 *
 *     python3 -m venv /tmp/peers && /tmp/peers/bin/pip install jupyterlab "jupyter-scheduler==2.12.*" jupyterlab-nvdashboard
 *     PEERS=/tmp/peers jlpm bench:ui tasks.bench    (TOOLS=ours,scheduler,nvdashboard for some of them)
 *
 * Seconds are those of a person who never thinks: from the first click to the answer on the screen, ten keys a second;
 * the median of some rounds (`ROUNDS`), in each of which every tool has its turn on a server of its own.
 */

import type { Page } from '@playwright/test';
import { execFileSync } from 'child_process';
import { writeFileSync } from 'fs';
import { join } from 'path';

import { ended, expect, openNotebook, test } from '../fixtures';
import { type IServerOptions, LabServer, notebook } from '../server';
import { median, save } from './measure';
import { OURS } from './tasks/ours';
import { NVDASHBOARD, SCHEDULER } from './tasks/peers';
import { type ITold, Person, TASKS, type Ways } from './tasks/person';

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const PARAMETERS = `BATCH_SIZE = 64
LEARNING_RATE = 0.1`;
const TRAIN = `import math, time
for step in range(1, 21):
    print(f"step {step}/20 loss {2 * math.exp(-step * LEARNING_RATE * 8 / BATCH_SIZE):.4f}", flush=True)
    time.sleep(0.2)
print("the end")`;

const GIB = 2 ** 30;
/** One in use, one full, one free. All answer: where one is lost, nvdashboard shows none. */
const CARDS = [
  'count 3',
  `used 0 ${20 * GIB}`,
  `used 1 ${80 * GIB}`,
  `process 1 1 ${79 * GIB}`,
  'used 2 0'
];

/** What a tool told of each task: figures, or why it cannot. */
type Told = Record<string, ITold | string>;

test('tasks in clicks, keys and seconds', async ({ page }) => {
  const peers = process.env.PEERS;
  if (!peers) {
    throw new Error('PEERS must name an environment with the other tools; see the head of this file.');
  }
  const wanted = process.env.TOOLS?.split(',') ?? ['ours', 'scheduler', 'nvdashboard'];
  const told: Record<string, Told[]> = Object.fromEntries(wanted.map(tool => [tool, []]));
  for (let round = 0; round < ROUNDS; round++) {
    if (told.ours) {
      await beside({ cards: CARDS }, async server => {
        for (const name of ['earlier', 'broken']) {
          const body = { path: `${name}.ipynb`, content: NOTEBOOKS[name] };
          await ended(server, ((await server.json('jobs', body)) as { id: string }).id);
        }
        told.ours.push(await all(page, server, OURS));
      });
    }
    await beside({ cards: CARDS, elsewhere: peers }, async server => {
      await before(server);
      for (const [tool, ways] of Object.entries({ scheduler: SCHEDULER, nvdashboard: NVDASHBOARD })) {
        told[tool]?.push(await all(page, server, ways));
      }
    });
  }
  save('versions', versions(peers), 'tasks');
  for (const tool of wanted) {
    save(tool, typical(told[tool]), 'tasks');
  }
});

/** On a server with the notebooks, which is taken away afterwards. */
async function beside(options: IServerOptions, act: (server: LabServer) => Promise<void>): Promise<void> {
  const server = new LabServer(options);
  for (const [name, content] of Object.entries(NOTEBOOKS)) {
    writeFileSync(join(server.root, `${name}.ipynb`), JSON.stringify(content));
  }
  try {
    await server.start();
    await act(server);
  } finally {
    await server.dispose();
  }
}

/** Of each task the median of its seconds, and the most clicks and keys; where it failed once, it is not reached. */
function typical(rounds: Told[]): object {
  const figures: Told = {};
  for (const task of TASKS) {
    const told = rounds.map(one => one[task]);
    const reached = told.filter(one => typeof one !== 'string');
    figures[task] = told.find(one => typeof one === 'string') ?? {
      clicks: Math.max(...reached.map(({ clicks }) => clicks)),
      keys: Math.max(...reached.map(({ keys }) => keys)),
      seconds: median(reached.map(({ seconds }) => seconds))
    };
  }
  return { rounds: rounds.length, ...figures };
}

const LESSON = [PARAMETERS, TRAIN];
const NOTEBOOKS: Record<string, object> = {
  lesson: tagged(LESSON),
  earlier: tagged(LESSON),
  broken: notebook(['print(no_such_name)'])
};

/** With the tag by which both tools know the cell of parameters. */
function tagged(cells: string[]): object {
  const made = notebook(cells) as { cells: { metadata: object }[] };
  made.cells[0].metadata = { tags: ['parameters'] };
  return made;
}

/** The earlier run and the failed one, by the scheduler's own interface. */
async function before(server: LabServer): Promise<void> {
  for (const name of ['earlier', 'broken']) {
    await fetch(`${server.url}/scheduler/jobs`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        name,
        input_uri: `${name}.ipynb`,
        output_formats: ['ipynb'],
        runtime_environment_name: 'peers',
        idempotency_token: name
      })
    }).then(async answer => expect(answer.ok, await answer.text()).toBe(true));
  }
  await expect
    .poll(async () => {
      const answer = await fetch(`${server.url}/scheduler/jobs`);
      const { jobs } = (await answer.json()) as { jobs: { status: string }[] };
      return jobs.map(({ status }) => status).sort();
    })
    .toEqual(['COMPLETED', 'FAILED']);
}

async function all(page: Page, server: LabServer, ways: Ways): Promise<Told> {
  const found: Told = {};
  for (const task of TASKS) {
    const way = ways[task];
    if (typeof way === 'string') {
      found[task] = way;
      continue;
    }
    await openNotebook(page, server, 'lesson.ipynb');
    await page.waitForTimeout(2_000);
    const person = new Person(page);
    try {
      await way(person);
      found[task] = person.told;
    } catch (error) {
      process.stdout.write(`${task}: ${(error as Error).message}\n`);
      found[task] = 'Not reached.';
    }
    process.stdout.write(`${task}: ${JSON.stringify(person.told)}\n`);
  }
  return found;
}

function versions(peers: string): Record<string, string> {
  const names = ['jupyterlab', 'jupyter_scheduler', 'jupyterlab_nvdashboard'];
  const code = `import importlib.metadata as m; print(*[m.version(n) for n in ${JSON.stringify(names)}])`;
  const told = execFileSync(join(peers, 'bin', 'python'), ['-c', code], { encoding: 'utf8' });
  return Object.fromEntries(told.trim().split(' ').map((version, index) => [names[index], version]));
}
