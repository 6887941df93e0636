/**
 * The whole contract as one definition: what the document is made from. A service serves its own
 * part of it, from the file of that part.
 */
import { HttpApi } from "effect/http-api"
import { AccountImportGroup } from "./AccountImportApi.ts"
import { PostImportGroup } from "./PostImportApi.ts"
import { QueryGroup } from "./QueryApi.ts"
import { SystemGroup } from "./SystemApi.ts"
import { TokenGroup } from "./TokenApi.ts"

export const Api = HttpApi.make("data-import").add(
  AccountImportGroup,
  PostImportGroup,
  QueryGroup,
  SystemGroup,
  TokenGroup
)
