/**
 * Information about another process by its id, on Linux and on macOS, which has `ps` instead of
 * `/proc`.
 */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, readlinkSync } from "node:fs"

/** Whether `/proc` shows processes and of open files. */
export const hasProc = existsSync("/proc/self/fd")

const fromPs = (pid: number): string => {
  const line = execFileSync("ps", ["-ww", "-o", "stat=,command=", "-p", String(pid)], {
    encoding: "utf8"
  }).trim()
  return line.startsWith("Z") ? "" : line.replace(/^\S+\s+/, "")
}

/** Null if the process has ended, even if its parent has not reaped it yet. */
export const commandLine = (pid: number): string | null => {
  try {
    const text = hasProc
      ? readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim()
      : fromPs(pid)
    return text === "" ? null : text
  } catch {
    return null
  }
}

/**
 * Whether the process is running and is the server of this data directory. After a crash another
 * process may have its id.
 */
export const isServerOf = (data: string, pid: number): boolean => {
  if (!hasProc) return commandLine(pid)?.includes(`postgres -D ${data} `) ?? false
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === data
  } catch {
    return false
  }
}
