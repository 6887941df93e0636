/** What processes use, as Linux counts it: processor time and resident memory. */
import { readdirSync, readFileSync } from "node:fs"

/** Linux reports times in hundredths of a second, regardless of its clock rate. */
const ticksPerSecond = 100

/** The fields of `/proc/<pid>/stat` after the name; null if the process is gone. */
const statOf = (pid: number): ReadonlyArray<string> | null => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    return text.slice(text.lastIndexOf(")") + 2).split(" ")
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return null
    if ((cause as NodeJS.ErrnoException).code === "ESRCH") return null
    throw cause
  }
}

const parentField = 1
/** User and system time, first its own, then those of its ended children. */
const timeFields = [11, 12, 13, 14]

const secondsIn = (stat: ReadonlyArray<string> | null, fields: ReadonlyArray<number>): number =>
  fields.reduce((sum, field) => sum + Number(stat?.[field] ?? 0), 0) / ticksPerSecond

/** Processor seconds of one process so far. */
export const cpuSeconds = (pid: number): number => secondsIn(statOf(pid), timeFields.slice(0, 2))

/** Processor seconds so far of the children of this process that have ended. */
export const endedCpuSeconds = (): number => secondsIn(statOf(process.pid), timeFields.slice(2))

const childrenOf = (parent: number): ReadonlyArray<ReadonlyArray<string>> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = statOf(Number(name))
      return Number(stat?.[parentField]) === parent && stat !== null ? [stat] : []
    })

const secondsOf = (stats: ReadonlyArray<ReadonlyArray<string> | null>): number =>
  stats.reduce((sum, stat) => sum + secondsIn(stat, timeFields), 0)

/** Processor seconds of a PostgreSQL so far: the server and its backends, including ended ones. */
export const postgresCpuSeconds = (postmaster: number): number =>
  secondsOf([statOf(postmaster), ...childrenOf(postmaster)])

/** Resident memory of a process, in bytes; 0 if it is gone. */
export const residentBytes = (pid: number): number => {
  if (statOf(pid) === null) return 0
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))
  return Number(line?.[1] ?? 0) * 1024
}
