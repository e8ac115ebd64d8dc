/**
 * What people do, in clicks, keys and seconds, beside jupyter-scheduler and jupyterlab-nvdashboard on the same notebooks,
 * kernel and cards:
 *
 *     python3 -m venv /tmp/peers && /tmp/peers/bin/pip install jupyterlab "jupyter-scheduler==2.12.*" jupyterlab-nvdashboard
 *     PEERS=/tmp/peers jlpm bench:ui tasks          (TOOLS=ours,scheduler,nvdashboard for some of them)
 *
 * Seconds are those of a person who never thinks: from the first click to the answer on the screen, ten keys a second.
 */

import type { Page } from '@playwright/test';
import { execFileSync } from 'child_process';
import { writeFileSync } from 'fs';
import { join } from 'path';

import { ended, expect, openNotebook, test } from '../fixtures';
import { LabServer, notebook } from '../server';
import { save } from './measure';
import { OURS } from './tasks/ours';
import { NVDASHBOARD, SCHEDULER } from './tasks/peers';
import { Person, TASKS, type Ways } from './tasks/person';

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

test.use({ serverOptions: { cards: CARDS } });

test('tasks in clicks, keys and seconds', async ({ page, server }) => {
  const peers = process.env.PEERS;
  if (!peers) {
    throw new Error('PEERS must name an environment with the other tools; see the head of this file.');
  }
  write(server);
  for (const name of ['earlier', 'broken']) {
    const body = { path: `${name}.ipynb`, content: NOTEBOOKS[name] };
    await ended(server, ((await server.json('jobs', body)) as { id: string }).id);
  }
  const wanted = process.env.TOOLS?.split(',') ?? ['ours', 'scheduler', 'nvdashboard'];
  if (wanted.includes('ours')) {
    save('ours', await all(page, server, OURS), 'tasks');
  }
  const other = new LabServer({ cards: CARDS, elsewhere: peers });
  write(other);
  try {
    await other.start();
    await before(other);
    save('versions', versions(peers), 'tasks');
    for (const [tool, ways] of Object.entries({ scheduler: SCHEDULER, nvdashboard: NVDASHBOARD })) {
      if (wanted.includes(tool)) {
        save(tool, await all(page, other, ways), 'tasks');
      }
    }
  } finally {
    await other.dispose();
  }
});

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

function write(server: LabServer): void {
  for (const [name, content] of Object.entries(NOTEBOOKS)) {
    writeFileSync(join(server.root, `${name}.ipynb`), JSON.stringify(content));
  }
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

async function all(page: Page, server: LabServer, ways: Ways): Promise<object> {
  const found: Record<string, object | string> = {};
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
