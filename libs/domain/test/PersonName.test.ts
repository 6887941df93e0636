import { expect, it } from "@effect/vitest"
import { isPerson, personName } from "../src/access/PersonName.ts"

it.each([
  ["board:mia", "mia", true],
  ["board:ann: b", "ann: b", true],
  ["operator:ann", "ann (operator)", true],
  ["key-7f3a", "key-7f3a", false]
])("%s is named %s", (who, name, person) => {
  expect([personName(who), isPerson(who)]).toEqual([name, person])
})
