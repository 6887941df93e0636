/** Alerts as e-mails and as messages of chat systems. Source: docs/contract/board.md#messages. */
import { expect, it } from "vitest"
import { bodyFor, mailOf, messageOf } from "../src/alerts/AlertMessages.ts"
import { SupplierCode } from "../src/suppliers/Supplier.ts"

const publicUrl = new URL("https://board.example")
const cohort = "<!channel> [win](https://evil.example) & co"
const told = [
  {
    kind: "wave_finished",
    supplier: SupplierCode.make("A/B"),
    what: cohort,
    reason: "All is done."
  }
] as const

const page =
  "https://board.example/board/migrations/A%2FB/go-no-go/" +
  "?cohort=%3C%21channel%3E+%5Bwin%5D%28https%3A%2F%2Fevil.example%29+%26+co"

it("says without a public URL where to stop alerts, and has no links", () => {
  const { subject, text } = mailOf(messageOf(told, null), "mia@example.com", null)
  expect(subject).toBe(`[Data Import] A/B: ${cohort} is finished`)
  expect(text).not.toContain("/board/")
  expect(text).toContain("the page Alerts of the migration board")
})

it("has no markup of a client in a message to Slack and its like", () => {
  const name = "&lt;!channel&gt; [win](https://evil.example) &amp; co"
  const text = `A/B: ${name} is finished.\nAll is done.\n${page}`
  for (const url of ["https://hooks.slack.com/services/x", "https://notlogic.azure.com.evil/"]) {
    expect(JSON.parse(bodyFor(url, messageOf(told, publicUrl)))).toEqual({ text })
  }
})

it.each([
  "https://default1.02.environment.api.powerplatform.com:443/workflows/x",
  "https://prod-1.westeurope.logic.azure.com/workflows/x",
  "https://example.webhook.office.com/webhookb2/x"
])("is a card of plain text runs for %s", (url) => {
  expect(JSON.parse(bodyFor(url, messageOf(told, publicUrl)))).toMatchObject({
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        content: {
          type: "AdaptiveCard",
          body: [
            {
              type: "RichTextBlock",
              inlines: [
                {
                  type: "TextRun",
                  text: `A/B: ${cohort} is finished`,
                  selectAction: { type: "Action.OpenUrl", url: page }
                }
              ]
            },
            { type: "RichTextBlock", inlines: [{ type: "TextRun", text: "All is done." }] }
          ]
        }
      }
    ]
  })
})
