/**
 * Asks the service in this container whether it is ready. Plain JavaScript and a file of its own,
 * because the container runs it beside the service every few seconds.
 */
const answer = await fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`)
process.exitCode = answer.ok ? 0 : 1
