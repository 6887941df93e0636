/**
 * The limits of batches that a deployment may lower. Source: docs/contract/batches.md#limits.
 */
import { Config, Context, Layer } from "effect"
import * as Settings from "../support/Settings.ts"
import { batchLimits } from "./BatchLine.ts"

export interface BatchLimits {
  readonly lines: number
  /** Uncompressed. */
  readonly bytes: number
  readonly unfinishedBatches: number
  /** The sum of all unfinished batches of an organisation, uncompressed. */
  readonly bytesOfOrganisation: number
  /** What all batches of an organisation store whose lines are not deleted. */
  readonly storedBytes: number
}

/** The limits of the contract, unless a layer provides others. */
export const BatchLimits = Context.Reference<BatchLimits>("@data-import/domain/BatchLimits", {
  defaultValue: () => batchLimits
})

const atMost = (name: string, maximum: number) =>
  Settings.integer(name, { minimum: 1, maximum }).or(maximum)

/** The limits of the settings, none above that of the contract. */
export const layer: Layer.Layer<never, Config.ConfigError> = Layer.effect(
  BatchLimits,
  Config.all({
    lines: atMost("BATCH_MAX_LINES", batchLimits.lines),
    bytes: atMost("BATCH_MAX_BYTES", batchLimits.bytes),
    unfinishedBatches: atMost("BATCH_MAX_UNFINISHED", batchLimits.unfinishedBatches),
    bytesOfOrganisation: atMost("BATCH_MAX_UNFINISHED_BYTES", batchLimits.bytesOfOrganisation),
    storedBytes: atMost("BATCH_MAX_STORED_BYTES", batchLimits.storedBytes)
  })
)
