import { readFile, readdir, stat } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { recordedCamera } from './timeline.ts';
import { RecordingError } from './recording-error.ts';

const videoExtensions = new Set(
  '.mp4 .m4v .mov .mkv .webm .avi .ts .m2ts .mts .mpg .mpeg .flv .wmv .3gp .gif .m4s .h264 .h265 .hevc'.split(
    ' ',
  ),
);
const maxFiles = 100_000;

/**
 * Returns the files of recordings, in order: a file, the media segments of an HLS playlist (`.m3u8`), and of a folder
 * all videos below it, by path. `camera` selects one of Frigate's cameras. Throws `RecordingError`.
 */
export async function listRecordings(paths: readonly string[], camera?: string): Promise<string[]> {
  const files: string[] = [];
  for (const path of paths) files.push(...(await filesAt(resolve(path))));
  const cameras = new Set(files.flatMap((file) => recordedCamera(file) ?? []));
  if (camera !== undefined && !cameras.has(camera))
    throw new RecordingError(`There is no camera ${camera} in the folder. Cameras: ${listed(cameras)}.`);
  if (camera === undefined && cameras.size > 1)
    throw new RecordingError(
      `The folder has recordings of ${cameras.size} cameras (${listed(cameras)}). Select one with --camera NAME.`,
    );
  return files.filter((file) => camera === undefined || recordedCamera(file) === camera);
}

function listed(names: Iterable<string>): string {
  return [...names].join(', ') || 'none';
}

async function filesAt(path: string): Promise<string[]> {
  const entry = await stat(path).catch(() => undefined);
  if (!entry) throw new RecordingError(`${path} does not exist. Name a video file, a folder or a playlist.`);
  if (entry.isDirectory()) return folderFiles(path);
  return extname(path).toLowerCase() === '.m3u8' ? playlistFiles(path) : [path];
}

async function folderFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const videos = entries
    .filter((entry) => entry.isFile() && videoExtensions.has(extname(entry.name).toLowerCase()))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted(byNumberedName);
  if (videos.length === 0) throw new RecordingError(`${folder} contains no video files.`);
  if (videos.length > maxFiles)
    throw new RecordingError(`${folder} contains more than ${maxFiles} video files. Name a folder below it.`);
  return videos;
}

/** Orders `segment2.ts` before `segment10.ts`. */
function byNumberedName(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

async function playlistFiles(path: string): Promise<string[]> {
  const lines = (await readFile(path, 'utf8')).split(/\r?\n/).map((line) => line.trim());
  if (lines[0] !== '#EXTM3U') throw new RecordingError(`${path} is not an HLS playlist.`);
  // ffmpeg reads fragmented MP4, keys, byte ranges and variants itself.
  if (lines.some((line) => /^#EXT-X-(MAP|KEY|BYTERANGE|STREAM-INF)/.test(line))) return [path];
  const segments = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (segments.length === 0) throw new RecordingError(`${path} lists no segments.`);
  if (segments.some((segment) => /^[a-z]+:\/\//i.test(segment)))
    throw new RecordingError(`${path} lists segments on a server. Download them first.`);
  return segments.map((segment) => resolve(dirname(path), decodeURIComponent(segment)));
}
