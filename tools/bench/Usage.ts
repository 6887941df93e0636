/** What processes use, as Linux counts it: processor time and resident memory. */
import { readdirSync, readFileSync } from "node:fs"

/** Linux tells times in hundredths of a second, whatever its clock. */
const ticksPerSecond = 100

/** The fields of `/proc/<pid>/stat` after the name; none where the process is gone. */
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
/** User and system time, first its own, then of the children it has buried. */
const timeFields = [11, 12, 13, 14]

const secondsIn = (stat: ReadonlyArray<string> | null, fields: ReadonlyArray<number>): number =>
  fields.reduce((sum, field) => sum + Number(stat?.[field] ?? 0), 0) / ticksPerSecond

/** Processor seconds of one process so far. */
export const cpuSeconds = (pid: number): number => secondsIn(statOf(pid), timeFields.slice(0, 2))

const childrenOf = (parent: number): ReadonlyArray<number> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => Number(statOf(pid)?.[parentField]) === parent)

const secondsOf = (pids: ReadonlyArray<number>): number =>
  pids.reduce((sum, pid) => sum + secondsIn(statOf(pid), timeFields), 0)

/** Processor seconds of a PostgreSQL so far: the server and its backends, also those that ended. */
export const postgresCpuSeconds = (postmaster: number): number =>
  secondsOf([postmaster, ...childrenOf(postmaster)])

/** What PostgreSQL shows of a process that serves a client: its user, database and address. */
const session = /^postgres: \S+ \S+ \S+\(\d+\)/

const titleOf = (pid: number): string =>
  statOf(pid) === null ? "" : readFileSync(`/proc/${pid}/cmdline`, "utf8")

/** Processor seconds so far of those that serve a client; the others write, vacuum and analyse. */
export const sessionCpuSeconds = (postmaster: number): number =>
  secondsOf(childrenOf(postmaster).filter((pid) => session.test(titleOf(pid))))

/** Resident memory of a process, in bytes; 0 where it is gone. */
export const residentBytes = (pid: number): number => {
  if (statOf(pid) === null) return 0
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))
  return Number(line?.[1] ?? 0) * 1024
}
