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

/** Every process there is, by its id. */
const allStats = (): ReadonlyMap<number, ReadonlyArray<string>> =>
  new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        const stat = statOf(Number(name))
        return stat === null ? [] : [[Number(name), stat]]
      })
  )

const childrenOf = (parent: number): ReadonlyMap<number, ReadonlyArray<string>> =>
  new Map([...allStats()].filter(([, stat]) => Number(stat[parentField]) === parent))

const secondsOf = (stats: Iterable<ReadonlyArray<string> | null>): number =>
  [...stats].reduce((sum, stat) => sum + secondsIn(stat, timeFields), 0)

/** Processor seconds of a PostgreSQL so far: the server and its backends, including ended ones. */
export const postgresCpuSeconds = (postmaster: number): number =>
  secondsOf([statOf(postmaster), ...childrenOf(postmaster).values()])

/** The process title of a PostgreSQL backend that serves a client: user, database and address. */
const session = /^postgres: \S+ \S+ \S+\(\d+\)/

const titleOf = (pid: number): string =>
  statOf(pid) === null ? "" : readFileSync(`/proc/${pid}/cmdline`, "utf8")

/**
 * Processor seconds so far of the backends that serve clients; the others write, vacuum and
 * analyse.
 */
export const sessionCpuSeconds = (postmaster: number): number => {
  const sessions = [...childrenOf(postmaster)].filter(([pid]) => session.test(titleOf(pid)))
  return secondsOf(sessions.map(([, stat]) => stat))
}

/** User, nice and system time of the whole machine. */
const machineFields = [1, 2, 3]

/** Processor seconds of the machine so far, without the kernel's interrupt handling. */
const machineCpuSeconds = (): number => {
  const [total = ""] = readFileSync("/proc/stat", "utf8").split("\n", 1)
  return secondsIn(total.split(/ +/), machineFields)
}

interface Used {
  readonly parent: number
  /** Including its ended children. */
  readonly seconds: number
}

/** The seconds of the machine that neither these processes nor their descendants used. */
export const othersIn = (
  machine: number,
  processes: ReadonlyMap<number, Used>,
  ours: ReadonlySet<number>
): number => {
  const isOurs = (pid: number): boolean => {
    const parent = processes.get(pid)?.parent ?? 0
    return ours.has(pid) || (parent > 0 && isOurs(parent))
  }
  return [...processes].reduce(
    (left, [pid, { seconds }]) => (isOurs(pid) ? left - seconds : left),
    machine
  )
}

/** The parent of the kernel's threads, which do the I/O of all processes. */
const kernel = 2

/** Processor seconds so far of all processes but this one, PostgreSQL, and what they started. */
export const othersCpuSeconds = (postmaster: number): number => {
  const machine = machineCpuSeconds()
  const processes = [...allStats()].map(([pid, stat]) => {
    const used = { parent: Number(stat[parentField]), seconds: secondsIn(stat, timeFields) }
    return [pid, used] as const
  })
  return othersIn(machine, new Map(processes), new Set([process.pid, postmaster, kernel]))
}

/** Resident memory of a process, in bytes; 0 if it is gone. */
export const residentBytes = (pid: number): number => {
  if (statOf(pid) === null) return 0
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))
  return Number(line?.[1] ?? 0) * 1024
}
