import { Icon } from './icon.tsx';
import { ProtectedPicture } from './protected-picture.tsx';

/** Shows the newest frame of a job or watch, whose image is at `path`. */
export function LastFrame({ path, at, alt }: { path: string; at: string | null; alt: string }) {
  return (
    <span class="thumbnail">
      {at === null ? (
        <span class="picture missing">
          <Icon name="camera" />
        </span>
      ) : (
        <ProtectedPicture path={path} version={at} alt={alt} />
      )}
    </span>
  );
}
