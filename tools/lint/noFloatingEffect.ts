/**
 * A lint rule of our own: an Effect that stands alone as a statement is never run, which is nearly
 * always a forgotten `yield*`. TypeScript accepts it and no published rule finds it.
 */
import { ESLintUtils } from "@typescript-eslint/utils"

const marker = "~effect/Effect"

export const noFloatingEffect = ESLintUtils.RuleCreator.withoutDocs({
  meta: {
    type: "problem",
    docs: { description: "An effect must be yielded, returned or run" },
    messages: { floating: "This effect is never run: yield*, return or run it." },
    schema: []
  },
  defaultOptions: [],
  create: (context) => ({
    ExpressionStatement: (node) => {
      // What was yielded has run, and an Exit, which is an effect as well, may be left alone.
      if (["YieldExpression", "AwaitExpression"].includes(node.expression.type)) return
      const type = ESLintUtils.getParserServices(context).getTypeAtLocation(node.expression)
      if (type.getProperty(marker) !== undefined) context.report({ node, messageId: "floating" })
    }
  })
})
