/** Every action of managers, in a real Chromium: it is sent once, and says why it was refused. */
import { it } from "vitest"
import { actions, does } from "./boardActions.ts"
import { inChromium } from "./boardInBrowser.ts"
import { offering, refusedTests } from "./refusedInBrowser.ts"

inChromium("every action of the board in Chromium", (board) => {
  it.each(actions)("sends once, and says why it was refused: $confirm at $at", (action) =>
    does(board, action)
  )
  refusedTests(board, offering)
})
