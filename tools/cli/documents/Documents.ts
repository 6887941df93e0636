/**
 * `data-import documents upload`: puts the files of a folder into the document store.
 * Source: docs/contract/import.md#uploading-documents.
 */
import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { join, relative, sep } from "node:path"
import { Cause, Clock, Effect, Exit, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { type CallError, DataImport, isCallError } from "@data-import/client/effect"
import { inEnglish, plain, say, table } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import { LinesFailed } from "../LinesFailed.ts"
import { asClientOf, connection, patient } from "../connection/Connection.ts"
import type { Profile } from "../connection/Profiles.ts"
import { reasonOf } from "../Reason.ts"
import { barOfShare, drawing } from "../progress/Drawing.ts"
import { openLog, type UploadLog } from "./UploadLog.ts"

interface Failure {
  readonly document_path: string
  readonly code: string
  readonly detail: string
}

/** The outcome of a file. */
type Outcome = "uploaded" | "same" | "uploaded_before" | "existed" | Failure

const cannotRead = (name: string) => (error: unknown) =>
  new Refused({ why: `Cannot read ${name}: ${reasonOf(error)}.` })

/** The files below a folder, in order. Names that begin with a dot, and links, are left out. */
const filesIn = (folder: string) =>
  Effect.tryPromise({
    try: async () => {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true })
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
        .filter((file) => !file.split(sep).some((part) => part.startsWith(".")))
        .toSorted()
    },
    catch: cannotRead(folder)
  })

/** The failure of one file; None if the error concerns every file. */
const failureOf = (document_path: string, error: CallError): Option.Option<Failure> => {
  if (error._tag === "UnexpectedAnswer" && error.requestId === null) {
    return Option.some({ document_path, code: error.code, detail: error.detail })
  }
  if (error._tag !== "ApiError" || error.code !== "request_failed_validation") return Option.none()
  const found = error.errors.filter(({ attr }) => attr !== "import_supplier")
  const [first] = found
  if (first === undefined || found.length < error.errors.length) return Option.none()
  return Option.some({ document_path, code: first.code, detail: `${first.attr}: ${first.detail}` })
}

interface Folder {
  readonly folder: string
  readonly supplier: string
  readonly prefix: string
}

interface Upload extends Folder {
  readonly log: UploadLog
  /** Whether to put nothing, and only compare. */
  readonly verify: boolean
}

const differs = "The store has another file at this path. It replaces no document."

/** A file at the path. If the store does not tell its hash, the record of uploads does. */
const existing = (
  { document_path, sha256 }: FileToPut,
  stored: string | undefined,
  { log }: Upload
): Outcome => {
  if (stored === "SAME") return "same"
  const before = log.sha256Of(document_path)
  if (stored === "DIFFERS" || (before !== undefined && before !== sha256)) {
    return { document_path, code: "document_differs", detail: differs }
  }
  return before === undefined ? "existed" : "uploaded_before"
}

interface FileToPut {
  readonly document_path: string
  readonly content: Uint8Array
  readonly sha256: string
}

/** The service looks at the store, because a record can be of a store that was emptied. */
const compareFile = Effect.fnUntraced(function* (file: FileToPut, upload: Upload) {
  const { accountImport } = yield* DataImport
  const { content, document_path, sha256 } = file
  const size = content.length
  const payload = { import_supplier: upload.supplier, document_path, size, sha256, compare: true }
  const { stored } = yield* accountImport.createDocumentUpload({ payload: { payload } })
  if (stored !== "ABSENT") return existing(file, stored, upload)
  const detail = "There is no file at this path of the store."
  return { document_path, code: "path_does_not_exist_in_file_store", detail }
})

/** The store compares the bytes with the hash that is sent along, and rejects others. */
const putFile = Effect.fnUntraced(function* (file: FileToPut, upload: Upload) {
  const { accountImport } = yield* DataImport
  const { content, document_path, sha256 } = file
  const document = { import_supplier: upload.supplier, document_path, content, compare: true }
  const { existed, stored } = yield* accountImport.uploadDocument(document)
  if (!existed) {
    yield* upload.log.add(document_path, sha256)
    return "uploaded"
  }
  // It has appeared since, perhaps by an attempt of this upload whose answer was lost.
  return existing(file, stored, upload)
})

const uploadFile = Effect.fnUntraced(function* (file: string, upload: Upload) {
  const { folder, prefix, verify } = upload
  const name = join(folder, file)
  const document_path = `${prefix}${file.split(sep).join("/")}`
  const read = yield* Effect.exit(Effect.tryPromise(() => readFile(name)))
  if (Exit.isFailure(read)) {
    const detail = `The file cannot be read: ${reasonOf(Cause.squash(read.cause))}.`
    return { document_path, code: "unreadable", detail }
  }
  const content = read.value
  const sha256 = createHash("sha256").update(content).digest("hex")
  const found = { document_path, content, sha256 }
  const done: ReturnType<typeof compareFile> | ReturnType<typeof putFile> = verify
    ? compareFile(found, upload)
    : putFile(found, upload)
  return yield* done.pipe(
    Effect.catch((error) => {
      const failure = isCallError(error) ? failureOf(document_path, error) : Option.none<Failure>()
      return Option.isSome(failure) ? Effect.succeed<Outcome>(failure.value) : Effect.fail(error)
    })
  )
})

const columns = ["document_path", "code", "detail"]
const printed = 20

const textOf = (folder: string, counts: Counts, failed: ReadonlyArray<Failure>): string => {
  const sum = Object.entries<number>({ ...counts }).map(
    ([name, count]) => `${inEnglish(count)} ${name.replaceAll("_", " ")}`
  )
  const files = Object.values<number>({ ...counts }).reduce((total, count) => total + count, 0)
  const rows = failed.slice(0, printed).map(({ code, detail, document_path }) => ({
    document_path: plain(document_path),
    code,
    detail: plain(detail)
  }))
  const left = failed.length - rows.length
  return [
    `${folder}: ${inEnglish(files)} files = ${sum.join(" + ")}`,
    ...(counts.existed === 0
      ? []
      : [
          "What existed has the size of the file. The store does not tell its SHA-256, so its bytes " +
            "may be others."
        ]),
    ...(rows.length === 0 ? [] : [table(columns, rows)]),
    ...(left > 0 ? [`${inEnglish(left)} more failed: --json prints them`] : [])
  ].join("\n")
}

interface Counts {
  readonly uploaded: number
  readonly same: number
  readonly uploaded_before: number
  readonly existed: number
  readonly failed: number
}

const countsOf = (outcomes: ReadonlyArray<Outcome>): Counts => {
  const count = (outcome: Outcome) => outcomes.filter((each) => each === outcome).length
  return {
    uploaded: count("uploaded"),
    same: count("same"),
    uploaded_before: count("uploaded_before"),
    existed: count("existed"),
    failed: outcomes.filter((each) => typeof each === "object").length
  }
}

const linePause = 10_000

const uploadProgress = Effect.fnUntraced(function* (files: number) {
  const clock = yield* Clock.Clock
  const drawn = yield* drawing
  let done = 0
  let writtenAt = clock.currentTimeMillisUnsafe()
  return () => {
    done++
    const now = clock.currentTimeMillisUnsafe()
    const counts = `${inEnglish(done)} of ${inEnglish(files)} files`
    if (drawn !== null) drawn.draw(now, () => `${barOfShare(done / files)}  ${counts}`)
    else if (now - writtenAt >= linePause) {
      writtenAt = now
      process.stderr.write(`${counts}\n`)
    }
  }
})

const folderForm = "a folder like statements/2024"

const uploadFolder = Effect.fnUntraced(function* (
  {
    folder,
    parallel,
    prefix,
    supplier,
    verify
  }: Folder & {
    readonly parallel: number
    readonly verify: boolean
  },
  profile: Profile
) {
  const files = yield* filesIn(folder)
  const log = yield* openLog(profile, supplier)
  const advance = yield* uploadProgress(files.length)
  const outcomes = yield* Effect.forEach(
    files,
    (file) =>
      Effect.tap(uploadFile(file, { folder, supplier, prefix, log, verify }), () =>
        Effect.sync(advance)
      ),
    { concurrency: parallel }
  )
  const failed = outcomes.filter((outcome) => typeof outcome === "object")
  const counts = countsOf(outcomes)
  yield* say(
    {
      folder,
      import_supplier: supplier,
      files: files.length,
      ...counts,
      failures: failed.map((failure) => ({ ...failure }))
    },
    textOf(folder, counts, failed)
  )
  if (failed.length > 0) return yield* new LinesFailed()
})

const upload = Command.make(
  "upload",
  {
    folder: Argument.String("folder").pipe(
      Argument.withMetavar("FOLDER"),
      Argument.withDescription("Its files are put at their paths below it")
    ),
    supplier: Flag.String("supplier").pipe(
      Flag.withMetavar("CODE"),
      Flag.withDescription("The import supplier whose documents they are")
    ),
    prefix: Flag.String("prefix").pipe(
      Flag.withMetavar("FOLDER"),
      Flag.withDescription("Where in the store to put them; its root unless given"),
      Flag.filterMap(
        (text) =>
          Option.some(text.replace(/\/+$/, "")).pipe(
            Option.filter((folder) => folder !== "" && !folder.startsWith("/")),
            Option.map((folder) => `${folder}/`)
          ),
        () => folderForm
      ),
      Flag.withDefault("")
    ),
    verify: Flag.Boolean("verify").pipe(
      Flag.withDescription("Put nothing: compare the files with those of the store"),
      Flag.withDefault(false)
    ),
    parallel: Flag.Int("parallel").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("How many are put at the same time, 1 to 32; 4 unless given"),
      Flag.filter(
        (count) => count >= 1 && count <= 32,
        () => "a whole number from 1 to 32"
      ),
      Flag.withDefault(4)
    )
  },
  Effect.fnUntraced(function* (given) {
    const profile = yield* connection
    yield* uploadFolder(given, profile).pipe(asClientOf(profile, patient))
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Put the files of a folder into the document store, with their checksums, which the store " +
      "verifies. The same command goes on after an interruption. Exits with 0 if every file is in " +
      "the store, and 1 if files have failed, or have other bytes there."
  ),
  Command.withShortDescription("Put the files of a folder into the document store"),
  Command.withExamples([
    {
      command: "data-import documents upload ./documents --supplier ACME_LEGACY",
      description: "Put ./documents/statements/1.pdf at statements/1.pdf"
    },
    {
      command:
        "data-import documents upload ./2024 --supplier ACME_LEGACY --prefix statements/2024",
      description: "Put the files below a folder of the store"
    },
    {
      command: "data-import documents upload ./documents --supplier ACME_LEGACY --verify",
      description: "Compare the files with those of the store, and put none"
    }
  ])
)

export const documents = Command.make("documents").pipe(
  Command.withDescription("Documents that accounts name"),
  Command.withSubcommands([upload])
)
