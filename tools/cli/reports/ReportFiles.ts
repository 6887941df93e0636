/**
 * The files of `--output`. The name decides the format. A report appears only when it is complete:
 * it is written to a temporary file and renamed at the end.
 */
import { type FileHandle, open, rename, rm } from "node:fs/promises"
import { extname, resolve } from "node:path"
import { Effect, type Scope } from "effect"
import { Refused } from "@data-import/terminal/Refused"
import { partOf } from "../book/Overwriting.ts"
import type { ReportWriter } from "../check/CheckBook.ts"
import { reasonOf } from "../Reason.ts"
import { htmlReport, type PageOf } from "./HtmlReport.ts"
import { headOf } from "./LineReport.ts"

const kinds = { ".ndjson": "ndjson", ".csv": "csv", ".html": "html" } as const

type Kind = (typeof kinds)[keyof typeof kinds] | "rows"

/** Whether the file takes the failed rows as they were, to be corrected. */
export const takesRows = (file: string): boolean => /corrected\.csv$/i.test(file)

const kindOf = (file: string): Kind | undefined =>
  takesRows(file) ? "rows" : kinds[extname(file).toLowerCase() as keyof typeof kinds]

/** What `--output` accepts. */
export const isReportFile = (file: string): boolean => kindOf(file) !== undefined

export const reportForm = `a file that ends in ${Object.keys(kinds).join(", ")}`

/** A file that is not complete yet. */
export interface PartFile {
  readonly file: string
  readonly handle: FileHandle
}

export interface OpenReport extends PartFile {
  readonly kind: Kind
}

const refused = (file: string) => (error: unknown) =>
  new Refused({ why: `Cannot write ${file}: ${reasonOf(error)}.` })

export const attempt = <A>(file: string, write: () => Promise<A>) =>
  Effect.tryPromise({ try: write, catch: refused(file) })

/** The scope deletes a file that was not put in its place. */
export const openPart = (file: string): Effect.Effect<PartFile, Refused, Scope.Scope> =>
  Effect.acquireRelease(
    attempt(file, async () => ({ file, handle: await open(partOf(file), "w") })),
    ({ handle }) =>
      Effect.promise(async () => {
        await handle.close()
        await rm(partOf(file), { force: true })
      })
  )

export const openReport = (file: string): Effect.Effect<OpenReport, Refused, Scope.Scope> =>
  Effect.map(openPart(file), (part) => ({ ...part, kind: kindOf(file) as Kind }))

/** Puts a complete file in its place. */
export const place = ({ file, handle }: PartFile) =>
  attempt(file, async () => {
    await handle.sync()
    await rename(partOf(file), file)
  })

export interface ReportFiles {
  /** Those that have an entry for each failed line. */
  readonly writers: ReadonlyArray<ReportWriter>
  /** Writes to the files that take failed rows. */
  readonly writeRows: ReportWriter["write"]
  /** Writes what is only known at the end, and puts every report in its place. */
  readonly finish: (page: PageOf) => Effect.Effect<void, Refused>
}

const writeTo =
  ({ file, handle }: OpenReport): ReportWriter["write"] =>
  (text) =>
    text === "" ? Effect.void : Effect.asVoid(attempt(file, () => handle.write(text)))

/** Opens the files before the work begins, so that a wrong path costs no time. */
export const openReports = Effect.fnUntraced(function* (files: ReadonlyArray<string>) {
  const names = [...new Map(files.map((file) => [resolve(file), file])).values()]
  const open = yield* Effect.forEach(names, openReport)
  const writers = open.flatMap(({ file, handle, kind }): ReadonlyArray<ReportWriter> => {
    if (kind === "html" || kind === "rows") return []
    const write = writeTo({ file, handle, kind })
    return [{ kind, begin: (isCsvBook) => write(headOf(kind, isCsvBook)), write }]
  })
  const reports: ReportFiles = {
    writers,
    writeRows: (text) =>
      Effect.forEach(
        open.filter(({ kind }) => kind === "rows"),
        (report) => writeTo(report)(text),
        { discard: true }
      ),
    finish: (page) =>
      Effect.forEach(
        open,
        (report) =>
          Effect.andThen(
            attempt(report.file, async () => {
              if (report.kind === "html") await report.handle.write(htmlReport(page))
            }),
            place(report)
          ),
        { discard: true }
      )
  }
  return reports
})
