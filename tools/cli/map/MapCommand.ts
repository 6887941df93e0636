/** `data-import map`: makes the map of a CSV book, and shows what it does. */
import { Command } from "effect/cli"
import { preview } from "./Preview.ts"
import { suggest } from "./Suggest.ts"

export const map = Command.make("map").pipe(
  Command.withDescription("Maps of CSV books: propose one, and show what it makes of rows"),
  Command.withSubcommands([suggest, preview])
)
