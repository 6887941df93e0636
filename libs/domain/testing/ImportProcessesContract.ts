/**
 * The contract of `ImportProcesses`, as tests that every adapter runs. The store may be shared and
 * have data: each test makes its own supplier. All instants are arguments, so no test clock is
 * needed.
 */
import { describe, layer as withLayer } from "@effect/vitest"
import type { Layer } from "effect"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import type { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { claimContract, renewalContract } from "./AttemptContract.ts"
import { completionContract, dryRunContract } from "./AttemptCompletionContract.ts"
import { importDetailsContract } from "./ImportDetailsContract.ts"
import { importListContract } from "./ImportListContract.ts"
import { importStatesContract } from "./ImportStatesContract.ts"
import { leasesContract } from "./LeasesContract.ts"
import { limitContract } from "./LeasesContract.ts"
import { releaseContract, skippingContract } from "./AttemptContract.ts"
import { ownImportContract } from "./ImportListContract.ts"
import { pausedSupplierContract } from "./PausedSupplierContract.ts"
import { stagingContract } from "./StagingContract.ts"

/** Declares the suite under `name`; the layer is built once for all of it. */
export const importProcessesContract = <E>(
  name: string,
  layer: Layer.Layer<ImportProcesses | AuditLog | Configuration, E>
): void =>
  withLayer(layer, { excludeTestServices: true, timeout: "1 minute" })(
    `ImportProcesses, ${name}`,
    (it) => {
      describe("every state", () => importStatesContract(it))
      describe("stage", () => stagingContract(it))
      describe("findOwn", () => ownImportContract(it))
      describe("a supplier that is paused", () => pausedSupplierContract(it))
      describe("claim", () => claimContract(it))
      describe("claim within limits", () => limitContract(it))
      describe("renew", () => renewalContract(it))
      describe("complete", () => completionContract(it))
      describe("dryRun", () => dryRunContract(it))
      describe("release", () => releaseContract(it))
      describe("setSkipped", () => skippingContract(it))
      describe("list", () => importListContract(it))
      describe("leases", () => leasesContract(it))
      describe("details", () => importDetailsContract(it))
    }
  )
