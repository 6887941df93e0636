/** Node's HTTP server, which reads a body and answers a constant: the cost without a framework. */
import { createServer } from "node:http"

const body = JSON.stringify({ import_supplier: "S", external_account_number: "1" })

const server = createServer((request, response) => {
  request.on("data", () => {})
  request.on("end", () => {
    response.writeHead(201, { "content-type": "application/json" }).end(body)
  })
})

process.once("SIGTERM", () => {
  server.close()
  server.closeAllConnections()
})
server.listen(Number(process.env["PORT"]), "127.0.0.1")
