import { expect, test, vi } from 'vitest';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { createRunTable } from '../../../../adapters/embedded/runs/run-table.ts';
import { applyRunChange } from '../../../../core/event/stored-run.ts';
import { runSchema } from '../../../../core/records/run.ts';
import { newJob } from '../../../contract/records.ts';
import { newCreation, toStored } from '../../../contract/watch-records.ts';

test('a run is parsed once while its texts stay the same, and not at all after its own commit', () => {
  const table = createRunTable(openDatabase(':memory:'));
  const job = newJob();
  table.insert(job, 0);
  const parse = vi.spyOn(runSchema, 'safeParse');
  const first = table.find(job.run_id)!.run;
  expect(table.find(job.run_id)!.run).toBe(first);
  const next = applyRunChange(first, { set: { last_tick: 1 } });
  table.update(next, 0, false);

  expect(table.find(job.run_id)!.run).toBe(next);
  expect(parse).toHaveBeenCalledTimes(1);
  table.markPublished(job.run_id, 3);
  expect(table.find(job.run_id)!.run).toEqual({ ...next, published: 3 });
  parse.mockRestore();
});

test('a commit that was taken back is not read', () => {
  const database = openDatabase(':memory:');
  const table = createRunTable(database);
  const job = newJob();
  table.insert(job, 0);
  const before = table.find(job.run_id)!.run;
  database.exec('BEGIN');
  table.update(applyRunChange(before, { set: { last_tick: 1 } }), 0, false);
  database.exec('ROLLBACK');
  expect(table.find(job.run_id)!.run).toEqual(before);
});

test('a run that several readers share cannot be changed', () => {
  const table = createRunTable(openDatabase(':memory:'));
  const job = newJob();
  table.insert(job, 0);
  const { run } = table.find(job.run_id)!;
  expect(() => Object.assign(run, { last_tick: 7 })).toThrow(TypeError);
});

test('a tick of a watch writes no configuration', () => {
  const database = openDatabase(':memory:');
  const table = createRunTable(database);
  const watch = toStored(newCreation());
  table.insert(watch, 0);
  database.exec("UPDATE runs SET meta = json_set(meta, '$.stream_url', 'https://other.example')");
  table.update(applyRunChange(watch, { set: { generation: 1 } }), 0, false);
  expect(table.find(watch.run_id)!.run).toMatchObject({ generation: 1, stream_url: 'https://other.example' });
});
