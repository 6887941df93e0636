import { expect, it } from "vitest"
import { deedText } from "../../web/src/text/Comments.ts"

const failed = { what: "FAILED", count: 1_200 } as const

it.each([
  [{ about: "comment", open: null }, ""],
  [{ about: "resume", open: [] }, "resumed it"],
  [
    { about: "sign_off", open: [failed, { what: "NOTHING_STAGED", count: 1 }] },
    "signed it off. Open then: Failed accounts: 1,200; Nothing was staged"
  ],
  [
    { about: "corrections_sent", open: [failed, { what: "LINES_REFUSED", count: 1 }] },
    "sent the corrections of 1,200 accounts, 1 line"
  ]
] as const)("the deed of %j is: %s", (comment, text) => {
  expect(deedText(comment)).toBe(text)
})
