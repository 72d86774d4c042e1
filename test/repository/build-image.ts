import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Copy, DockerfileParser, Env, From, JSONInstruction, type Instruction } from 'dockerfile-ast';

const run = promisify(execFile);

/** Image as it would start: its root folder, working directory, environment, command and health check. */
export type BuiltImage = {
  root: string;
  workdir: string;
  environment: Record<string, string>;
  user: string;
  command: string[];
  healthcheck: string[];
};

/** Commands that are not run, with what takes their place. The key is the start of the command. */
export type StandIns = Record<string, (stage: { root: string; workdir: string }) => void>;

/**
 * Runs the instructions of a Dockerfile without Docker: each stage is a folder below `folder`, `COPY` copies from the
 * checkout or from another stage, `RUN` runs in the stage's working directory. Absolute paths in `RUN` are those of
 * this machine, so a stage that uses them needs a stand-in.
 */
export async function buildImage(
  dockerfile: string,
  folder: string,
  standIns: StandIns,
): Promise<BuiltImage> {
  const stages = new Map<string, BuiltImage>();
  let image = emptyImage(folder, 'none');
  for (const instruction of DockerfileParser.parse(readFileSync(dockerfile, 'utf8')).getInstructions()) {
    if (instruction instanceof From) {
      const name = instruction.getBuildStage() ?? 'image';
      const base = stages.get(instruction.getImage() ?? '');
      image = { ...emptyImage(folder, name), ...(base && { workdir: base.workdir }) };
      mkdirSync(inside(image, image.workdir), { recursive: true });
      stages.set(name, image);
    } else await apply(instruction, image, stages, standIns);
  }
  return image;
}

/** Path of this machine for an absolute path of the image. */
export function inside({ root }: BuiltImage, path: string): string {
  return join(root, path);
}

function emptyImage(folder: string, name: string): BuiltImage {
  return {
    root: join(folder, name),
    workdir: '/',
    environment: {},
    user: 'root',
    command: [],
    healthcheck: [],
  };
}

async function apply(
  instruction: Instruction,
  image: BuiltImage,
  stages: Map<string, BuiltImage>,
  standIns: StandIns,
): Promise<void> {
  const text = instruction.getArgumentsContent() ?? '';
  switch (instruction.getKeyword()) {
    case 'WORKDIR':
      image.workdir = text;
      mkdirSync(inside(image, text), { recursive: true });
      return;
    case 'ENV':
      for (const property of instruction instanceof Env ? instruction.getProperties() : [])
        image.environment[property.getName()] = property.getValue() ?? '';
      return;
    case 'COPY':
      if (instruction instanceof Copy) copy(instruction, image, stages);
      return;
    case 'RUN':
      return runCommand(text.replaceAll(/\\\r?\n/g, ' '), image, standIns);
    case 'USER':
      image.user = text;
      return;
    case 'CMD':
      if (instruction instanceof JSONInstruction) image.command = jsonStrings(instruction);
      return;
    case 'HEALTHCHECK':
      image.healthcheck = JSON.parse(text.slice(text.indexOf('['), text.lastIndexOf(']') + 1));
      return;
    case 'VOLUME':
    case 'EXPOSE':
    case 'STOPSIGNAL':
      return;
    default:
      throw new Error(`${instruction.getKeyword()} is not supported here`);
  }
}

/** Copies like Docker: the content of a folder, a file to a name or into a folder. */
function copy(instruction: Copy, image: BuiltImage, stages: Map<string, BuiltImage>): void {
  const from = fromFlag(instruction);
  const source = from ? stages.get(from) : undefined;
  if (from && !source) throw new Error(`There is no stage ${from}`);
  const paths = instruction.getArguments().map((argument) => argument.getValue());
  const target = paths.pop() ?? '';
  const to = inside(image, resolve(image.workdir, target));
  for (const path of paths) {
    const fromPath = source ? inside(source, path) : resolve(path);
    const intoFolder = target.endsWith('/') && statSync(fromPath).isFile();
    mkdirSync(dirname(to), { recursive: true });
    cpSync(fromPath, intoFolder ? join(to, basename(path)) : to, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (each) => source !== undefined || !ignored.includes(basename(each)),
    });
  }
  const [mode, owner] = ['chmod', 'chown'].map((name) => readFlag(instruction, name));
  if (mode !== undefined) chmodSync(to, Number.parseInt(mode, 8));
  const [user, group] = (owner ?? '').split(':').map(Number);
  if (user && group && isRoot) chownSync(to, user, group);
}

/** True if the image can have an owner other than the user of the test. */
export const isRoot = process.getuid?.() === 0;

/** Name of the stage that a `COPY` copies from; undefined for the build context. */
export function fromFlag(instruction: Copy): string | undefined {
  return readFlag(instruction, 'from');
}

function readFlag(instruction: Copy, name: string): string | undefined {
  const flag = instruction.getFlags().find((each) => each.getName() === name);
  return flag?.getValue() ?? undefined;
}

/** Names that .dockerignore excludes in every folder. */
const ignored = ['dist', 'node_modules'];

async function runCommand(command: string, image: BuiltImage, standIns: StandIns): Promise<void> {
  const standIn = Object.entries(standIns).find(([start]) => command.startsWith(start))?.[1];
  const workdir = inside(image, image.workdir);
  if (standIn) return standIn({ root: image.root, workdir });
  await run('sh', ['-euc', command], { cwd: workdir, maxBuffer: 16 * 2 ** 20 });
}

function jsonStrings(instruction: JSONInstruction): string[] {
  return instruction.getJSONStrings().map((each) => JSON.parse(each.getValue()));
}

/** Stand-in for the installation of all dependencies: those of the checkout. */
export function linkDependencies({ workdir }: { workdir: string }): void {
  symlinkSync(resolve('node_modules'), join(workdir, 'node_modules'));
}

/**
 * Stand-in for the installation of the production dependencies: a link to each package of the checkout that
 * package-lock.json does not mark as development. `npm ci` itself has installed the checkout from the same file,
 * without optional packages of other platforms.
 */
export function linkProductionDependencies({ workdir }: { workdir: string }): void {
  const { packages } = JSON.parse(readFileSync(join(workdir, 'package-lock.json'), 'utf8'));
  for (const [path, entry] of Object.entries<LockedPackage>(packages)) {
    if (!/^node_modules\/(@[^/]+\/)?[^/]+$/.test(path)) continue;
    if (entry.dev === true || !existsSync(path)) continue;
    mkdirSync(dirname(join(workdir, path)), { recursive: true });
    symlinkSync(resolve(path), join(workdir, path));
  }
}

type LockedPackage = { dev?: boolean };
