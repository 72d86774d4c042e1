/**
 * What a stream-hour would cost on AWS, from list prices of us-east-1, as of 2026-11, and the units of a tick. An estimate:
 * it leaves out free tiers, data transfer and logs.
 */
export type Watching = { intervalSeconds: number; skippedShare: number };

const dollars = {
  stateTransition: 0.025 / 1000,
  lambdaGigabyteSecondArm: 0.0000133334,
  lambdaRequest: 0.2 / 1_000_000,
  dynamoWriteUnit: 0.625 / 1_000_000,
  s3Put: 0.005 / 1000,
  novaLiteInputToken: 0.06 / 1_000_000,
  novaLiteOutputToken: 0.24 / 1_000_000,
};

/** Units of one tick: four transitions (counted in `watch.asl.json`), two functions, one transaction, one picture. */
const tick = {
  transitions: 4,
  gigabyteSeconds: 1 * 0.5,
  requests: 2,
  writeUnits: 10,
  puts: 1,
};

/** Units of one look with one frame of 896 px. */
const look = { gigabyteSeconds: 0.5 * 2, inputTokens: 1300, outputTokens: 60 };

export function dollarsPerStreamHour({ intervalSeconds, skippedShare }: Watching): {
  platform: number;
  model: number;
  total: number;
} {
  const ticks = 3600 / intervalSeconds;
  const looks = ticks * (1 - skippedShare);
  const platform =
    ticks *
      (tick.transitions * dollars.stateTransition +
        tick.gigabyteSeconds * dollars.lambdaGigabyteSecondArm +
        tick.requests * dollars.lambdaRequest +
        tick.writeUnits * dollars.dynamoWriteUnit +
        tick.puts * dollars.s3Put) +
    looks * look.gigabyteSeconds * dollars.lambdaGigabyteSecondArm;
  const model =
    looks * (look.inputTokens * dollars.novaLiteInputToken + look.outputTokens * dollars.novaLiteOutputToken);
  return { platform, model, total: platform + model };
}
