/**
 * Validates one account after the other with the domain library alone, for so many seconds of
 * processor time, and prints how many a second.
 */
import { Result } from "effect"
import { validateUnknownAccount } from "@data-import/domain/validation/AccountValidation"
import { domesticPayload, sampleTime } from "@data-import/domain/testing/samples"

const seconds = Number(process.argv[2] ?? 3)
const payload = domesticPayload()
const perTurn = 100

/** By the processor time of this process, so that what else runs takes nothing away. */
const cpuSeconds = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1e6
}

const validateFor = (limitSeconds: number): number => {
  const began = cpuSeconds()
  let count = 0
  while (cpuSeconds() - began < limitSeconds) {
    for (let turn = 0; turn < perTurn; turn++) {
      Result.getOrThrow(validateUnknownAccount(payload, sampleTime))
    }
    count += perTurn
  }
  return count / (cpuSeconds() - began)
}

validateFor(1)
const perSecond = validateFor(seconds)
console.log(JSON.stringify({ perSecond, bytes: Buffer.byteLength(JSON.stringify(payload)) }))
