import { html } from 'hono/html';
import { inlineJpeg, page, type Html } from '../report/html.ts';
import type { DrawBoxes } from '../../core/ports/stream-capturer.ts';
import type { Playback, ReplayAlert } from './play.ts';
import { summarize, tabulateSweep, formatTime, type ReplayResult } from './result.ts';

const width = 1000;
const laneHeight = 26;
const motionHeight = 60;
const drawingTimeoutMs = 10_000;

/** Playback with its result and the texts of its conditions, by id. */
export type ReportedReplay = { result: ReplayResult; played: Playback; conditions: Map<string, string> };

/** Creates a page of replays: a time line of motion, checks and alerts, and the alerts with their frames. */
export async function createReplayReport(
  files: readonly string[],
  replays: readonly ReportedReplay[],
  drawBoxes: DrawBoxes,
): Promise<string> {
  const sections: Html[] = [];
  for (const replay of replays) {
    const section = toSection(await withBoxes(replay, drawBoxes));
    sections.push(replays.length === 1 ? html`${section}${toCosts(replay.result)}` : section);
  }
  return page(
    'Replay',
    html`<h1>Replay</h1>
      <p class="weak">
        ${files.slice(0, 5).join(', ')}${files.length > 5 ? ` and ${files.length - 5} more` : ''}
      </p>
      ${replays.length > 1 ? toComparison(replays.map(({ result }) => result)) : html``} ${sections}`,
  );
}

/** Compares the combinations of a sweep. */
function toComparison(results: readonly ReplayResult[]): Html {
  const [heads = [], ...rows] = tabulateSweep(results);
  return html`<h2>Comparison</h2>
    <table>
      <tr>
        ${heads.map((head) => html`<th class="number">${head}</th>`)}
      </tr>
      ${rows.map(
        (row) =>
          html`<tr>
            ${row.map((cell) => html`<td class="number">${cell}</td>`)}
          </tr>`,
      )}
    </table>
    <p class="weak">Cost of one stream by list prices, a month of 30 days.</p>`;
}

/** Draws the boxes of each alert on a copy of its evidence. */
async function withBoxes(replay: ReportedReplay, drawBoxes: DrawBoxes): Promise<ReportedReplay> {
  const alerts: ReplayAlert[] = [];
  for (const alert of replay.played.alerts) {
    const { frame, boxes } = alert;
    const signal = AbortSignal.timeout(drawingTimeoutMs);
    alerts.push(
      frame && boxes.length > 0 ? { ...alert, frame: await drawBoxes(frame, boxes, signal) } : alert,
    );
  }
  return { ...replay, played: { ...replay.played, alerts } };
}

function toSection({ result, played, conditions }: ReportedReplay): Html {
  const { interval_seconds: interval, input_mode: mode } = result;
  return html`<h2>Every ${interval} s, mode ${mode}, model ${result.model}</h2>
    <p>${summarize(result)}</p>
    ${drawTimeLine(result, played, conditions)}
    <p class="weak">
      Lines: motion. Red: the condition holds. Green: it does not hold. Grey: skipped by the pre-filter, or
      not judged. Bars: alerts.
    </p>
    <h3>Alerts</h3>
    <div class="pictures">
      ${played.alerts.map(
        ({ condition_id: id, opened_seconds: opened, closed_seconds: closed, explanation, frame }) =>
          html`<figure>
            ${frame ? inlineJpeg(frame, `${id} at ${formatTime(opened)}`) : html``}
            <figcaption>
              <b>${formatTime(opened)} to ${closed === null ? 'the end' : formatTime(closed)}</b>:
              ${conditions.get(id) ?? id}<br />${explanation}
            </figcaption>
          </figure>`,
      )}
    </div>`;
}

/** Forecasts the cost by interval. Other modes need other calls: a sweep plays them. */
function toCosts(result: ReplayResult): Html {
  return html`<h3>Cost</h3>
    <table>
      <tr>
        <th>Interval</th>
        <th class="number">Model calls a day</th>
        <th class="number">A day</th>
        <th class="number">A month</th>
      </tr>
      ${[5, 10, 30, 60, 300].map((seconds) => toCostRow(seconds, result))}
    </table>
    <p class="weak">
      Calls and tokens as in this recording, in mode ${result.input_mode}, by list
      prices${result.cost === null ? '; the price of this model is not known' : ''}. For other modes replay
      with
      <code>--sweep mode=frames,clip,hybrid</code>.
    </p>`;
}

/** Scales the calls of the replay: the pre-filter skips the same share at another interval. */
function toCostRow(
  seconds: number,
  { interval_seconds, model_calls, played_seconds, cost }: ReplayResult,
): Html {
  const callsPerDay = (model_calls / Math.max(1, played_seconds)) * 86_400 * (interval_seconds / seconds);
  const usd = cost === null ? undefined : cost.day_usd * (interval_seconds / seconds);
  return html`<tr>
    <td>${seconds} s</td>
    <td class="number">${Math.round(callsPerDay)}</td>
    <td class="number">${usd === undefined ? 'unknown' : `$${usd.toFixed(2)}`}</td>
    <td class="number">${usd === undefined ? 'unknown' : `$${(usd * 30).toFixed(2)}`}</td>
  </tr>`;
}

function drawTimeLine(result: ReplayResult, played: Playback, conditions: Map<string, string>): Html {
  const total = Math.max(1, result.recording_seconds);
  const x = (seconds: number) => (seconds / total) * width;
  const lanes = [...conditions];
  const height = motionHeight + lanes.length * laneHeight * 2 + 20;
  const motion = played.motion.map(({ seconds, share }) => {
    const barHeight = Math.max(1, Math.sqrt(share) * motionHeight);
    return html`<rect
      x="${x(seconds)}"
      y="${motionHeight - barHeight}"
      width="2"
      height="${barHeight}"
      fill="currentColor"
      opacity=".5"
    />`;
  });
  const drawn = lanes.map(([id, condition], index) => {
    const top = motionHeight + 8 + index * laneHeight * 2;
    const checks = result.checks
      .filter(({ condition_id }) => condition_id === id)
      .map(
        ({ seconds, triggered, explanation }) =>
          html`<circle cx="${x(seconds)}" cy="${top + 20}" r="3" fill="${color(triggered)}"
            ><title>${formatTime(seconds)} ${explanation}</title></circle
          >`,
      );
    const alerts = result.alerts
      .filter(({ condition_id }) => condition_id === id)
      .map(({ opened_seconds: opened, closed_seconds: closed }) => {
        const end = closed ?? result.played_seconds;
        return html`<rect
          x="${x(opened)}"
          y="${top + 28}"
          width="${Math.max(2, x(end) - x(opened))}"
          height="10"
          fill="var(--yes)"
        />`;
      });
    return html`<text x="0" y="${top + 12}" font-size="12" fill="currentColor">${condition}</text
      >${checks}${alerts}`;
  });
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      html`<text
        x="${share * width}"
        y="${height - 2}"
        font-size="11"
        fill="currentColor"
        text-anchor="${share === 0 ? 'start' : share === 1 ? 'end' : 'middle'}"
        >${formatTime(share * total)}</text
      >`,
  );
  return html`<svg
    viewBox="0 0 ${width} ${height}"
    role="img"
    aria-label="Time line of motion, checks and alerts"
  >
    ${motion}${drawn}${ticks}
  </svg>`;
}

function color(triggered: boolean | null): string {
  if (triggered === null) return 'var(--skip)';
  return triggered ? 'var(--yes)' : 'var(--no)';
}
