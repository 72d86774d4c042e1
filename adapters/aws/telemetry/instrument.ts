import { TooManyFramesError, VisionError } from '../../../core/vision-errors.ts';
import type { MetricsSink, MetricName } from '../../../core/ports/observability.ts';
import { type VisionModel, wrapModel } from '../../../core/ports/vision-model.ts';
import type { ModelCall } from '../../../core/records/vision.ts';
import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import type { Meter } from '../../../core/ports/usage.ts';
import type { NewEvent } from '../../../core/records/event.ts';
import { isJobEvent } from '../../../core/records/run.ts';
import type { RunStore } from '../../../core/ports/runs.ts';

/** Metrics and their clock. */
type Clocked = {
  measurements: MetricsSink;
  /** Monotonic clock, in milliseconds. */ elapsedMs: () => number;
};

/** Adds metrics for calls, errors, latency and tokens to a model. */
export function instrumentVision(model: VisionModel, { measurements, elapsedMs }: Clocked): VisionModel {
  const count = ({ input_tokens: input, output_tokens: output, failed }: ModelCall) => {
    measurements.add('ModelCalls');
    if (failed) measurements.add('ModelErrors');
    measurements.add('InputTokens', input);
    measurements.add('OutputTokens', output);
  };
  return wrapModel(model, async (call) => {
    const beganMs = elapsedMs();
    try {
      const answer = await call();
      measurements.add('ModelLatency', elapsedMs() - beganMs);
      count(answer.tokens);
      return answer;
    } catch (error) {
      if (error instanceof VisionError || error instanceof TooManyFramesError) error.calls.forEach(count);
      if (error instanceof VisionError && isThrottling(error.cause)) measurements.add('ModelThrottles');
      throw error;
    }
  });
}

function isThrottling(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'ThrottlingException';
}

/** Adds metrics for captures, errors and latency to a capturer. */
export function instrumentCapturer<Streams extends StreamCapturer>(
  capturer: Streams,
  { measurements, elapsedMs }: Clocked,
): Streams {
  return {
    ...capturer,
    capture: async (request, signal) => {
      const beganMs = elapsedMs();
      try {
        const capture = await capturer.capture(request, signal);
        measurements.add('CapturesTaken');
        measurements.add('CaptureLatency', elapsedMs() - beganMs);
        return capture;
      } catch (error) {
        measurements.add('CaptureErrors');
        throw error;
      }
    },
  };
}

/**
 * Adds metrics for deliveries, searches and dropped moments to a meter. Lateness is a metric only: the meter would
 * write an item per attempt.
 */
export function instrumentMeter(meter: Meter, measurements: MetricsSink): Meter {
  return {
    ...meter,
    count: async (counted) => {
      if (counted.kind === 'delivery_attempt')
        return measurements.add('DeliveryLateness', counted.lateSeconds);
      if (counted.kind === 'delivery')
        measurements.add(counted.delivered ? 'DeliveriesDone' : 'DeliveriesFailed');
      if (counted.kind === 'moments_dropped') measurements.add('MomentsDropped', counted.count);
      if (counted.kind === 'search') {
        if (counted.isNew) measurements.add('Searches');
        measurements.add('SearchModelCalls', counted.calls);
        measurements.add('SearchCostUsd', counted.microUsd / 1_000_000);
      }
      await meter.count(counted);
    },
  };
}

/** Adds metrics to a store of runs: counts each committed event of a job once. */
export function instrumentRuns(runs: RunStore, measurements: MetricsSink): RunStore {
  return {
    ...runs,
    commit: async (change) => {
      const result = await runs.commit(change);
      if (result === 'committed')
        for (const name of change.events.filter(isJobEvent).flatMap(instrumentIn)) measurements.add(name);
      return result;
    },
  };
}

function instrumentIn(event: NewEvent): MetricName[] {
  switch (event.type) {
    case 'job_started':
      return ['JobsStarted'];
    case 'progress':
      return event.data.prefilter_skipped ? ['Ticks', 'FramesSkipped'] : ['Ticks'];
    case 'watch_triggered':
      return ['Triggers'];
    case 'job_stopped':
      return endings[event.data.status];
    default:
      return [];
  }
}

const endings = {
  pending: [],
  running: [],
  stopped: ['JobsStopped'],
  completed: ['JobsCompleted'],
  failed: ['JobsFailed'],
} satisfies Record<string, MetricName[]>;
