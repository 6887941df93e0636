/** Commands about import suppliers: their configuration, and whether they accept accounts. */
import { OperatorSetup } from "@data-import/domain/ports/OperatorSetup"
import { changeStatus, type Supplier } from "@data-import/domain/Supplier"
import { Effect, Option, Result } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { list, say } from "./Answer.ts"
import {
  asDocumentRoot,
  asLimit,
  asOrganisation,
  asSupplierCode,
  asSupplierStatus,
  readDocumentRoot
} from "./Parameter.ts"
import { Refused } from "./Refused.ts"
import { onStorage } from "./Storage.ts"

const code = Argument.String("code").pipe(asSupplierCode)

const members = [
  "code",
  "organisation",
  "status",
  "documentRoot",
  "documentCheck",
  "customerEmails",
  "concurrencyLimit"
]

const entry = (supplier: Supplier) => ({
  code: supplier.code,
  organisation: supplier.organisation,
  status: supplier.status,
  documentRoot: supplier.documentRoot,
  documentCheck: supplier.documentCheck,
  customerEmails: supplier.customerEmails,
  concurrencyLimit: supplier.concurrencyLimit
})

const onOff = (name: string, fallback: "on" | "off") =>
  Flag.Literals(name, ["on", "off"]).pipe(
    Flag.withDefault(fallback),
    Flag.map((word) => word === "on")
  )

const create = Command.make(
  "create",
  {
    code,
    organisation: Flag.String("organisation").pipe(
      Flag.withDescription("The organisation that migrates the supplier's accounts"),
      asOrganisation
    ),
    documentRoot: Flag.String("document-root").pipe(
      Flag.withDescription("Where its documents start in the bucket; the code if not given"),
      asDocumentRoot,
      Flag.optional
    ),
    documentCheck: onOff("document-check", "on").pipe(
      Flag.withDescription("Whether a document that a payload names must exist; on if not given")
    ),
    customerEmails: onOff("customer-emails", "off").pipe(
      Flag.withDescription("Whether customers get e-mails on migration; off if not given")
    ),
    concurrencyLimit: Flag.String("concurrency-limit").pipe(
      Flag.withDescription("How many accounts may be created at once; off if not given"),
      Flag.withDefault("off"),
      asLimit
    )
  },
  Effect.fnUntraced(function* ({ documentRoot, ...settings }) {
    const setup = yield* OperatorSetup
    const root = Option.orElse(documentRoot, () => readDocumentRoot(settings.code))
    if (Option.isNone(root)) {
      const why = `${settings.code} cannot be the document root itself: give --document-root.`
      return yield* new Refused({ why })
    }
    const supplier: Supplier = { ...settings, documentRoot: root.value, status: "Ongoing" }
    yield* setup.createSupplier(supplier)
    yield* say(entry(supplier), `Created the supplier ${supplier.code}, Ongoing.`)
  }, onStorage)
).pipe(Command.withDescription("Create an import supplier; it starts Ongoing"))

const setStatus = Command.make(
  "set-status",
  {
    code,
    status: Argument.String("status").pipe(
      Argument.withDescription("ongoing, paused or complete"),
      asSupplierStatus
    ),
    reopen: Flag.Boolean("reopen").pipe(
      Flag.withDescription("Let a Complete supplier be Ongoing again"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ code, reopen, status }) {
    const setup = yield* OperatorSetup
    const supplier = yield* setup.changeSupplierStatus(code, (present) =>
      Result.mapError(
        changeStatus(present, status, reopen),
        () =>
          new Refused({
            why:
              `${code} is Complete, and leaves that only to become Ongoing: ` +
              `supplier set-status ${code} ongoing --reopen.`
          })
      )
    )
    yield* say(entry(supplier), `The supplier ${code} is ${supplier.status}.`)
  }, onStorage)
).pipe(Command.withDescription("Set a supplier Ongoing, Paused or Complete"))

const listAll = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const setup = yield* OperatorSetup
    const suppliers = yield* setup.suppliers
    yield* list(members, suppliers.map(entry))
  }, onStorage)
).pipe(Command.withDescription("List the import suppliers"))

export const supplier = Command.make("supplier").pipe(
  Command.withDescription("Import suppliers"),
  Command.withSubcommands([create, setStatus, listAll])
)
