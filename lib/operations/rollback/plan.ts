/** Function of a stack with its published versions, in ascending order. */
export type VersionedFunction = {
  name: string;
  /** Version that the alias names. */
  live: number;
  versions: readonly { version: number; release: string }[];
};

/** Change of one alias. */
export type AliasMove = { name: string; from: number; to: number };

/** Aliases to change, or the reason why there is no rollback. */
export type RollbackPlan =
  | { kind: 'move'; release: string; moves: AliasMove[] }
  | { kind: 'impossible'; reason: string; next: string };

/**
 * Plans the return of all functions to a release that was live: to `target`, or to the newest one that none of them is behind. A release with other workflow
 * definitions or records is impossible: the state machines have no versions that a command could move, and the table no migration.
 */
export function planRollback(
  functions: readonly VersionedFunction[],
  live: ReadonlySet<string>,
  target?: string,
): RollbackPlan {
  const published = listCommonReleases(functions);
  const releases = published.filter((release) => live.has(release));
  if (target !== undefined && !releases.includes(target))
    return {
      kind: 'impossible',
      reason: published.includes(target)
        ? `Release ${target} was not live: no smoke test of it passed, and it served for less than an hour.`
        : `No release ${target} of all functions is published.`,
      next: `Deploy the commit of that release${releases.length > 0 ? `, or use one of ${releases.join(', ')}` : ''}.`,
    };
  const release = target ?? releases.find((each) => isEarlier(functions, each));
  if (release === undefined)
    return {
      kind: 'impossible',
      reason: 'No earlier release of all functions was live.',
      next: 'Deploy the last good commit.',
    };
  const running = functions.flatMap((each) => findRelease(each, each.live) ?? []);
  if (running.some((each) => readWorkflow(each) !== readWorkflow(release)))
    return {
      kind: 'impossible',
      reason: `Release ${release} has other workflow definitions, which the command does not move, or stores records that this one cannot read.`,
      next: 'Deploy the commit of that release.',
    };
  const moves = functions.map((each) => ({
    name: each.name,
    from: each.live,
    to: findNewest(each, release) ?? each.live,
  }));
  return { kind: 'move', release, moves: moves.filter(({ from, to }) => from !== to) };
}

/** Returns the release that all functions run. Returns undefined during a deployment, and after an interrupted rollback. */
export function findRunningRelease(functions: readonly VersionedFunction[]): string | undefined {
  const [release, ...others] = new Set(functions.map((each) => findRelease(each, each.live)));
  return others.length === 0 ? release : undefined;
}

/** Returns the releases that every function has, newest first. */
export function listCommonReleases([first, ...others]: readonly VersionedFunction[]): string[] {
  const releases = first?.versions.map(({ release }) => release).toReversed() ?? [];
  return [...new Set(releases)].filter((release) =>
    others.every((each) => findNewest(each, release) !== undefined),
  );
}

/** Returns true if no function has to move forward to the release, and one has to move back. */
function isEarlier(functions: readonly VersionedFunction[], release: string): boolean {
  const distances = functions.map((each) => each.live - (findNewest(each, release) ?? Infinity));
  return distances.every((distance) => distance >= 0) && distances.some((distance) => distance > 0);
}

function findNewest({ versions }: VersionedFunction, release: string): number | undefined {
  return versions.findLast((each) => each.release === release)?.version;
}

function findRelease({ versions }: VersionedFunction, version: number): string | undefined {
  return versions.find((each) => each.version === version)?.release;
}

/** Returns the part of a release that identifies its workflow definitions and records. */
function readWorkflow(release: string): string | undefined {
  return release.split('-')[1];
}
