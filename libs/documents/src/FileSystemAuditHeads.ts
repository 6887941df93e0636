/** Exports of the audit log in the folder that is the bucket. */
import { randomUUID } from "node:crypto"
import { link, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Config, Effect, Layer, Option } from "effect"
import { AuditHeadStore } from "@data-import/domain/audit/AuditHeadStore"
import { DocumentsUnavailable } from "@data-import/domain/documents/Documents"
import * as Settings from "@data-import/domain/support/Settings"
import { auditHeads } from "./ReservedKeys.ts"
import { extension, unzip, zip } from "./Zipped.ts"

const has = (cause: unknown, code: string): boolean =>
  cause instanceof Error && "code" in cause && cause.code === code

const attempt = <A>(evaluate: () => Promise<A>) =>
  Effect.tryPromise({ try: evaluate, catch: (cause) => new DocumentsUnavailable({ cause }) })

/** Creates the file atomically. Never replaces an existing one. */
const putNew = async (bucket: string, file: string, bytes: Uint8Array): Promise<boolean> => {
  await stat(bucket)
  await mkdir(join(bucket, auditHeads), { recursive: true })
  const partial = `${file}.${randomUUID()}.part`
  try {
    await writeFile(partial, bytes, { flush: true })
    await link(partial, file)
    return true
  } catch (cause) {
    if (has(cause, "EEXIST")) return false
    throw cause
  } finally {
    await rm(partial, { force: true })
  }
}

const filesOf = async (bucket: string): Promise<ReadonlyArray<string>> => {
  await stat(bucket)
  try {
    const files = await readdir(join(bucket, auditHeads))
    return files.filter((file) => file.endsWith(extension)).toSorted()
  } catch (cause) {
    if (has(cause, "ENOENT")) return []
    throw cause
  }
}

const make = (bucket: string): AuditHeadStore["Service"] => {
  const fileOf = (name: string): string => join(bucket, auditHeads, `${name}${extension}`)
  const files = attempt(() => filesOf(bucket))
  return {
    isKept: (name) => Effect.map(files, (all) => all.includes(`${name}${extension}`)),
    keep: (name, text) =>
      Effect.flatMap(zip(text), (bytes) => attempt(() => putNew(bucket, fileOf(name), bytes))),
    latest: Effect.gen(function* () {
      const name = (yield* files).at(-1)?.slice(0, -extension.length)
      if (name === undefined) return Option.none()
      const text = unzip(yield* attempt(() => readFile(fileOf(name))))
      return Option.some({ name, text })
    })
  }
}

/** The store in this folder, an absolute path. */
export const layerWith = (bucket: string): Layer.Layer<AuditHeadStore> =>
  Layer.succeed(AuditHeadStore, make(bucket))

/** Reads `DOCUMENTS_DIR`. */
export const layerFileSystem: Layer.Layer<AuditHeadStore, Config.ConfigError> = Layer.unwrap(
  Effect.map(Settings.text("DOCUMENTS_DIR").required, layerWith)
)
