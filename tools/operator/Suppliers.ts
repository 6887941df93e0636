/** Commands about import suppliers: their configuration, and whether they accept accounts. */
import { utc } from "@data-import/domain/suppliers/BusinessDay"
import { modeOf } from "@data-import/domain/suppliers/Organisation"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import {
  defaultRevertWindow,
  changeStatus,
  codeIn,
  type Supplier,
  type SupplierSettings,
  wireCode
} from "@data-import/domain/suppliers/Supplier"
import { Effect, Option, Record, Result } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { list, say } from "@data-import/terminal/Answer"
import { organisationWanted, supplierMeant } from "./Mode.ts"
import {
  asDocumentRoot,
  asLimit,
  asOrganisation,
  asRevertWindow,
  asSupplierCode,
  asSupplierStatus,
  asTimeZone,
  readDocumentRoot
} from "./Parameter.ts"
import { Refused } from "@data-import/terminal/Refused"
import { onStorage } from "./Storage.ts"
import { openImports, summary } from "./Summaries.ts"

const code = Argument.String("code").pipe(
  Argument.withDescription("The code of the import supplier"),
  asSupplierCode
)

const members = [
  "code",
  "organisation",
  "status",
  "documentRoot",
  "documentCheck",
  "customerEmails",
  "concurrencyLimit",
  "timeZone",
  "revertWindow",
  "fourEyes"
]

const entry = (supplier: Supplier) => ({
  code: wireCode(supplier.code),
  organisation: supplier.organisation,
  status: supplier.status,
  documentRoot: supplier.documentRoot,
  documentCheck: supplier.documentCheck,
  customerEmails: supplier.customerEmails,
  concurrencyLimit: supplier.concurrencyLimit,
  timeZone: supplier.timeZone,
  revertWindow: supplier.revertWindow,
  fourEyes: supplier.fourEyes
})

const onOff = (name: string) =>
  Flag.Literals(name, ["on", "off"]).pipe(Flag.map((word) => word === "on"))

/** The settings of a supplier; none has to be given. */
const settings = {
  documentRoot: Flag.String("document-root").pipe(
    Flag.withDescription("Where its documents start in the bucket; the code unless set"),
    asDocumentRoot,
    Flag.optional
  ),
  documentCheck: onOff("document-check").pipe(
    Flag.withDescription("Whether a document that a payload names must exist; on unless set"),
    Flag.optional
  ),
  customerEmails: onOff("customer-emails").pipe(
    Flag.withDescription(
      "Whether each created account has an event for whoever e-mails customers; off unless set"
    ),
    Flag.optional
  ),
  concurrencyLimit: Flag.String("concurrency-limit").pipe(
    Flag.withDescription("How many accounts may be created at once; off unless set"),
    asLimit,
    Flag.optional
  ),
  timeZone: Flag.String("time-zone").pipe(
    Flag.withDescription("The time zone of its business day, an IANA name; UTC unless set"),
    asTimeZone,
    Flag.optional
  ),
  revertWindow: Flag.String("revert-window").pipe(
    Flag.withDescription(
      `For how many days an account can be reverted, 0 for never; ${defaultRevertWindow} unless set`
    ),
    asRevertWindow,
    Flag.optional
  ),
  fourEyes: onOff("four-eyes").pipe(
    Flag.withDescription("Whether a wave is a go only once two managers say so; off unless set"),
    Flag.optional
  )
}

const given = (flags: {
  readonly [Setting in keyof SupplierSettings]: Option.Option<SupplierSettings[Setting]>
}): Partial<SupplierSettings> =>
  Record.getSomes<string, SupplierSettings[keyof SupplierSettings]>(flags)

const defaults = {
  documentCheck: true,
  customerEmails: false,
  concurrencyLimit: null,
  timeZone: utc,
  revertWindow: defaultRevertWindow,
  fourEyes: false
}

const create = Command.make(
  "create",
  {
    code,
    organisation: Flag.String("organisation").pipe(
      Flag.withDescription("The organisation that migrates the supplier's accounts"),
      asOrganisation
    ),
    ...settings
  },
  Effect.fnUntraced(function* ({ code, organisation, ...flags }) {
    const configuration = yield* Configuration
    const owner = yield* organisationWanted(organisation)
    const mode = modeOf(owner)
    const root = Option.orElse(flags.documentRoot, () =>
      readDocumentRoot(mode === "test" ? `${owner.name}/${code}` : code)
    )
    if (Option.isNone(root)) {
      const why = `${code} cannot be the document root itself: give --document-root.`
      return yield* new Refused({ why })
    }
    const configured = { ...defaults, ...given(flags), documentRoot: root.value }
    const supplier: Supplier = {
      ...configured,
      code: codeIn(mode, code),
      organisation: owner.name,
      status: "Ongoing"
    }
    yield* configuration.createSupplier(supplier)
    const what = mode === "test" ? "test supplier" : "supplier"
    yield* say(entry(supplier), `Created the ${what} ${code}, Ongoing.`)
  }, onStorage)
).pipe(
  Command.withDescription("Create an import supplier; it starts Ongoing"),
  Command.withExamples([
    {
      command: "operator supplier create ACME_LEGACY --organisation acme --time-zone Europe/London",
      description: "Create a supplier whose day is that of London"
    }
  ])
)

const set = Command.make(
  "set",
  { code, ...settings },
  Effect.fnUntraced(function* ({ code, ...flags }) {
    const configuration = yield* Configuration
    const changes = given(flags)
    const names = Object.keys(changes)
    if (names.length === 0) {
      return yield* new Refused({ why: "Give at least one setting: supplier set --help." })
    }
    const supplier = yield* configuration.configureSupplier(yield* supplierMeant(code), changes)
    yield* say(entry(supplier), `Set ${names.join(", ")} of the supplier ${code}.`)
  }, onStorage)
).pipe(
  Command.withDescription("Change settings of a supplier; what is not given stays"),
  Command.withExamples([
    {
      command: "operator supplier set ACME_LEGACY --document-check off",
      description: "Accept accounts whose documents are missing"
    }
  ])
)

const onlyReopened = (code: string): string =>
  `${code} is Complete, and leaves that only to become Ongoing: ` +
  `supplier set-status ${code} ongoing --reopen.`

const withOpenImports = (code: string, open: string): string =>
  `${code} has ${open}. supplier set-status ${code} complete --accept-open leaves them as they are.`

const setStatus = Command.make(
  "set-status",
  {
    code,
    status: Argument.String("status").pipe(
      Argument.withDescription("What it is to be: ongoing, paused or complete"),
      asSupplierStatus
    ),
    reopen: Flag.Boolean("reopen").pipe(
      Flag.withDescription("Let a Complete supplier be Ongoing again"),
      Flag.withDefault(false)
    ),
    acceptOpen: Flag.Boolean("accept-open").pipe(
      Flag.withDescription("Let a supplier be Complete although imports of it are open"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ acceptOpen, code, reopen, status }) {
    const configuration = yield* Configuration
    const meant = yield* supplierMeant(code)
    const open = status === "Complete" ? yield* openImports(meant) : null
    const supplier = yield* configuration.changeSupplierStatus(meant, (present) =>
      open !== null && !acceptOpen && present !== status
        ? Result.fail(new Refused({ why: withOpenImports(code, open) }))
        : Result.mapError(
            changeStatus(present, status, reopen),
            () => new Refused({ why: onlyReopened(code) })
          )
    )
    const rest = open === null ? "." : `, with ${open}.`
    yield* say(entry(supplier), `The supplier ${code} is ${supplier.status}${rest}`)
  }, onStorage)
).pipe(
  Command.withDescription("Set a supplier Ongoing, Paused or Complete"),
  Command.withExamples([
    {
      command: "operator supplier set-status ACME_LEGACY paused",
      description: "Refuse every write for now"
    }
  ])
)

const listAll = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const configuration = yield* Configuration
    const suppliers = yield* configuration.suppliers
    yield* list(members, suppliers.map(entry))
  }, onStorage)
).pipe(
  Command.withDescription("List the import suppliers"),
  Command.withExamples([
    { command: "operator supplier list", description: "List the suppliers of all organisations" }
  ])
)

export const supplier = Command.make("supplier").pipe(
  Command.withDescription("Import suppliers"),
  Command.withSubcommands([create, set, setStatus, listAll, summary])
)
