import { Icon } from '../parts/icon.tsx';
import { ProtectedPicture } from '../parts/protected-picture.tsx';

/** Shows the newest frame of a job. */
export function LastFrame({ jobId, at, alt }: { jobId: string; at: string | null; alt: string }) {
  return (
    <span class="thumbnail">
      {at === null ? (
        <span class="picture missing">
          <Icon name="camera" />
        </span>
      ) : (
        <ProtectedPicture path={`/jobs/${jobId}/frame`} version={at} alt={alt} />
      )}
    </span>
  );
}
