/**
 * The whole contract as one definition, from which the document is generated. A service serves its
 * own group, from the file of the group.
 */
import { HttpApi } from "effect/http-api"
import { AccountGroup } from "./AccountApi.ts"
import { AccountImportGroup } from "./AccountImportApi.ts"
import { BatchGroup } from "./BatchApi.ts"
import { CertificateGroup } from "./CertificateApi.ts"
import { ControlTotalsGroup } from "./ControlTotalsApi.ts"
import { EventGroup } from "./EventApi.ts"
import { PostImportGroup } from "./PostImportApi.ts"
import { QueryGroup } from "./QueryApi.ts"
import { SystemGroup } from "./SystemApi.ts"
import { TokenGroup } from "./TokenApi.ts"

export const Api = HttpApi.make("data-import").add(
  AccountImportGroup,
  PostImportGroup,
  BatchGroup,
  CertificateGroup,
  ControlTotalsGroup,
  EventGroup,
  QueryGroup,
  AccountGroup,
  SystemGroup,
  TokenGroup
)
