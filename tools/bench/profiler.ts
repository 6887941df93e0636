/**
 * Loaded before a program, it lets the program be profiled while it runs: SIGUSR2 begins a CPU
 * profile, the next one ends it and writes it to the folder that `PROFILE_DIR` names.
 */
import { renameSync, writeFileSync } from "node:fs"
import { Session } from "node:inspector/promises"
import { join } from "node:path"

const folder = process.env["PROFILE_DIR"] ?? "."
const session = new Session()
session.connect()
let runs = false

const begin = async (): Promise<void> => {
  await session.post("Profiler.enable")
  await session.post("Profiler.start")
}

/** Renamed when it is complete, so that a reader never sees half a file. */
const end = async (): Promise<void> => {
  const { profile } = await session.post("Profiler.stop")
  const file = join(folder, `${process.pid}.cpuprofile`)
  writeFileSync(`${file}.new`, JSON.stringify(profile))
  renameSync(`${file}.new`, file)
}

process.on("SIGUSR2", () => {
  runs = !runs
  void (runs ? begin() : end())
})
