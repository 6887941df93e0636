/** `data-import certify`: computes the certificate of a book offline, and compares it. */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { Cohort } from "@data-import/domain/accounts/AccountValidation"
import { certificateDifferences } from "@data-import/domain/certificates/Certificate"
import { decoderOf } from "@data-import/domain/schema/Decoder"
import { invalid } from "@data-import/domain/schema/LeafDecoder"
import type { WireCode } from "@data-import/domain/suppliers/Supplier"
import { say } from "@data-import/terminal/Answer"
import { Refused } from "@data-import/terminal/Refused"
import { LinesFailed } from "../LinesFailed.ts"
import { type BookFile, bookFile, bookFlags } from "../book/BookFile.ts"
import { readText } from "../book/TextFile.ts"
import { configurationFlag, supplierNamed, threadsFlag } from "../check/Check.ts"
import { progressBar } from "../check/ProgressBar.ts"
import { configurationOf, supplierForm } from "../check/SupplierConfiguration.ts"
import { reasonOf } from "../Reason.ts"
import { readAdded } from "./AddedFiles.ts"
import { type Comparison, jsonOf, textOf } from "./CertifyAnswer.ts"
import { certifyBook, type CertifyResult } from "./CertifyBook.ts"
import { differingAccounts } from "./DifferingAccounts.ts"
import { readCertificate, type SignedCertificate } from "./SignedCertificate.ts"

const readCohort = decoderOf(Cohort)

const fileFlag = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar("FILE"), Flag.withDescription(description))

const flags = {
  ...bookFlags,
  supplier: Flag.String("supplier").pipe(
    Flag.withMetavar("CODE"),
    Flag.withDescription("The import supplier whose accounts are certified"),
    Flag.filterMap(supplierNamed, () => supplierForm)
  ),
  cohort: Flag.String("cohort").pipe(
    Flag.withMetavar("NAME"),
    Flag.withDescription("Only the lines of this cohort"),
    Flag.filterMap(
      (text) => {
        const read = readCohort(text)
        return read === invalid ? Option.none() : Option.some(read as string)
      },
      () => "a name of 1 to 64 characters"
    ),
    Flag.optional
  ),
  wholeBook: Flag.Boolean("whole-book").pipe(
    Flag.withDescription("With --cohort: all lines are of the cohort, whatever they say"),
    Flag.withDefault(false)
  ),
  configuration: configurationFlag,
  added: fileFlag(
    "added",
    "What was sent after the import, as for send --operation; may be repeated"
  ).pipe(Flag.atLeast(0)),
  except: fileFlag(
    "except",
    "Leave out the accounts whose numbers are in the file, one a line"
  ).pipe(Flag.optional),
  against: fileFlag("against", "Verify this certificate (JWS), and compare the book with it").pipe(
    Flag.optional
  ),
  keys: fileFlag("keys", "The published keys (JWKS) with which --against is verified").pipe(
    Flag.optional
  ),
  totals: Flag.Boolean("totals").pipe(
    Flag.withDescription("Print the sums by ledger and by kind of transaction, too"),
    Flag.withDefault(false)
  ),
  threads: threadsFlag
}

const refuse = (why: string) => Effect.fail(new Refused({ why }))

/** The certificate to compare with, verified before the book is read. */
const readAgainst = Effect.fnUntraced(function* (
  against: Option.Option<string>,
  keys: Option.Option<string>
) {
  if (Option.isNone(against)) {
    return Option.isSome(keys) ? yield* refuse("--keys is for --against.") : null
  }
  if (Option.isNone(keys))
    return yield* refuse("--against needs --keys, the published keys (JWKS).")
  return { file: against.value, ...(yield* readCertificate(against.value, keys.value)) }
})

type Against = SignedCertificate & { readonly file: string }

/** A certificate of something else proves nothing about the book. */
const requireSame = (
  { certificate, file }: Against,
  supplier: WireCode,
  cohort: string | null
): Effect.Effect<void, Refused> => {
  const named = (of: string, group: string | null) =>
    group === null ? `all of ${of}` : `the cohort ${group} of ${of}`
  const [certified, asked] = [
    named(certificate.import_supplier, certificate.cohort),
    named(supplier, cohort)
  ]
  return certified === asked
    ? Effect.void
    : refuse(`${file} certifies ${certified}, and the book is to be ${asked}.`)
}

const numbersIn = (file: string): Effect.Effect<ReadonlySet<string>, Refused> =>
  Effect.try({
    try: () =>
      new Set(
        readText(file)
          .split(/\r?\n/)
          .filter((number) => number !== "")
      ),
    catch: (error) => new Refused({ why: `Cannot read ${file}: ${reasonOf(error)}.` })
  })

/** Compares the sums and, if they or the roots differ, the accounts. */
const compare = Effect.fnUntraced(function* (
  against: Against,
  file: BookFile,
  result: CertifyResult
) {
  const { certificate } = against
  const differences = certificateDifferences(result.certificate, certificate)
  const isEqual = result.certificate.root === certificate.root
  const accounts = isEqual ? null : yield* differingAccounts({ file, result, certificate })
  return { ...against, differences, accounts } satisfies Comparison
})

export const certify = Command.make(
  "certify",
  flags,
  Effect.fnUntraced(function* (options) {
    const { added, book, supplier, threads, totals, wholeBook } = options
    const cohort = Option.getOrNull(options.cohort)
    if (wholeBook && cohort === null) return yield* refuse("--whole-book is for --cohort.")
    const against = yield* readAgainst(options.against, options.keys)
    if (against !== null) yield* requireSame(against, supplier, cohort)
    const known = yield* configurationOf({
      configuration: options.configuration,
      supplier: Option.some(supplier)
    })
    const file = yield* bookFile(options)
    const bar = yield* progressBar
    const certified = yield* certifyBook({
      book: yield* file.open,
      settings: { ...known, supplier },
      cohort: wholeBook ? null : cohort,
      added: yield* readAdded(added),
      except: Option.isSome(options.except) ? yield* numbersIn(options.except.value) : new Set(),
      threads,
      onProgress: bar.show
    })
    yield* bar.end
    const result = { ...certified, cohort }
    const comparison = against && (yield* compare(against, file, result))
    const isWithAdditions = added.length > 0
    const answer = { book, result, overlay: file.overlay, isWithAdditions, comparison }
    yield* say(jsonOf(answer), textOf(answer, totals))
    const isIncomplete = result.failed > 0 || result.refusedAdditions.length > 0
    if (isIncomplete || (comparison?.differences ?? []).length > 0) return yield* new LinesFailed()
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Compute offline what a certificate of the book must state: the sums, and one hash of all " +
      "accounts. With --against, verify a certificate and compare; if it differs, and an API key is " +
      "at hand, the service is asked which accounts differ. Exits with 0 if nothing " +
      "differs, 1 if something differs or lines failed, and 2 if nothing could be compared."
  ),
  Command.withExamples([
    {
      command: "data-import certify book.ndjson --supplier ACME_LEGACY --totals",
      description: "Print the hash and all sums of the book"
    },
    {
      command:
        "data-import certify book.ndjson --supplier ACME_LEGACY --against certificate.jws --keys keys.json",
      description: "Prove that the certified accounts are those of the book"
    },
    {
      command:
        "data-import certify book.ndjson --supplier ACME_LEGACY --added notes.ndjson --added payments.ndjson",
      description: "Include what was sent after the import"
    }
  ])
)
