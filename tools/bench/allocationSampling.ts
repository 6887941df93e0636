/**
 * Loaded by a measured process before its program: from one SIGUSR2 to the next it samples what is
 * allocated, also what is freed meanwhile. The bytes are then in a file of its process id in
 * ALLOCATIONS_DIR, which is empty while it samples.
 */
import { writeFileSync } from "node:fs"
import type { HeapProfiler } from "node:inspector"
import { Session } from "node:inspector/promises"
import { join } from "node:path"

/** The mean distance of samples, in bytes: a thousand requests have ten thousand of them. */
const samplingInterval = 8_192

const file = join(process.env["ALLOCATIONS_DIR"] ?? "", String(process.pid))
const session = new Session()
let isSampling = false

const bytesIn = ({ children, selfSize }: HeapProfiler.SamplingHeapProfileNode): number =>
  children.reduce((sum, child) => sum + bytesIn(child), selfSize)

const toggle = async (): Promise<void> => {
  if (isSampling) {
    const { profile } = await session.post("HeapProfiler.stopSampling")
    writeFileSync(file, String(bytesIn(profile.head)))
  } else {
    await session.post("HeapProfiler.startSampling", {
      samplingInterval,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true
    })
    writeFileSync(file, "")
  }
  isSampling = !isSampling
}

session.connect()
process.on("SIGUSR2", () => void toggle())
