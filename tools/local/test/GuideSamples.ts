/**
 * The samples of the guide, as programs: those of one page in one language are one program, in the
 * order of the page, after the setup of the quickstart. Each prints what the page shows below it.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface Answer {
  readonly status: number
  readonly body: unknown
}

interface Sample {
  readonly code: string
  /** Whether the samples of other pages need it. */
  readonly isSetup: boolean
  readonly shown: Answer | null
}

interface Language {
  readonly file: string
  readonly command: readonly [string, ...ReadonlyArray<string>]
  /** A statement that prints a line. */
  readonly print: (line: string) => string
}

export const languages = {
  sh: {
    file: "sample.sh",
    command: ["bash", "-euo", "pipefail"],
    print: (line) => `echo; echo '${line}'`
  },
  ts: {
    file: "sample.mts",
    command: [process.execPath],
    print: (line) => `console.log("${line}")`
  },
  python: { file: "sample.py", command: ["python3"], print: (line) => `print("${line}")` }
} satisfies Readonly<Record<string, Language>>

export type LanguageName = keyof typeof languages

const folder = join(import.meta.dirname, "../../../docs/guide")

export const pages: ReadonlyArray<string> = readdirSync(folder).map((file) =>
  file.replace(/\.md$/, "")
)

const block = /^```(\w+)(?: (\w+))?\n([^]*?)^```$/gm

/** An answer as a page shows it: JSON, or JSON on each line. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line))
  }
}

/** The samples of a page in one language. An answer belongs to the samples right before it. */
export const samplesOf = (page: string, language: LanguageName): ReadonlyArray<Sample> => {
  const text = readFileSync(join(folder, `${page}.md`), "utf8")
  const found: Array<Sample> = []
  for (const [, name, note = "", code = ""] of text.matchAll(block)) {
    const last = found.at(-1)
    if (name === language && note !== "shell") {
      found.push({ code, isSetup: note === "setup", shown: null })
    } else if (name === "json" && note !== "" && last !== undefined) {
      found.splice(-1, 1, { ...last, shown: { status: Number(note), body: parsed(code) } })
    }
  }
  return found
}

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

const runToEnd = (
  [command, ...args]: readonly [string, ...ReadonlyArray<string>],
  cwd: string,
  env: Readonly<Record<string, string>>
): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: { PATH: process.env["PATH"], ...env } })
    let out = ""
    let err = ""
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()))
    child.once("error", reject)
    child.once("close", (code) => resolve({ code, out, err }))
  })

/** Whether the machine has what a language needs. */
export const isInstalled = async (language: LanguageName): Promise<boolean> => {
  const programs = language === "sh" ? ["bash", "curl"] : [languages[language].command[0]]
  const found = programs.map((program) => runToEnd([program, "--version"], tmpdir(), {}))
  return (await Promise.allSettled(found)).every(({ status }) => status === "fulfilled")
}

/** What a sample printed: the status before the body, or after it on a line of its own. */
const printed = (out: string): Answer | null => {
  const [, before, body, text, after] = /^(\d{3}) ([^]+)$|^([^]+)\n(\d{3})$/.exec(out.trim()) ?? []
  if (body === undefined && text === undefined) return null
  return { status: Number(before ?? after), body: parsed(body ?? text ?? "") }
}

/**
 * Runs the samples of a page in one language; `more` is code that follows them.
 * @throws if the program fails.
 */
export const run = async (
  page: string,
  language: LanguageName,
  env: Readonly<Record<string, string>>,
  replaced: (code: string) => string,
  more: string
): Promise<ReadonlyArray<{ readonly shown: Answer | null; readonly out: string }>> => {
  const { command, file, print } = languages[language]
  const setup = page === "quickstart" ? [] : samplesOf("quickstart", language)
  const samples = [...setup.filter(({ isSetup }) => isSetup), ...samplesOf(page, language)]
  const end = "--- the end of a sample"
  const parts = samples.map(({ code }) => `${code}\n${print(end)}\n`)
  const cwd = mkdtempSync(join(tmpdir(), "data-import-guide-"))
  try {
    writeFileSync(join(cwd, file), replaced(`${parts.join("\n")}\n${more}`))
    const { code, err, out } = await runToEnd([...command, file], cwd, env)
    if (code !== 0) throw new Error(`${page} in ${language} ended with ${code}\n${out}\n${err}`)
    const outputs = out.split(`${end}\n`)
    return [
      ...samples.map(({ shown }, index) => ({ shown, out: outputs[index] ?? "" })),
      { shown: null, out: outputs.at(-1) ?? "" }
    ]
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

/** Texts that differ in each run. */
const kinds: ReadonlyArray<RegExp> = [
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
  /^A-[0-9A-F]{8}$/,
  /^[0-9a-f]{64}$/,
  /^org-[0-9a-f]+$|^demo-test$/
]

/** Members whose value depends on the machine. */
const measured: ReadonlySet<string> = new Set(["lines_per_second", "estimated_finish_at"])

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** The paths at which an answer differs from the page. */
const differences = (shown: unknown, got: unknown, at: string): ReadonlyArray<string> => {
  if (isObject(shown) && isObject(got)) {
    const names = new Set([...Object.keys(shown), ...Object.keys(got)])
    return [...names]
      .filter((name) => !(measured.has(name) && name in shown && name in got))
      .flatMap((name) => differences(shown[name], got[name], `${at}.${name}`))
  }
  const isSame =
    shown === got ||
    (typeof shown === "string" &&
      typeof got === "string" &&
      kinds.some((kind) => kind.test(shown) && kind.test(got)))
  return isSame ? [] : [`${at}: shown ${JSON.stringify(shown)}, got ${JSON.stringify(got)}`]
}

/** The paths at which the output of a sample differs from the answer that the page shows. */
export const difference = (shown: Answer, out: string): ReadonlyArray<string> => {
  const got = printed(out)
  return got === null ? [`no answer in ${out}`] : differences(shown, got, "")
}
