/** Commands about API keys. A key is printed once, when it is issued, and never again. */
import { formatInstant } from "@data-import/domain/schema/Field"
import { ApiKeyId, type ListedKey, type Scope } from "@data-import/domain/suppliers/Organisation"
import { ApiKeys } from "@data-import/domain/access/ApiKeys"
import { issueKey, revokeKey } from "@data-import/domain/access/ServiceToken"
import { DateTime, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { list, say } from "@data-import/terminal/Answer"
import { organisationMeant, organisationWanted } from "./Mode.ts"
import { asLifetime, asOrganisation, asScopes, asText } from "./Parameter.ts"
import { Refused } from "@data-import/terminal/Refused"
import { onStorage } from "./Storage.ts"

const organisation = Argument.String("organisation").pipe(
  Argument.withDescription("The name of the organisation"),
  asOrganisation
)

/** The default scopes. Reading accounts back is not among them and has to be requested. */
const importScopes = (["import:read", "import:write"] satisfies ReadonlyArray<Scope>).join(",")

const issue = Command.make(
  "issue",
  {
    organisation,
    scopes: Flag.String("scope").pipe(
      Flag.withDescription(
        `What the key may do, separated by commas; ${importScopes} unless given`
      ),
      Flag.withDefault(importScopes),
      asScopes
    ),
    lifetime: Flag.String("expires-in").pipe(
      Flag.withDescription("When the key ends, like 90d, 12h, 30m or 45s; never if not given"),
      asLifetime,
      Flag.optional
    ),
    label: Flag.String("label").pipe(
      Flag.withDescription("What the key is for, to tell it from others"),
      asText(128),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ label, lifetime, organisation, scopes }) {
    const now = yield* DateTime.now
    const { name } = yield* organisationWanted(organisation)
    const { key, secret } = yield* issueKey({
      organisation: name,
      scopes,
      label: Option.getOrElse(label, () => ""),
      expiresAt: Option.match(lifetime, {
        onNone: () => null,
        onSome: (lifetime) => DateTime.addDuration(now, lifetime)
      })
    })
    yield* say(
      { id: key.id, apiKey: secret },
      `Issued the key ${key.id}. It is shown this once:\n${secret}`
    )
  }, onStorage)
).pipe(
  Command.withDescription("Issue an API key"),
  Command.withExamples([
    {
      command: "operator key issue acme --label migration --expires-in 90d",
      description: "Issue a key that ends"
    }
  ])
)

const revoke = Command.make(
  "revoke",
  {
    id: Argument.String("key-id").pipe(
      Argument.withMetavar("ID"),
      Argument.withDescription("The id of the key, as key list prints it")
    )
  },
  Effect.fnUntraced(function* ({ id }) {
    if (id.startsWith("sk_")) return yield* new Refused({ why: "Give the key's id, not the key." })
    const revoked = yield* revokeKey(ApiKeyId.make(id))
    if (!revoked) return yield* new Refused({ why: `There is no key ${id}.` })
    yield* say({ id, revoked }, `Revoked the key ${id}; its tokens end within 60 seconds.`)
  }, onStorage)
).pipe(
  Command.withDescription("Revoke an API key by its id, not by the key itself"),
  Command.withExamples([
    {
      command: "operator key revoke 0198c3e2-7d1e-4c41-9d0a-2f6f6c1f6a10",
      description: "Revoke a key that leaked"
    }
  ])
)

const members = ["id", "label", "scopes", "createdAt", "expiresAt", "revokedAt"]

const entry = ({ createdAt, expiresAt, id, label, revokedAt, scopes }: ListedKey) => ({
  id,
  label,
  scopes,
  createdAt: formatInstant(createdAt),
  expiresAt: expiresAt === null ? null : formatInstant(expiresAt),
  revokedAt: revokedAt === null ? null : formatInstant(revokedAt)
})

const listAll = Command.make(
  "list",
  { organisation },
  Effect.fnUntraced(function* ({ organisation }) {
    const apiKeys = yield* ApiKeys
    const { name } = yield* organisationMeant(organisation)
    const keys = yield* apiKeys.list(name)
    yield* list(members, keys.map(entry))
  }, onStorage)
).pipe(
  Command.withDescription("List the API keys of an organisation, without the keys themselves"),
  Command.withExamples([
    { command: "operator key list acme", description: "List the keys of acme" }
  ])
)

export const key = Command.make("key").pipe(
  Command.withDescription("API keys"),
  Command.withSubcommands([issue, revoke, listAll])
)
