import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createGroupCommit, groupCommits } from '../../../../adapters/embedded/sqlite/group-commit.ts';
import { TransientError } from '../../../../core/errors.ts';

/** Database with one table, which counts its commits. */
function openCounted() {
  const database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE entries (name TEXT PRIMARY KEY) STRICT');
  const commits = { count: 0, fails: false };
  const exec = database.exec.bind(database);
  database.exec = (sql) => {
    if (sql === 'COMMIT') {
      commits.count += 1;
      if (commits.fails)
        throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
    }
    exec(sql);
  };
  const insert = database.prepare('INSERT INTO entries VALUES (?)');
  const names = () =>
    database
      .prepare('SELECT name FROM entries ORDER BY name')
      .all()
      .map(({ name }) => name);
  return { database, commits, insert: (name: string) => void insert.run(name), names };
}

test('work that is handed in together is committed in one transaction', async () => {
  const { database, commits, insert, names } = openCounted();
  const commit = groupCommits(database);

  const results = await Promise.all(
    ['a', 'b', 'c'].map(async (name) => {
      // A different number of steps on the way, as ticks have.
      for (let step = 0; step < name.charCodeAt(0) - 96; step += 1) await Promise.resolve();
      return commit(() => {
        insert(name);
        return name;
      });
    }),
  );

  expect(results).toEqual(['a', 'b', 'c']);
  expect(names()).toEqual(['a', 'b', 'c']);
  expect(commits.count).toBe(1);
});

test('work of several events that the event loop has at hand shares one transaction', async () => {
  const { database, commits, insert, names } = openCounted();
  const commit = groupCommits(database);

  await Promise.all(
    ['a', 'b'].map(async (name) => {
      // Each is an event of its own, as a file that is complete.
      await new Promise<void>((resolve) => setTimeout(resolve, 0));
      await commit(() => insert(name));
    }),
  );

  expect(names()).toEqual(['a', 'b']);
  expect(commits.count).toBe(1);
});

test('a failure of one work takes back its own changes, and the others are committed', async () => {
  const { database, commits, insert, names } = openCounted();
  const commit = groupCommits(database);

  const settled = await Promise.allSettled([
    commit(() => insert('a')),
    commit(() => {
      insert('b');
      insert('a');
    }),
    commit(() => insert('c')),
  ]);

  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(names()).toEqual(['a', 'c']);
  expect(commits.count).toBe(1);
});

test('no work counts as committed if the commit of its group fails', async () => {
  const { database, commits, insert, names } = openCounted();
  const commit = groupCommits(database);
  commits.fails = true;

  const settled = [commit(() => insert('a')), commit(() => insert('b'))];

  for (const each of settled) await expect(each).rejects.toThrow(TransientError);
  expect(names()).toEqual([]);
  commits.fails = false;
  await commit(() => insert('a'));
  expect(names()).toEqual(['a']);
});

test('a transaction that SQLite took back as a whole commits none of its works', async () => {
  const { database, insert, names } = openCounted();
  const commit = groupCommits(database);

  const settled = [
    commit(() => insert('a')),
    commit(() => {
      database.exec('ROLLBACK');
      throw new Error('database or disk is full');
    }),
    commit(() => insert('c')),
  ];

  for (const each of settled) await expect(each).rejects.toThrow('database or disk is full');
  expect(names()).toEqual([]);
});

test('work resolves once the log is on disk, and work without a flush does not wait for it', async () => {
  const { database, insert, names } = openCounted();
  const flushes: PromiseWithResolvers<void>[] = [];
  const commit = createGroupCommit(database, () => {
    const flush = Promise.withResolvers<void>();
    flushes.push(flush);
    return flush.promise;
  });
  const settled: string[] = [];
  const add = async (name: string, flush: boolean) => {
    await commit(() => insert(name), { flush });
    settled.push(name);
  };

  await add('a', false);
  const both = Promise.all([add('b', false), add('c', true)]);
  await nextTurn();
  await add('d', false);
  expect([settled, names(), flushes.length]).toEqual([['a', 'd'], ['a', 'b', 'c', 'd'], 1]);
  flushes[0]?.resolve();
  await both;
  expect(settled).toEqual(['a', 'd', 'b', 'c']);

  const failed = add('e', true);
  await nextTurn();
  flushes[1]?.reject(new TransientError('The disk failed'));
  await expect(failed).rejects.toThrow('The disk failed');
});

test('all stores of a database share its groups', async () => {
  const { database, commits, insert } = openCounted();

  await Promise.all([groupCommits(database)(() => insert('a')), groupCommits(database)(() => insert('b'))]);

  expect(commits.count).toBe(1);
});
