import { Layer } from "effect"
import { tokenSignerContract } from "@data-import/domain/testing/TokenSignerContract"
import * as TokenSecrets from "../src/auth/TokenSecrets.ts"
import { freshTokens } from "./TokenFolder.ts"

tokenSignerContract("signed with Ed25519", {
  layer: Layer.merge(freshTokens, TokenSecrets.layer),
  stranger: Layer.fresh(freshTokens)
})
